"""What is common to the policies that count rewards and ignore contexts."""

from banditree.policies.base import Arrays, Policy
from banditree.policies.beliefs import RecodeRows
from banditree.policies.explanation import ArmExplanation
from banditree.policies.tally import Tally
from banditree.types import A, FloatArray


class TallyPolicy(Policy[A]):
    """A policy that knows of each arm how often it was rewarded, and how."""

    _tally: Tally

    def _add_arm(self) -> None:
        self._tally.add_arm()

    def _learn(self, arm: int, row: FloatArray, reward: float) -> None:
        self._tally.add(arm, reward)

    def _explain(self, row: FloatArray, arm: int) -> ArmExplanation:
        return self._tally.explain(arm, self.reward)

    def _state(self) -> Arrays:
        return self._tally.state()

    def _restore(self, arrays: Arrays) -> None:
        self._tally.restore(arrays)

    def _relearn(self, arrays: Arrays, recode: RecodeRows) -> None:
        self._restore(arrays)  # contexts do not matter
