"""Random calls on all that banditree and its core export: ``python fuzz.py SECONDS [SEED]``.

The calls are made in a child process, so that a crash is reported with the seed and the last calls.
The exit status is 1 if the child crashed, hung or met an error that users must never see.
"""

from __future__ import annotations

import copy
import faulthandler
import gc
import math
import mmap
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import banditree
from banditree import BanditreeError, BanditreeWarning, _core

NUMBERS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 1e-9, 127.0, 128.0, -128.0, 255.0, 256.0, 65536.0),
    *(1e15, 2.0**53, 2.0**63, 1e30, -1e30, 1.1e30, 1e-30, 9e-31, 5e-324, -5e-324, 2.3e-308),
    *(1.7e308, -1.7e308, math.inf, -math.inf, math.nan),
)
INTEGERS = (0, 1, 2, 3, 5, 10, -1, 255, 2**24, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64)
# Sizes between a few thousand and 2**61 would be granted, and fill the memory.
SIZES = (0, 1, 2, 3, 7, 100, 3000, -1, 2**61, 2**63 - 1, 2**63, 2**64)
DTYPES = ("f4", "f2", ">f8", "g", "i8", "i4", "u1", "i1", "?", "c16", "O", "U8", "S4", "M8[s]")
STRUCTURED = np.dtype([("a", "f8"), ("b", "i4")])


class Subclass(np.ndarray):
    pass


class Unfriendly:
    """An object that raises wherever it can."""

    def __float__(self) -> float:
        raise ZeroDivisionError("no float")

    def __index__(self) -> int:
        raise KeyError("no index")

    def __len__(self) -> int:
        raise IndexError("no length")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise AttributeError("no array")


