"""Laws that every policy keeps, to be tested on policies of your own."""

from banditree.checks.case import LawBrokenError
from banditree.checks.running import LAWS, check_policy

__all__ = ["LAWS", "LawBrokenError", "check_policy"]
