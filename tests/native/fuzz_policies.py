"""Random calls on all policies and their engines: ``python fuzz_policies.py SECONDS [SEED]``.

As fuzz.py, with whose players and child process it works.
"""

from __future__ import annotations

import copy
import gc
import hashlib
import math
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import banditree as bt
from banditree.policies import background
from banditree.policies.saving import files

sys.path.insert(0, str(Path(__file__).parents[1]))

from native import fuzz
from native.fuzz import FORMS, Draw, PublicPlayer, Record, roundtrip
from native.fuzz_engines import EnginePlayer, Kept, StrictPlayer, size

# ---- the policies ----

GOOD_ARMS = ["golf", "tennis", 7, "Łódź"]


class PolicyPlayer(StrictPlayer, PublicPlayer):
    def __init__(self, *args: Any, folder: Path, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.path = folder / f"{threading.get_ident()}.bt"

    def parameters(self, name: str, binary: bool) -> dict[str, Any]:
        draw = self.draw
        growth = super().settings() | {"folds": size(draw, draw.one_of((2, 3, 10)))}
        categorical = {"categorical": growth.pop("categorical", ())}
        prior = {"prior": draw.mostly(draw.one_of(((1.0, 1.0), (0.5, 3), (1e-6, 1e9))))}
        patience = {"patience": size(draw, 1 + draw.below(9))}
        cold = {"cold_start": draw.mostly(draw.one_of(("prior", "until_success")))} | patience
        window = {"window": draw.mostly(draw.one_of((None, 1, 5, 40)))}
        refresh = {"refresh": draw.mostly(draw.one_of((0.0, 0.05, 1.0)))}
        refresh["background"] = draw.mostly(draw.chance(0.5))
        ucb = {"alpha": draw.mostly(draw.one_of((0, 0.1, 1.0)))}
        ucb["regularization"] = draw.mostly(draw.one_of(("cv", "cv", 1.0, 1e-9)))
        delta, learner = (
            draw.mostly(0.05),
            DecisionTreeClassifier if binary else DecisionTreeRegressor,
        )
        tree = {"depth": size(draw, 1 + draw.below(3)), "trees": size(draw, 1 + draw.below(7))}
        own = {
            "Bandit": refresh | window,
            "ThompsonSampling": prior | window,
            "Greedy": growth | prior | refresh | window,
            "TreeHeuristic": growth | prior | refresh | window,
            "TreeBootstrap": growth
            | cold
            | window
            | {"pruning": draw.mostly(draw.one_of(("cv", "cv", "cv_every_fit", None)))}
            | {"weights": draw.mostly(draw.one_of(("multinomial", "exponential")))},
            "OnlineTreeBootstrap": growth
            | prior
            | refresh
            | window
            | {"replicas": size(draw, 1 + draw.below(9))},
            "BanditForest": tree
            | {"delta": delta, "epsilon": draw.mostly((0.4, 0.8)), "radius": draw.mostly(0.25)},
            "LinUCB": ucb,
            "LogisticUCB": ucb | {"delta": delta, "horizon": size(draw, 100)},
            "Bootstrap": cold | {"learner": draw.mostly(learner(max_depth=2))},
        }.get(name, {})
        return (
            {key: v for key, v in own.items() if key == "learner" or draw.chance(0.5)}
            | categorical
            | {"floor": draw.mostly(draw.one_of((0.0, 0.0, 0.02, 1)))}
        )

    def policy(self) -> None:
        draw, binary = self.draw, self.draw.chance(0.6)
        names = ("Uniform", "ThompsonSampling", "Greedy", "TreeHeuristic", "TreeBootstrap")
        names += ("Bandit", "OnlineTreeBootstrap", "BanditForest", "LinUCB", "LogisticUCB")
        name = "Bootstrap" if draw.chance(0.05) else draw.one_of(names)
        settings = self.parameters(name, binary) | {"seed": draw.mostly(draw.below(99))}
        settings["reward"] = draw.mostly("binary" if binary else "continuous", 0.02)
        arms = draw.mostly(GOOD_ARMS[: 1 + draw.below(4)])
        made = self.call(name, getattr(bt, name), arms=arms, **settings)
        if made is not None:
            self.keep("policy", Kept(made, draw.one_of(FORMS)))

    def on_policy(self, kept: Kept, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call; what raised must have changed nothing, and the policy must still decide."""
        policy, results = kept.thing, []
        changes = method.startswith(("learn", "add", "remove"))
        before = policy._pack() if changes and self.alone and self.draw.chance(0.1) else None
        name = f"{type(policy).__name__}.{method}"

        def run(*args: Any, **kwargs: Any) -> None:
            results.append(getattr(policy, method)(*args, **kwargs))

        self.call(name, run, *args, **kwargs)
        if results:
            return results[0]
        if before is not None:
            self.check(name, policy._pack() == before, f"{name} raised and changed the policy")
        self.still_decides(kept, name)
        return None

    def still_decides(self, kept: Kept, after: str) -> None:
        policy = kept.thing
        with policy._lock:  # or another thread may settle the form in between
            named = policy._encoder.state()["named"]
            context = {} if named is not False else [None] * policy._encoder.n_features
            try:
                arm = policy.decide(context)
                self.check(after, arm in policy.arms, f"{arm!r} after {after}")
            except Exception as error:
                self.record.bug(after, f"no decision for {context} after {after}", error)

    def arm(self, kept: Kept) -> Any:
        return self.draw.mostly(self.draw.one_of(kept.thing.arms))

    def eligible(self, kept: Kept) -> Any:
        draw, arms = self.draw, list(kept.thing.arms)
        draw.random.shuffle(arms)
        return draw.mostly(draw.one_of((None, arms[: 1 + draw.below(3)])), 0.03)

    def plays(self) -> None:
        kept = self.pick("policy")
        if kept is None or self.draw.chance(0.02):
            self.policy()
            return
        turns = (self.learns, self.learns, self.decides, self.asks)
        rare = (self.changes_arms, self.stores, self.loads_damaged, self.shows)
        self.draw.one_of((*turns * 3, *rare))(kept)

    def learns(self, kept: Kept) -> None:
        draw, policy = self.draw, kept.thing
        n = 550 if isinstance(policy, bt.BanditForest) and draw.chance(0.1) else draw.rows()
        binary = draw.chance(0.98 if policy.reward == "binary" else 0.3)
        rewards = draw.numpy.integers(0, 2, n).astype(float) if binary else draw.rewards(n)
        if n and draw.chance(0.6):
            context, reward = draw.mostly(self.context(kept.contexts)), draw.mostly(rewards[0])
            self.on_policy(kept, "learn", context, self.arm(kept), reward)
        else:
            arms = draw.mostly([draw.one_of(policy.arms) for _ in range(n)])
            contexts = self.contexts(kept.contexts, n)
            self.on_policy(kept, "learn_many", contexts, arms, draw.mostly(rewards))
        if draw.chance(0.02) and kept in self.pool["policy"]:
            self.pool["policy"].remove(kept)

    def decides(self, kept: Kept) -> None:
        arms, draw = self.eligible(kept), self.draw
        if draw.chance(0.6):
            context = draw.mostly(self.context(kept.contexts))
            chosen = [self.on_policy(kept, "decide", context, arms)]
        else:
            contexts = self.contexts(kept.contexts, draw.below(4))
            chosen = self.on_policy(kept, "decide_many", contexts, arms) or []
        known = {*kept.thing._arms.names, None}
        self.check("decide", set(chosen) <= known, f"{chosen} are not among {known}")

    def asks(self, kept: Kept) -> None:
        draw = self.draw
        name = draw.one_of(("propensities", "expected_rewards", "explain"))
        resamples = name == "propensities" and isinstance(
            kept.thing, bt.TreeBootstrap | bt.Bootstrap
        )
        more = {"draws": size(draw, 1 + draw.below(9))} if resamples else {}
        context = draw.mostly(self.context(kept.contexts))
        answer = self.on_policy(kept, name, context, self.eligible(kept), **more)
        if isinstance(answer, dict):
            numbers = np.array(list(answer.values()))
            fine = np.isfinite(numbers).all()
            if name == "propensities":
                fine = fine and (numbers >= 0).all() and abs(numbers.sum() - 1) < 1e-6
            self.check(
                f"{type(kept.thing).__name__}.{name}",
                bool(fine),
                f"{name}: {fuzz.described(answer)}",
            )
        elif answer is not None:
            self.call("Explanation.__str__", lambda: (str(answer), repr(answer)))

    def changes_arms(self, kept: Kept) -> None:
        if self.draw.chance(0.5):
            arm = self.draw.mostly(self.draw.one_of([*GOOD_ARMS, "hockey"]))
            self.on_policy(kept, "add_arm", arm)
        else:
            self.on_policy(kept, "remove_arm", self.arm(kept))

    def shows(self, kept: Kept) -> None:
        self.on_policy(kept, "__repr__")
        if hasattr(kept.thing, "tree"):
            more = isinstance(kept.thing, bt.OnlineTreeBootstrap) and self.draw.chance(0.5)
            replica = (self.draw.mostly(self.draw.below(9)),) if more else ()
            tree = self.on_policy(kept, "tree", self.arm(kept), *replica)
            if tree is not None:
                self.call("Tree.to_text", lambda: (tree.to_text(), tree.to_dict(), repr(tree)))

    def saved(self, policy: Any) -> Any:
        policy.save(self.path)
        return bt.load(self.path)

    def stores(self, kept: Kept) -> None:
        draw = self.draw
        how = draw.one_of((copy.copy, copy.deepcopy, roundtrip, self.saved))
        name = f"{type(kept.thing).__name__}:{how.__name__}"
        made = self.call(name, how, kept.thing)
        self.check(name, made is not None, "a policy could not be copied")
        if made is not None and self.alone:
            self.check(name, made._pack() == kept.thing._pack(), "a copy differs")
        if made is not None:
            self.keep("policy", Kept(made, kept.contexts))

    def loads_damaged(self, kept: Kept) -> None:
        """A state that is wrong though its checksum is right is refused, or harms nobody else."""
        name, data = f"{type(kept.thing).__name__}:damaged", kept.thing._pack()
        self.path.write_bytes(Damage(self.draw).of(data))
        made = self.call(name, bt.load, self.path)
        if made is not None:
            context, arm = self.context(kept.contexts), made.arms[0] if made.arms else "golf"
            for act in ("decide", "learn", "explain", "propensities", "_pack"):
                arguments = {"learn": (context, arm, 1), "_pack": ()}.get(act, (context,))
                self.call(f"forged.{act}", getattr(made, act), *arguments)

    def turns(self) -> list[Callable[[], None]]:
        return [self.policy, *[self.plays] * 15]


class Damage:
    """Changes a saved policy, and puts the checksum right again."""

    VALUES = (
        None,
        True,
        -1,
        0,
        1,
        3,
        1.5,
        math.nan,
        2**31,
        2**64,
        10**30,
        "x",
        "",
        [],
        {},
        [1, [2]],
    )

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    def of(self, data: bytes) -> bytes:
        start = len(files.MAGIC) + hashlib.sha256().digest_size
        if self.draw.chance(0.1):
            body = bytearray(data[start:])
            body[self.draw.below(len(body))] ^= 1 << self.draw.below(8)
            return files.MAGIC + hashlib.sha256(body).digest() + body
        header, arrays = files.unpack(data, "fuzz")
        if self.draw.chance(0.5) or not arrays:
            self.change(header)
        else:
            name = self.draw.one_of(sorted(arrays))
            self.change_array(arrays, name)
        return files.pack(header, arrays)

    def change(self, node: Any) -> None:
        draw = self.draw
        key = (
            draw.one_of(sorted(node, key=str)) if isinstance(node, dict) else draw.below(len(node))
        )
        if isinstance(node[key], dict | list) and node[key] and draw.chance(0.8):
            self.change(node[key])
        elif draw.chance(0.2):
            del node[key]
        else:
            node[key] = draw.one_of(self.VALUES)

    def change_array(self, arrays: dict[str, Any], name: str) -> None:
        draw, array = self.draw, arrays[name]
        if draw.chance(0.1):
            del arrays[name]
        elif draw.chance(0.2):
            arrays[name] = arrays[draw.one_of(sorted(arrays))]
        elif draw.chance(0.5) and array.size:
            array = arrays[name] = array.copy()
            lowest = -2 if array.dtype.kind == "i" else 0
            value = draw.number() if array.dtype.kind == "f" else lowest + draw.below(9)
            array.flat[draw.below(array.size)] = value
        else:
            bent = draw.bent(array)
            if isinstance(bent, np.ndarray) and bent.dtype.kind in "fiub":
                arrays[name] = np.asarray(bent)


# ---- the run ----


def take(turn: Callable[[], None], record: Record) -> None:
    """Take a turn; what it raises outside of its calls is a bug too, also in a thread."""
    try:
        turn()
    except Exception as error:
        record.bug("turn", f"outside of the calls of {turn.__name__}", error)


def play_in_threads(player: PolicyPlayer, record: Record, folder: Path) -> None:
    """Policies are shared between threads."""

    def run(seed: int) -> None:
        sharing = PolicyPlayer(Draw(seed), record, player.pool, alone=False, folder=folder)
        for _ in range(10):
            take(sharing.plays, record)

    threads = [threading.Thread(target=run, args=(player.draw.below(2**32),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def child(seconds: float, seed: int, log: Path) -> int:
    background._FROM = 5  # so that trees of a few observations grow in the background
    record, draw = fuzz.started(log), Draw(seed)
    with tempfile.TemporaryDirectory() as folder:
        engines = EnginePlayer(draw, record, {}, alone=True)
        policies = PolicyPlayer(draw, record, {}, alone=True, folder=Path(folder))
        turns = [*engines.turns(), *policies.turns()]
        for number in fuzz.rounds(seconds):
            for _ in range(20):
                take(draw.one_of(turns), record)
            if number % 10 == 9:
                play_in_threads(policies, record, Path(folder))
            if number % 50 == 0:
                gc.collect()
    return fuzz.report(record)


if __name__ == "__main__":
    sys.exit(fuzz.main(sys.argv[1:], child, __file__))
