"""Studies: policies × environments × seeds, run once and kept."""

from banditree.studies.paper import paper_study
from banditree.studies.runner import run_study
from banditree.studies.specs import EnvironmentSpec, PolicySpec, Study
from banditree.studies.store import Store
from banditree.studies.study_files import read_study
from banditree.studies.summary import Results, read_results

__all__ = [
    "EnvironmentSpec",
    "PolicySpec",
    "Results",
    "Store",
    "Study",
    "paper_study",
    "read_results",
    "read_study",
    "run_study",
]
