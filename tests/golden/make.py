"""Saved policies of today's format, with what they decide: `python tests/golden/make.py`.

Files of older formats stay as they were written; `test_golden.py` reads them all.
"""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from sklearn.naive_bayes import GaussianNB

import banditree as bt
from banditree.policies.saving import files

FOLDER = Path(__file__).parent
ARMS = ["golf", "tennis", 3]
CITIES = ["Berlin", "Rome", "Oslo", None]

POLICIES: dict[str, Callable[[], bt.Policy[Any]]] = {
    "tree_heuristic": lambda: bt.TreeHeuristic(ARMS, seed=1),
    "tree_heuristic_window": lambda: bt.TreeHeuristic(ARMS, window=25, seed=2),
    "tree_heuristic_live": lambda: bt.TreeHeuristic(ARMS, refresh=0, floor=0.1, seed=3),
    "tree_heuristic_exact": lambda: bt.TreeHeuristic(
        ARMS, reward="continuous", max_bins=None, seed=4
    ),
    "greedy": lambda: bt.Greedy(ARMS, seed=5),
    "tree_bootstrap": lambda: bt.TreeBootstrap(ARMS, seed=6),
    "tree_bootstrap_continuous": lambda: bt.TreeBootstrap(ARMS, reward="continuous", seed=7),
    "tree_bootstrap_window": lambda: bt.TreeBootstrap(ARMS, window=25, seed=16),
    "online_tree_bootstrap_window": lambda: bt.OnlineTreeBootstrap(
        ARMS, replicas=5, window=25, refresh=0.3, seed=17
    ),
    "lin_ucb_window": lambda: bt.LinUCB(ARMS, window=25, seed=18),
    "logistic_ucb_window": lambda: bt.LogisticUCB(ARMS, window=25, seed=19),
    "online_tree_bootstrap": lambda: bt.OnlineTreeBootstrap(ARMS, replicas=5, seed=8),
    "bootstrap": lambda: bt.Bootstrap(ARMS, GaussianNB(), seed=9),
    "thompson_sampling": lambda: bt.ThompsonSampling(ARMS, seed=10),
    "thompson_sampling_window": lambda: bt.ThompsonSampling(ARMS, window=20, seed=11),
    "bandit_forest": lambda: bt.BanditForest(ARMS, seed=12),
    "lin_ucb": lambda: bt.LinUCB(ARMS, seed=13),
    "logistic_ucb": lambda: bt.LogisticUCB(ARMS, seed=14),
    "uniform": lambda: bt.Uniform(ARMS, seed=15),
}


def context(random: Random) -> dict[str, Any]:
    """Return a made-up context with a number, a category, a whole number and missing values."""
    given: dict[str, Any] = {
        "age": round(random.uniform(18, 80), 2) if random.random() < 0.9 else None,
        "city": random.choice(CITIES),
        "visits": random.randrange(12),
    }
    if random.random() < 0.3:
        given["member"] = random.random() < 0.5
    return given


def reward(policy: bt.Policy[Any], given: dict[str, Any], arm: str | int, random: Random) -> float:
    """Return what came of an arm: "golf" is for the old, "tennis" for Rome."""
    liked = {"golf": (given["age"] or 30) > 50, "tennis": given["city"] == "Rome"}.get(arm, False)
    if policy.reward == "continuous":
        return round(2 * liked + random.gauss(0, 1), 2)
    return float(random.random() < (0.8 if liked else 0.25))


def teach(policy: bt.Policy[Any], n: int, random: Random) -> None:
    """Let a policy learn of all its arms by turns."""
    for i in range(n):
        given, arm = context(random), policy.arms[i % len(policy.arms)]
        policy.learn(given, arm, reward(policy, given, arm, random))


def taught(make: Callable[[], bt.Policy[Any]]) -> bt.Policy[Any]:
    """Return a policy that has lived: an arm came, another one left."""
    policy, random = make(), Random(7)
    teach(policy, 75, random)
    policy.add_arm("hockey")
    teach(policy, 45, random)
    policy.remove_arm(3)
    teach(policy, 20, random)
    policy.decide(context(random))
    return policy


def readings(policy: bt.Policy[Any]) -> dict[str, Any]:
    """Return what a policy says of a few contexts, then draws, then says having learned more."""
    random = Random(8)
    contexts = [context(random) for _ in range(4)]
    given = {
        "arms": list(policy.arms),
        "counts": list(policy.counts.values()),
        "propensities": policy.propensities_many(contexts).tolist(),
        "expected": policy.expected_rewards_many(contexts).tolist(),
        "decisions": policy.decide_many(contexts * 10),
    }
    teach(policy, 30, random)
    given["later"] = policy.propensities_many(contexts).tolist()
    return given


def main() -> None:
    """Write all files."""
    folder = FOLDER / f"format-{files.FORMAT}"
    folder.mkdir(exist_ok=True)
    given = {}
    for name, make in POLICIES.items():
        policy = taught(make)
        policy.save(folder / f"{name}.bt")
        given[name] = readings(policy)
    (folder / "readings.json").write_text(json.dumps(given, indent=1) + "\n")


if __name__ == "__main__":
    main()