class Draw:
    """Makes arguments: good ones, slightly wrong ones, and junk."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(self.random.getrandbits(64))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, things: Any) -> Any:
        return things[self.random.randrange(len(things))]

    def below(self, n: int) -> int:
        return self.random.randrange(n)

    def number(self) -> float:
        return self.one_of(NUMBERS) if self.chance(0.5) else self.random.gauss(0, 10)

    def junk(self) -> Any:
        return self.one_of(JUNK)(self)

    def mostly(self, thing: Any, wrong: float = 0.04) -> Any:
        """The thing itself, or now and then something like it or something else."""
        if not self.chance(wrong):
            return self.read_only(thing) if self.chance(0.1) else thing
        if isinstance(thing, np.ndarray) and self.chance(0.8):
            return self.bent(thing)
        if isinstance(thing, int | float) and self.chance(0.7):
            return self.one_of(INTEGERS) if self.chance(0.5) else self.number()
        return self.junk()

    def read_only(self, thing: Any) -> Any:
        if isinstance(thing, np.ndarray):
            thing.flags.writeable = False
        return thing

    def bent(self, array: np.ndarray) -> Any:
        with np.errstate(all="ignore"):
            return self.one_of(BENDS)(self, array)

    def retyped(self, array: np.ndarray) -> Any:
        if self.chance(0.1):
            return np.zeros(array.shape, STRUCTURED)
        try:
            return array.astype(self.one_of(DTYPES))
        except (TypeError, ValueError, OverflowError):
            return array.astype(object)

    def poked(self, array: np.ndarray) -> np.ndarray:
        """A copy with one cell set to an odd number."""
        array = array.copy()
        if array.size and array.dtype == np.float64:
            array.flat[self.below(array.size)] = self.number()
        return array

    def resized(self, array: np.ndarray) -> np.ndarray:
        return np.resize(array, [max(0, n + self.below(5) - 2) for n in array.shape])

    def misaligned(self, array: np.ndarray) -> np.ndarray:
        room = np.zeros(array.nbytes + 1, np.uint8)
        moved = room[1:].view(array.dtype).reshape(array.shape)
        moved[...] = array
        return moved

    def column(self, n: int, category: bool) -> np.ndarray:
        if category:
            ids = 70000 if self.chance(0.01) else 6
            values = self.numpy.integers(0, ids, n).astype(float)
        elif self.chance(0.6):
            values = self.numpy.integers(-4, 5, n).astype(float)
        else:
            values = self.numpy.normal(size=n) * self.one_of((1, 1e-3, 1e200))
        values[self.numpy.random(n) < self.one_of((0, 0, 0.2, 0.9))] = math.nan
        return values

    def matrix(self, n: int, kinds: np.ndarray) -> np.ndarray:
        columns = [self.column(n, bool(kind)) for kind in kinds]
        return np.array(columns).reshape(len(kinds), n).T.copy()

    def kinds(self) -> np.ndarray:
        return self.numpy.integers(0, 2, self.below(5)).astype(np.uint8)

    def rewards(self, n: int) -> np.ndarray:
        style = self.below(4)
        if style == 0:
            return self.numpy.integers(0, 2, n).astype(float)
        if style == 1:
            return self.numpy.integers(3, 9, n) / 4
        scale = self.one_of((1, 1, 1e29, 1e-300))
        return np.clip(self.numpy.normal(size=n), -9, 9) * scale

    def weights(self, n: int) -> np.ndarray:
        if self.chance(0.5):
            return self.numpy.integers(0, 4, n).astype(float)
        return self.numpy.exponential(size=n) * self.one_of((1, 1, 1e28, 1e-9)) + 1e-20

    def rows(self) -> int:
        return self.below(300) if self.chance(0.05) else self.below(40)

    def growth(self) -> dict[str, Any]:
        return {
            "min_split": 2 + self.below(4),
            "min_leaf": 1 + self.below(3),
            "max_depth": self.one_of((None, None, 0, 3, 10)),
            "max_bins": self.one_of((None, None, 2, 5, 255)),
        }

    def alpha(self) -> float:
        return self.one_of((0, 0.0, 0.1, 1.0, 1e300, math.inf, self.random.expovariate(1)))


JUNK: tuple[Callable[[Draw], Any], ...] = (
    lambda draw: None,
    lambda draw: draw.number(),
    lambda draw: draw.one_of(INTEGERS),
    lambda draw: draw.one_of(("", "x", "1.5", "nan", "\ud800", "\0", "ä" * 300)),
    lambda draw: draw.one_of((b"", b"12345678", bytearray(16), memoryview(b"12345678"))),
    lambda draw: draw.one_of((True, False, 1j, ..., NotImplemented, int, object())),
    lambda draw: draw.one_of(([], (), {}, set(), [[]], [[], [1]], [[1, 2], [3]], [None], [[[1]]])),
    lambda draw: [draw.number() for _ in range(draw.below(5))],
    lambda draw: [[draw.number(), draw.one_of((None, "a", True))] for _ in range(draw.below(4))],
    lambda draw: {"x": draw.number(), draw.one_of((0, "y", None, 1.5)): draw.one_of((1, "a", []))},
    lambda draw: (draw.number() for _ in range(3)),
    lambda draw: draw.one_of((10**400, -(10**400), 10**5000)),
    lambda draw: Unfriendly(),
    lambda draw: np.float32(draw.one_of((0, 1, math.nan))),
    lambda draw: np.array(draw.number()),
    lambda draw: np.zeros((2, 3, 4)),
    lambda draw: np.empty((0, draw.below(3))),
    lambda draw: np.array([draw.number(), "a", None, {}], dtype=object),
    lambda draw: draw.bent(draw.matrix(draw.below(9), draw.kinds())),
    lambda draw: draw.numpy.normal(size=draw.below(6)),
)
BENDS: tuple[Callable[[Draw, np.ndarray], Any], ...] = (
    Draw.retyped,
    Draw.poked,
    Draw.poked,
    Draw.poked,
    Draw.resized,
    Draw.misaligned,
    lambda draw, array: array[::-1],
    lambda draw, array: array[::2],
    lambda draw, array: array[..., ::-1],
    lambda draw, array: array.T,
    lambda draw, array: np.asfortranarray(array),
    lambda draw, array: np.repeat(array, 2, axis=-1)[..., ::2],
    lambda draw, array: np.broadcast_to(array[:1], array.shape) if array.ndim else array,
    lambda draw, array: array.view(Subclass),
    lambda draw, array: np.ma.masked_invalid(array) if array.dtype.kind == "f" else array,
    lambda draw, array: array[None],
    lambda draw, array: array.ravel(),
    lambda draw, array: array[:0],
    lambda draw, array: array[..., :0],
    lambda draw, array: array.tolist(),
    lambda draw, array: memoryview(array),
)


def described(argument: Any) -> str:
    if isinstance(argument, np.ndarray):
        text = f"{argument.dtype}{argument.shape}/{argument.strides}"
        if argument.size <= 8:
            text += f"={argument.tolist()!r}"
    else:
        try:
            text = repr(argument)
        except Exception as error:  # a repr may fail, and 10**5000 has none
            text = f"<{type(argument).__name__}: {type(error).__name__}>"
    return text if len(text) <= 90 else text[:87] + "..."


class LastCalls:
    """The last calls, in a file that outlives the process."""

    SLOTS, WIDTH = 20, 600

    def __init__(self, path: Path) -> None:
        path.write_bytes(b"\n" * self.SLOTS * self.WIDTH)
        with path.open("r+b") as file:
            self.room = mmap.mmap(file.fileno(), 0)
        self.number = 0

    def write(self, text: str) -> None:
        self.number += 1
        line = f"{self.number:9d} {text}".encode(errors="replace")[: self.WIDTH - 1]
        begin = self.number % self.SLOTS * self.WIDTH
        self.room[begin : begin + self.WIDTH] = line.ljust(self.WIDTH - 1) + b"\n"

    @staticmethod
    def read(path: Path) -> str:
        lines = path.read_text(errors="replace").splitlines()
        return "\n".join(sorted(line.rstrip() for line in lines if line.strip()))


@dataclass
class Record:
    """What came of the calls."""

    last: LastCalls
    calls: int = 0
    succeeded: int = 0
    longest: float = 0.0
    longest_call: str = ""
    bugs: dict[tuple[str, ...], str] = field(default_factory=dict)
    methods: set[str] = field(default_factory=set)

    def bug(self, name: str, text: str, error: BaseException) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        key = (name, type(error).__name__, str(frames[-1].lineno))
        if key not in self.bugs:
            self.bugs[key] = f"{text}\n{''.join(traceback.format_exception(error))}"


CORE_ERRORS = (TypeError, ValueError, RuntimeError, OverflowError)
PUBLIC_ERRORS = (BanditreeError, TypeError)


class Player:
    """Makes calls. What the calls return is kept, and called in its turn."""

    KEPT = 10

    def __init__(self, draw: Draw, record: Record, pool: dict[str, list[Any]], alone: bool) -> None:
        self.draw = draw
        self.record = record
        self.pool = pool
        self.alone = alone

    def call(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call, and return the result; None if an error was raised that may be."""
        shown = [*map(described, args), *(f"{k}={described(v)}" for k, v in kwargs.items())]
        text = f"{name}({', '.join(shown)})"
        record = self.record
        record.last.write(text)
        record.calls += 1
        record.methods.add(name)
        begin = time.perf_counter()
        try:
            result = function(*args, **kwargs)
            record.succeeded += 1
            return result
        except Exception as error:
            if not self.may_raise(name, error) and not from_unfriendly(error):
                record.bug(name, text, error)
        finally:
            elapsed = time.perf_counter() - begin
            if elapsed > record.longest:
                record.longest, record.longest_call = elapsed, text
        return None

    def may_raise(self, name: str, error: Exception) -> bool:
        allowed = CORE_ERRORS if name.startswith("_core.") else PUBLIC_ERRORS
        return isinstance(error, allowed) and not isinstance(error, RecursionError)

    def keep(self, kind: str, thing: Any) -> None:
        if thing is None:
            return
        things = self.pool.setdefault(kind, [])
        if len(things) < self.KEPT:
            things.append(thing)
        else:
            things[self.draw.below(self.KEPT)] = thing

    def pick(self, kind: str) -> Any:
        things = self.pool.get(kind)
        return self.draw.one_of(things) if things else None

    def check(self, name: str, fine: bool, text: str) -> None:
        if not fine:
            try:
                raise AssertionError(text)
            except AssertionError as error:
                self.record.bug(name, text, error)

    def copies(self, kind: str, thing: Any, name: str) -> None:
        """Pickle and copy; what cannot be pickled must say so with a TypeError."""
        how = self.draw.one_of((copy.copy, copy.deepcopy, roundtrip))
        made = self.call(f"{name}:{how.__name__}", how, thing)
        if how is not copy.copy:
            self.keep(kind, made)


