"""Policies: each decides which arm to offer in a context, and learns from the reward."""

from banditree.policies.base import Policy, load
from banditree.policies.explanation import ArmExplanation, Explanation
from banditree.policies.thompson_sampling import ThompsonSampling
from banditree.policies.uniform import Uniform

__all__ = [
    "ArmExplanation",
    "Explanation",
    "Policy",
    "ThompsonSampling",
    "Uniform",
    "load",
]
