"""Evaluation: what another policy would have earned, from the log of this one."""

from banditree.evaluation.evaluating import compare, evaluate
from banditree.evaluation.health import ArmHealth, Health
from banditree.evaluation.intervals import bounds_over_time
from banditree.evaluation.learning import learning
from banditree.evaluation.log import Log
from banditree.evaluation.replaying import Replay, replay
from banditree.evaluation.results import Comparison, Difference, Estimate, Evaluation
from banditree.evaluation.targets import always
from banditree.evaluation.writer import LogWriter

__all__ = [
    "ArmHealth",
    "Comparison",
    "Difference",
    "Estimate",
    "Evaluation",
    "Health",
    "Log",
    "LogWriter",
    "Replay",
    "always",
    "bounds_over_time",
    "compare",
    "evaluate",
    "learning",
    "replay",
]