def from_unfriendly(error: BaseException) -> bool:
    """Whether the caller's own object raised the error."""
    frames = traceback.extract_tb(error.__traceback__)
    return Path(frames[-1].filename).name == Path(__file__).name and frames[-1].name.startswith("_")


def roundtrip(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


# ---- the core ----


class CorePlayer(Player):
    def generator(self) -> None:
        draw = self.draw
        seed = draw.mostly(draw.random.getrandbits(64))
        self.keep("generator", self.call("_core.Generator", _core.Generator, seed))

    def generator_draws(self) -> None:
        draw, generator = self.draw, self.pick("generator")
        size = draw.mostly(draw.one_of(SIZES[:7]), 0.1)
        size = draw.one_of(SIZES) if isinstance(size, int) and size > 3000 else size
        shape, other = (draw.mostly(draw.one_of((1e-5, 0.5, 1.0, 700.0)), 0.1) for _ in range(2))
        name, arguments = draw.one_of(
            (
                ("uniform", (size,)),
                ("integers", (draw.mostly(draw.one_of((1, 2, 2**40)), 0.1), size)),
                ("exponential", (size,)),
                ("normal", (size,)),
                ("gamma", (shape, size)),
                ("beta", (shape, other, size)),
                ("multinomial_weights", (size,)),
                ("exponential_weights", (size,)),
            )
        )
        self.call(f"_core.Generator.{name}", getattr(generator, name), *arguments)

    def generator_state(self) -> None:
        draw, generator = self.draw, self.pick("generator")
        state = tuple(draw.mostly(draw.random.getrandbits(64), 0.02) for _ in range(4))
        state = draw.mostly(state)
        act = draw.below(5)
        if act == 0:
            self.call("_core.Generator.state", setattr, generator, "state", state)
        elif act == 1:
            stream = draw.mostly(draw.random.getrandbits(64))
            self.keep("generator", self.call("_core.Generator.child", generator.child, stream))
        elif act == 2:
            self.call("_core.Generator.__setstate__", generator.__setstate__, state)
        elif act == 3:
            self.call("_core.Generator.state", lambda: (generator.state, generator.__getstate__()))
        else:
            self.copies("generator", generator, "_core.Generator")

    def tree(self) -> None:
        draw = self.draw
        n, kinds = draw.rows(), draw.kinds()
        contexts = draw.mostly(draw.matrix(n, kinds))
        weights = draw.mostly(draw.weights(n) if draw.chance(0.5) else None)
        rewards = draw.mostly(draw.rewards(n))
        growth = {key: draw.mostly(value, 0.01) for key, value in draw.growth().items()}
        edges = draw.mostly(self.edges(len(kinds)) if draw.chance(0.2) else None)
        kinds = draw.mostly(kinds)
        fit = _core.Tree.fit
        args = (contexts, kinds, rewards, weights)
        self.keep("tree", self.call("_core.Tree.fit", fit, *args, **growth, edges=edges))

    def edges(self, n_features: int) -> list[list[float]]:
        draw = self.draw
        return [sorted({draw.number() for _ in range(draw.below(4))}) for _ in range(n_features)]

    def context(self, n_features: int) -> Any:
        draw = self.draw
        n = min(n_features, 100)  # a restored tree may claim any number
        values = [draw.number() if draw.chance(0.2) else draw.below(6) for _ in range(n)]
        return draw.mostly(np.array(values, dtype=float))

    def contexts(self, n_features: int) -> Any:
        kinds = np.full(min(n_features, 100), self.draw.below(2))
        return self.draw.mostly(self.draw.matrix(self.draw.rows(), kinds))

    def predicts(self) -> None:
        kind = self.draw.one_of(("tree", "incremental"))
        tree = self.pick(kind)
        if tree is None:
            return
        name = f"_core.{type(tree).__name__}"
        if self.draw.chance(0.5):
            context = self.context(tree.n_features)
            self.call(f"{name}.predict_one", tree.predict_one, context)
        else:
            contexts = self.contexts(tree.n_features)
            means = self.call(f"{name}.predict", tree.predict, contexts)
            fine = means is None or means.shape == contexts.shape[:1]
            self.check(name, fine, "as many predictions as contexts")

    def tree_prunes(self) -> None:
        tree, draw = self.pick("tree"), self.draw
        if tree is None:
            return
        if draw.chance(0.5):
            pruned = self.call("_core.Tree.prune", tree.prune, draw.mostly(draw.alpha()))
            if draw.chance(0.3):
                self.keep("tree", pruned)
        else:
            self.call("_core.Tree.pruning_path", tree.pruning_path)

    def tree_cross_validates(self) -> None:
        tree, draw = self.pick("tree"), self.draw
        if tree is None:
            return
        n_folds = 2 + draw.below(4)
        folds = np.arange(tree.n_rows) % n_folds
        draw.numpy.shuffle(folds)
        if draw.chance(0.05) and len(folds):
            folds[draw.below(len(folds))] = draw.one_of((-1, 5, 2**32, -(2**63), 2**63 - 1))
        folds, n_folds = draw.mostly(folds), draw.mostly(n_folds)
        self.call("_core.Tree.cross_validate", tree.cross_validate, folds, n_folds)

    def tree_predicts_lazily(self) -> None:
        tree, draw = self.pick("tree"), self.draw
        if tree is None:
            return
        weights = draw.mostly(draw.weights(tree.n_rows))
        alpha, context = draw.mostly(draw.alpha()), self.context(tree.n_features)
        self.call("_core.Tree.lazy_predict_one", tree.lazy_predict_one, weights, alpha, context)

    def tree_is_restored(self) -> None:
        tree, draw = self.pick("tree"), self.draw
        if tree is None:
            return
        nodes, sides, n_features = tree.nodes(), tree.sides(), tree.n_features
        for _ in range(self.draw.below(3)):
            nodes = draw.poked(nodes)
        if sides and draw.chance(0.2):
            sides[draw.below(len(sides))] = draw.one_of((([], []), ([2**40], [0]), ([-5], [-1]), 3))
        arguments = draw.mostly(nodes), draw.mostly(sides), draw.mostly(n_features)
        self.keep("tree", self.call("_core.Tree.restore", _core.Tree.restore, *arguments))

    def incremental(self) -> None:
        growth = {key: self.draw.mostly(value, 0.01) for key, value in self.draw.growth().items()}
        tree = self.call("_core.IncrementalTree", _core.IncrementalTree, **growth)
        if tree is not None:
            kinds = self.draw.mostly(self.draw.kinds())
            self.call("_core.IncrementalTree.set_categorical", tree.set_categorical, kinds)
        self.keep("incremental", tree)

    def incremental_changes_kinds(self) -> None:
        tree, draw = self.pick("incremental"), self.draw
        if tree is None:
            return
        kinds = draw.numpy.integers(0, 2, max(0, tree.n_features + draw.below(4) - 1))
        kinds = draw.mostly(kinds.astype(np.uint8))
        self.call("_core.IncrementalTree.set_categorical", tree.set_categorical, kinds)

    def incremental_learns(self) -> None:
        tree, draw = self.pick("incremental"), self.draw
        if tree is None or tree.n_rows > 1500:
            self.incremental()
            return
        n = 1 if draw.chance(0.7) else draw.rows()
        kinds = np.ones(tree.n_features) if draw.chance(0.8) else np.zeros(tree.n_features)
        contexts, rewards, weights = draw.matrix(n, kinds), draw.rewards(n), draw.weights(n)
        before, name = tree.n_rows, "_core.IncrementalTree.learn"
        if n == 1:
            weight = draw.mostly(float(weights[0]))
            reward = draw.mostly(float(rewards[0]))
            succeeded = self.record.succeeded
            self.call(name, tree.learn, draw.mostly(contexts[0]), reward, weight)
        else:
            name += "_many"
            arguments = draw.mostly(contexts), draw.mostly(rewards), draw.mostly(weights)
            succeeded = self.record.succeeded
            self.call(name, tree.learn_many, *arguments)
        if self.alone and self.record.succeeded == succeeded:
            self.check(name, tree.n_rows == before, "a call that raised has learned rows")

    def incremental_shows(self) -> None:
        tree, draw = self.pick("incremental"), self.draw
        if tree is None:
            return
        act = draw.one_of(("as_tree", "edges", "rows"))
        result = self.call(f"_core.IncrementalTree.{act}", getattr(tree, act))
        if act == "as_tree":
            self.keep("tree", result)

    def anything(self) -> None:
        """Any attribute of any object; called, if it can be, with junk or nothing."""
        draw, kind = self.draw, self.draw.one_of(("tree", "incremental", "generator"))
        thing = self.pick(kind)
        if thing is None:
            return
        names = [name for name in dir(thing) if not name.startswith("__")]
        names += ["__init__", "__repr__", "__hash__", "__eq__", "__sizeof__", "__getstate__"]
        name = draw.one_of(names)
        full = f"_core.{type(thing).__name__}.{name}"
        value = self.call(full, getattr, thing, name)
        if callable(value):
            arguments = [draw.junk() for _ in range(draw.below(4) if draw.chance(0.3) else 0)]
            if not any(type(a) is int and 3000 < a < 2**61 for a in arguments):
                self.call(full, value, *arguments)

    def uninitialised(self) -> None:
        cls = self.draw.one_of((_core.Tree, _core.IncrementalTree, _core.Generator))
        empty = self.call(f"_core.{cls.__name__}.__new__", cls.__new__, cls)
        name = self.draw.one_of([name for name in dir(cls) if not name.startswith("__")])
        self.call(f"_core.{cls.__name__}.{name}:uninitialised", getattr, empty, name)

    def copied(self) -> None:
        kind = self.draw.one_of(("tree", "incremental", "generator"))
        thing = self.pick(kind)
        if thing is not None:
            self.copies(kind, thing, f"_core.{type(thing).__name__}")

    def turns(self) -> list[Callable[[], None]]:
        common = [self.predicts, self.incremental_learns, self.tree, self.tree_prunes]
        return [
            *common,
            *common,
            self.incremental_learns,
            self.incremental_learns,
            self.generator,
            self.generator_draws,
            self.generator_draws,
            self.generator_state,
            self.tree_cross_validates,
            self.tree_predicts_lazily,
            self.tree_is_restored,
            self.incremental,
            self.incremental_changes_kinds,
            self.incremental_shows,
            self.anything,
            self.uninitialised,
            self.copied,
        ]


# ---- the public classes ----

COLUMNS = ("age", "city", "is_new", "score", "id")
FORMS = ("dict", "list", "array")


class PublicPlayer(Player):
    def settings(self) -> dict[str, Any]:
        draw = self.draw
        settings = {k: draw.mostly(v, 0.01) for k, v in draw.growth().items() if draw.chance(0.5)}
        if draw.chance(0.2):
            settings["categorical"] = draw.mostly(["id", 0])
        return settings

    def value(self, column: int) -> Any:
        draw = self.draw
        if draw.chance(0.1):
            return draw.one_of((None, math.nan))
        if draw.chance(0.003):
            return draw.junk()
        return (
            lambda: draw.below(80),
            lambda: draw.one_of(("Rome", "Oslo", "Bern", "Łódź", "")),
            lambda: draw.chance(0.5),
            lambda: draw.random.gauss(0, 3),
            lambda: draw.below(5),
        )[column]()

    def context(self, form: str) -> Any:
        draw = self.draw
        if form == "array":
            return np.array([float(draw.below(9)), draw.random.gauss(0, 1), draw.below(2)])
        values = [self.value(column) for column in range(5)]
        if form == "list":
            return values
        context = dict(zip(COLUMNS, values, strict=True))
        if draw.chance(0.1):
            context.pop(draw.one_of(COLUMNS))
        if draw.chance(0.02):
            context[draw.one_of(("new", "newer"))] = draw.one_of((1, 2.5, "a", None))
        return context

    def contexts(self, form: str, n: int) -> Any:
        if form == "array":
            return self.draw.mostly(self.draw.matrix(n, np.zeros(3)))
        return self.draw.mostly([self.draw.mostly(self.context(form), 0.002) for _ in range(n)])

    def form_of(self, tree: Any) -> str:
        """How the tree's contexts came so far."""
        names = list(tree.features if hasattr(tree, "features") else tree.bin_edges)
        if "age" in names or not names:
            return "dict" if names else self.draw.one_of(FORMS)
        return "array" if len(names) == 3 and names[1:2] == [1] else "list"

    def tree(self) -> None:
        self.keep("tree", self.call("Tree", banditree.Tree, **self.settings()))

    def tree_fits(self) -> None:
        draw, tree = self.draw, self.pick("tree")
        if tree is None:
            self.tree()
            return
        n = draw.rows()
        arguments = {"contexts": self.contexts(draw.one_of(FORMS), n)}
        arguments["y"] = draw.mostly(draw.rewards(n))
        if draw.chance(0.4):
            arguments["weights"] = draw.mostly(draw.weights(n))
        if draw.chance(0.05):
            arguments["bin_edges"] = draw.mostly({draw.one_of(("age", 0)): [1.5, 2.5]}, 0.2)
        self.call("Tree.fit", tree.fit, **arguments)

    def predicts(self) -> None:
        draw = self.draw
        tree = self.pick(draw.one_of(("tree", "incremental")))
        if tree is None:
            return
        form = draw.one_of(FORMS) if draw.chance(0.05) else self.form_of(tree)
        what = draw.mostly(self.context(form)) if draw.chance(0.5) else self.contexts(form, 5)
        self.call(f"{type(tree).__name__}.predict", tree.predict, what)

    def tree_prunes(self) -> None:
        tree, draw = self.pick("tree"), self.draw
        if tree is None:
            return
        act = draw.below(3)
        if act == 0:
            self.keep("tree", self.call("Tree.prune", tree.prune, draw.mostly(draw.alpha())))
        elif act == 1:
            self.call("Tree.pruning_path", tree.pruning_path)
        else:
            folds = draw.mostly(2 + draw.below(5))
            seed = draw.mostly(draw.below(9), 0.02)
            self.call("Tree.cross_validate", tree.cross_validate, folds, seed=seed)

    def tree_shows(self) -> None:
        tree, draw = self.pick("tree"), self.draw
        if tree is None:
            return
        name = draw.one_of(("n_leaves", "depth", "features", "to_dict", "to_text", "__repr__"))
        value = self.call(f"Tree.{name}", getattr, tree, name)
        if callable(value):
            self.call(f"Tree.{name}", value)
        if draw.chance(0.2):
            depth = draw.mostly(draw.one_of((None, 0, 3)), 0.1)
            self.call("Tree.to_svg", tree.to_svg, max_depth=depth)

    def incremental(self) -> None:
        tree = self.call("IncrementalTree", banditree.IncrementalTree, **self.settings())
        self.keep("incremental", tree)

    def incremental_learns(self) -> None:
        draw, tree = self.draw, self.pick("incremental")
        if tree is None or len(tree) > 1500:
            self.incremental()
            return
        before, succeeded, name = len(tree), self.record.succeeded, "IncrementalTree.learn"
        form = self.form_of(tree)
        if draw.chance(0.7):
            reward, weight = (float(make(1)[0]) for make in (draw.rewards, draw.weights))
            context = draw.mostly(self.context(form))
            self.call(name, tree.learn, context, draw.mostly(reward), draw.mostly(weight))
        else:
            name, n = f"{name}_many", draw.rows()
            contexts, y = self.contexts(form, n), draw.mostly(draw.rewards(n))
            weights = draw.mostly(draw.weights(n) if draw.chance(0.3) else None)
            self.call(name, tree.learn_many, contexts, y, weights)
        if self.record.succeeded == succeeded and self.alone:
            self.check(name, len(tree) == before, "a call that raised has learned rows")

    def incremental_shows(self) -> None:
        tree, draw = self.pick("incremental"), self.draw
        if tree is None:
            return
        act = draw.below(3)
        if act == 0:
            self.keep("tree", self.call("IncrementalTree.as_tree", tree.as_tree))
        elif act == 1:
            self.call("IncrementalTree.bin_edges", lambda: tree.bin_edges)
        else:
            self.call("IncrementalTree.__repr__", lambda: (repr(tree), len(tree)))

    def copied(self) -> None:
        kind = self.draw.one_of(("tree", "incremental"))
        thing = self.pick(kind)
        if thing is not None:
            self.copies(kind, thing, type(thing).__name__)

    def turns(self) -> list[Callable[[], None]]:
        return [
            self.tree,
            self.tree_fits,
            self.tree_fits,
            self.predicts,
            self.predicts,
            self.tree_prunes,
            self.tree_shows,
            self.incremental,
            self.incremental_learns,
            self.incremental_learns,
            self.incremental_learns,
            self.incremental_learns,
            self.incremental_shows,
            self.copied,
        ]


# ---- the run ----


def play(core: CorePlayer, public: PublicPlayer, n_turns: int) -> None:
    turns = core.turns() + public.turns()
    for _ in range(n_turns):
        core.draw.one_of(turns)()


def play_in_threads(core: CorePlayer, record: Record) -> None:
    """Objects of the core are shared between threads, public ones are not."""

    def run(seed: int) -> None:
        draw = Draw(seed)
        sharing = CorePlayer(draw, record, core.pool, alone=False)
        play(sharing, PublicPlayer(draw, record, {}, alone=False), 15)

    threads = [threading.Thread(target=run, args=(core.draw.below(2**32),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def rounds(seconds: float) -> Iterator[int]:
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        yield number
        number += 1


def limit_memory() -> None:
    """Let a call that never stops taking memory fail, rather than the machine."""
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))


def started(log: Path) -> Record:
    """Make the process strict, and begin to record."""
    faulthandler.enable()
    limit_memory()
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message="nanobind: attempted to")
    # Names that nobody learned from are part of the game.
    warnings.simplefilter("ignore", BanditreeWarning)
    sys.setswitchinterval(1e-4)
    return Record(LastCalls(log))


def child(seconds: float, seed: int, log: Path) -> int:
    record = started(log)
    draw = Draw(seed)
    core = CorePlayer(draw, record, {}, alone=True)
    public = PublicPlayer(draw, record, {}, alone=True)
    core.generator()
    for number in rounds(seconds):
        core.alone = public.alone = number % 20 != 19
        if core.alone:
            play(core, public, 20)
        else:
            play_in_threads(core, record)
        if number % 50 == 0:
            gc.collect()
    return report(record)


def report(record: Record) -> int:
    for text in record.bugs.values():
        print(f"BUG: {text}")
    print(f"longest call: {record.longest:.2f} s, {record.longest_call}")
    print(f"methods called: {len(record.methods)}")
    print(f"calls: {record.calls}")
    print(f"succeeded: {record.succeeded}")
    return 1 if record.bugs else 0


def parent(seconds: float, seed: int, script: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "calls"
        command = [sys.executable, *sys.orig_argv[1 : sys.orig_argv.index(sys.argv[0])], script]
        process = subprocess.Popen([*command, str(seconds), str(seed), str(log)])
        try:
            status = process.wait(seconds + 60)
        except subprocess.TimeoutExpired:
            print("the process hangs")
            process.send_signal(signal.SIGABRT)
            status = process.wait()
        print(f"seed: {seed}")
        if status not in (0, 1):
            print(f"exit status {status}; the last calls were\n{LastCalls.read(log)}")
        return status and 1


Child = Callable[[float, int, Path], int]  # seconds, seed, where to write the last calls


def main(arguments: list[str], child: Child, script: str) -> int:
    seconds = float(arguments[0])
    seed = int(arguments[1]) if len(arguments) > 1 else random.SystemRandom().getrandbits(32)
    if len(arguments) > 2:
        return child(seconds, seed, Path(arguments[2]))
    return parent(seconds, seed, script)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], child, __file__))
