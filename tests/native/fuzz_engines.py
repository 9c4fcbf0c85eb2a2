"""Random calls on the engines of policies, for fuzz_policies.py."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from banditree import BanditreeError, _core
from native import fuzz
from native.fuzz import SIZES, Draw, Player, roundtrip

CORE_ERRORS = (*fuzz.CORE_ERRORS, IndexError, MemoryError)
HERE = Path(__file__).parent
# In place of small numbers. Anything between would be granted, and fill memory or time.
NO_SIZE = (0, -1, 1.5, True, None, "3", math.nan, 2**32, 2**63, 2**64, [3])


def size(draw: Draw, good: Any, wrong: float = 0.02) -> Any:
    return draw.one_of(NO_SIZE) if draw.chance(wrong) else good


@dataclass
class Kept:
    """An engine or a policy, and what its contexts look like: the kinds or the form."""

    thing: Any
    contexts: Any


class StrictPlayer(Player):
    """What the core may raise; policies only their own errors, or that a call has no such form."""

    def may_raise(self, name: str, error: Exception) -> bool:
        if name.startswith("_core."):
            return isinstance(error, CORE_ERRORS) and not isinstance(error, RecursionError)
        if name.startswith("forged."):
            return True
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        is_of_call = trace is None or Path(trace.tb_frame.f_code.co_filename).parent == HERE
        return isinstance(error, BanditreeError) or (isinstance(error, TypeError) and is_of_call)


def told(kept: Kept, arms: Any, eligible: Any) -> str:
    """What is needed to find out why an engine chose arms that it was not offered."""
    engine = kept.thing
    seen = {
        name: getattr(engine, name, None) for name in ("n_arms", "spread") if hasattr(engine, name)
    }
    rows: Any = None
    if isinstance(engine, _core.Ensemble):
        rows = engine.rows()
    elif hasattr(engine, "rows"):
        rows = [engine.rows(arm) for arm in range(engine.n_arms)]
    return f"{arms} of {eligible}; kinds {kept.contexts}; {seen}; rows {rows}"


# ---- the engines ----


class EnginePlayer(StrictPlayer):
    def engine(self) -> None:
        draw = self.draw
        growth = {key: draw.mostly(value, 0.01) for key, value in draw.growth().items()}
        growth["folds"] = draw.one_of((2, 3, 10, 2**31 - 1)) if draw.chance(0.1) else 3
        growth["folds"] = size(draw, growth["folds"])
        growth["binary"] = draw.chance(0.5)
        prior = {
            key: draw.mostly(draw.one_of((1.0, 0.5, 3.0))) for key in ("successes", "failures")
        }
        seed = draw.mostly(draw.random.getrandbits(64), 0.01)
        name, settings = draw.one_of(
            (
                (
                    "TreeHeuristic",
                    growth
                    | prior
                    | {"refresh": draw.mostly(draw.one_of((0.0, 0.05, 1.0)))}
                    | {"window": draw.mostly(draw.one_of((None, 1, 5, 40)))}
                    | {"beside": draw.mostly(draw.one_of((None, 1, 20)))},
                ),
                (
                    "TreeBootstrap",
                    growth
                    | {"exponential": draw.chance(0.5), "prior": draw.chance(0.5)}
                    | {"pruning": draw.mostly(draw.one_of(("cv", "cv", "cv_every_fit", None)))}
                    | {"patience": size(draw, 1 + draw.below(9))}
                    | {"window": draw.mostly(draw.one_of((None, 1, 5, 40)))},
                ),
                (
                    "OnlineTreeBootstrap",
                    growth
                    | prior
                    | {"refresh": draw.mostly(draw.one_of((0.0, 0.05, 1.0)))}
                    | {"window": draw.mostly(draw.one_of((None, 1, 5, 40)))}
                    | {"beside": draw.mostly(draw.one_of((None, 1, 20)))}
                    | {"replicas": size(draw, 1 + draw.below(9)), "seed": seed},
                ),
                (
                    "BanditForest",
                    {
                        "n_trees": size(draw, 1 + draw.below(4)),
                        "depth": size(draw, 1 + draw.below(3)),
                    }
                    | {"delta": draw.mostly(draw.one_of((0.05, 0.9, 0.999)))}
                    | {"epsilon_low": draw.mostly(0.4), "epsilon_high": draw.mostly(0.8)}
                    | {"radius": draw.mostly(draw.one_of((0.25, 1.0))), "seed": seed},
                ),
                (
                    "Ensemble",
                    {"binary": draw.chance(0.5), "most_rows": size(draw, 1 + draw.below(300))}
                    | {"refresh": draw.mostly(draw.one_of((0.15, 0.5, 1.0)))}
                    | {"window": draw.mostly(draw.one_of((None, 1, 5, 40))), "seed": seed}
                    | {"beside": draw.mostly(draw.one_of((None, 1, 20)))},
                ),
            )
        )
        engine = self.call(f"_core.{name}", getattr(_core, name), **settings)
        if engine is None:
            return
        for _ in range(draw.below(4)):
            engine.add_arm()
        self.keep("engine", Kept(engine, np.zeros(0, np.uint8)))
        self.changes(Kept(engine, np.zeros(0, np.uint8)))

    def on_engine(self, kept: Kept, method: str, *args: Any) -> Any:
        name = f"_core.{type(kept.thing).__name__}.{method}"
        function = getattr(kept.thing, method, None)
        return None if function is None else self.call(name, function, *args)

    def plays(self) -> None:
        kept = self.pick("engine")
        if kept is None or self.draw.chance(0.01):
            self.engine()
            return
        turns = (self.learns, self.learns, self.learns, self.decides, self.decides, self.asks)
        self.draw.one_of((*turns, *turns, self.shows, self.restores, self.changes))(kept)

    def changes(self, kept: Kept) -> None:
        draw = self.draw
        if draw.chance(0.1):
            self.on_engine(kept, "add_arm")
        if draw.chance(0.3):
            self.on_engine(kept, "set_active", self.arm(kept), draw.mostly(draw.chance(0.5)))
        more = draw.numpy.integers(0, 2, draw.below(3)).astype(np.uint8)
        kinds = np.concatenate([kept.contexts, more])[: 6 if draw.chance(0.9) else -1]
        if len(kinds) and draw.chance(0.1):
            kinds[draw.below(len(kinds))] ^= 1
        before, given = self.record.succeeded, draw.mostly(kinds)
        self.on_engine(kept, "set_categorical", given)
        if self.record.succeeded > before:
            kept.contexts = np.frombuffer(memoryview(given), np.uint8)
            for other in self.pool["engine"]:
                if other.thing is kept.thing:
                    other.contexts = kept.contexts

    def arm(self, kept: Kept) -> Any:
        return self.draw.mostly(self.draw.below(kept.thing.n_arms or 1))

    def arms(self, kept: Kept, n: int) -> Any:
        n_arms = max(kept.thing.n_arms, 1) + self.draw.chance(0.01)
        return self.draw.mostly(self.draw.numpy.integers(0, n_arms, n), 0.02)

    def eligible(self, kept: Kept) -> Any:
        arms = np.arange(kept.thing.n_arms)
        self.draw.numpy.shuffle(arms)
        return self.draw.mostly(arms[: 1 + self.draw.below(4)].copy(), 0.02)

    def context(self, kept: Kept) -> Any:
        return self.draw.mostly(self.draw.matrix(1, kept.contexts)[0])

    def learns(self, kept: Kept) -> None:
        draw = self.draw
        n = 600 if draw.chance(0.03) else draw.rows()
        forest = isinstance(kept.thing, _core.BanditForest)
        binary = draw.chance(0.95 if forest else 0.5)
        rewards = draw.numpy.integers(0, 2, n).astype(float) if binary else draw.rewards(n)
        if n and draw.chance(0.5):
            reward = draw.mostly(float(rewards[0]))
            self.on_engine(kept, "learn", self.arm(kept), self.context(kept), reward)
        else:
            contexts = draw.mostly(draw.matrix(n, kept.contexts))
            arms = self.arms(kept, n)
            self.on_engine(kept, "learn_many", arms, contexts, draw.mostly(rewards))
        if draw.chance(0.05):
            counts = draw.mostly(draw.numpy.integers(0, 50, kept.thing.n_arms), 0.1)
            self.on_engine(kept, "keep_last", counts)
        if draw.chance(0.05):
            self.pool["engine"].remove(kept)  # those that live long are slow

    def decides(self, kept: Kept) -> None:
        draw, eligible = self.draw, self.eligible(kept)
        random = draw.mostly(_core.Generator(draw.below(9)), 0.01)
        what = draw.one_of(("decide", "decide_many", "decide_greedily"))
        given = self.context(kept)
        if what == "decide_many":
            given = draw.mostly(draw.matrix(draw.below(4), kept.contexts))
        arms = self.on_engine(kept, what, given, eligible, random)
        if arms is not None:
            fine = set(np.atleast_1d(arms).tolist()) <= set(eligible.tolist())
            self.check(
                f"_core.{type(kept.thing).__name__}.{what}", fine, told(kept, arms, eligible)
            )

    def asks(self, kept: Kept) -> None:
        draw, context, arm = self.draw, self.context(kept), self.arm(kept)
        random, n = _core.Generator(3), draw.mostly(draw.one_of((0, 1, 5)), 0.02)
        n = draw.one_of(SIZES) if isinstance(n, int) and n > 3000 else n
        name, arguments = draw.one_of(
            (
                ("evidence", (context, self.eligible(kept))),
                ("predictions", (arm, context)),
                ("draws", (arm, context, n, random)),
                ("predict", (arm, context)),
                ("propensities", (context, self.eligible(kept))),
                ("expected_rewards", (context,)),
                ("explain", (context, arm)),
                ("members", (arm, draw.mostly(draw.below(100)))),
                ("expectations", (context, self.eligible(kept))),
                ("attribution", (context, arm)),
            )
        )
        self.on_engine(kept, name, *arguments)

    def shows(self, kept: Kept) -> None:
        draw, arm = self.draw, self.arm(kept)
        names = ("tree", "alpha", "edges", "standing", "is_cold", "n_rows", "n_learned", "rows")
        name = draw.one_of(names)
        online = name == "tree" and isinstance(kept.thing, _core.OnlineTreeBootstrap)
        self.on_engine(kept, name, *((arm, draw.mostly(0, 0.2)) if online else (arm,)))
        full, spread = f"_core.{type(kept.thing).__name__}.spread", (10.0, 0.5, 2.0, -1.0, 1.0)
        self.call(full, lambda: (getattr(kept.thing, "spread", 0), getattr(kept.thing, "bytes", 0)))
        if draw.chance(0.05) and hasattr(kept.thing, "spread"):
            self.call(full, setattr, kept.thing, "spread", draw.mostly(spread, 0.3))

    def restores(self, kept: Kept) -> None:
        draw = self.draw
        if isinstance(kept.thing, _core.BanditForest):
            state = self.on_engine(kept, "dump")
            kinds = kept.contexts
            for _ in range(draw.below(3)):
                state = draw.poked(state)
            before = self.record.succeeded
            self.on_engine(kept, "restore", draw.mostly(state, 0.1))
            if self.record.succeeded > before and len(kinds):
                self.on_engine(kept, "set_categorical", kinds)
        elif isinstance(kept.thing, _core.Ensemble):
            self.loads(kept)
            self.freezes(kept)
        elif hasattr(kept.thing, "load") and draw.chance(0.5):
            self.loads(kept)
        else:
            n, arm = draw.below(20), self.arm(kept)
            standing = (*(draw.mostly(v, 0.05) for v in (draw.below(9), False)), 0.5)
            bootstrap = isinstance(kept.thing, _core.TreeBootstrap)
            known = standing if bootstrap else n + draw.below(2)
            contexts = draw.mostly(draw.matrix(n, kept.contexts))
            rewards = draw.mostly(draw.rewards(n))
            self.on_engine(kept, "restore", arm, contexts, rewards, draw.mostly(known))
        if draw.chance(0.3):
            self.on_engine(kept, draw.one_of(("tend", "wait")))
        if draw.chance(0.1):
            name = f"_core.{type(kept.thing).__name__}"
            self.call(name, draw.one_of((copy.copy, copy.deepcopy, roundtrip)), kept.thing)

    def loads(self, kept: Kept) -> None:
        """Loads a dump, of which some bytes may be others."""
        state = self.on_engine(kept, "dump")
        for _ in range(self.draw.below(3)):
            state[self.draw.below(len(state))] ^= 1 << self.draw.below(8)
        self.on_engine(kept, "load", self.draw.mostly(state, 0.1))

    def freezes(self, kept: Kept) -> None:
        """Asks what decides as the ensemble does, restored from bytes that may be damaged."""
        frozen = self.on_engine(kept, "freeze")
        state = frozen.dump()
        for _ in range(self.draw.below(3)):
            state[self.draw.below(len(state))] ^= 1 << self.draw.below(8)
        name = "_core.EnsembleBeliefs.restore"
        restored = self.call(name, _core.EnsembleBeliefs.restore, self.draw.mostly(state, 0.1))
        for thing in (frozen, restored):
            if thing is not None and thing.n_arms > 0:
                believer = Kept(thing, kept.contexts)
                self.decides(believer)
                self.asks(believer)

    def functions(self) -> None:
        draw = self.draw
        n = 1 + draw.below(5)
        shapes = [draw.mostly(draw.numpy.exponential(size=n) * 10 ** draw.below(4)) for _ in "abc"]
        act = draw.below(4)
        if act == 0:
            wins = self.call(
                "_core.beta_win_probabilities", _core.beta_win_probabilities, *shapes[:2]
            )
        elif act == 1:
            arguments = shapes[0], draw.mostly(draw.numpy.normal(size=n) ** 2), 2 + draw.weights(n)
            function = _core.student_win_probabilities
            wins = self.call("_core.student_win_probabilities", function, *arguments)
        elif act == 2:
            values = [draw.mostly(draw.rewards(1 + draw.below(9)), 0.02) for _ in range(n)]
            wins = self.call("_core.win_shares", _core.win_shares, draw.mostly(values, 0.02))
        else:
            n_rows = draw.one_of(SIZES)
            self.call("_core.folds_of", _core.folds_of, n_rows, size(draw, 3, 0.1))
            return
        fine = wins is None or (abs(wins.sum() - 1) < 1e-9 and (wins >= 0).all())
        self.check("_core.win", fine, f"{wins} is no distribution")

    def codes(self) -> None:
        draw, n = self.draw, self.draw.below(5)
        ids = {float(draw.one_of(range(9))): float(i) for i in range(4)}
        ids[draw.one_of((math.nan, 1.5, "a", None, 2**70, -0.0))] = draw.mostly(0.0)
        features = [(draw.mostly(i, 0.02), ids) for i in range(n) if draw.chance(0.5)]
        made = self.call("_core.CategoryCodes", _core.CategoryCodes, size(draw, n), features)
        if made is not None:
            for _ in range(4):
                row = draw.mostly(draw.matrix(1, np.full(n, draw.below(2)))[0], 0.05)
                self.call("_core.CategoryCodes.encode", made.encode, row)

    def turns(self) -> list[Callable[[], None]]:
        return [self.engine, *[self.plays] * 12, self.functions, self.functions, self.codes]
