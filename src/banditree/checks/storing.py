"""Laws of state: files, pickles and copies carry on as the original would; damage is noticed."""

import copy
import io
import pickle
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

from banditree.checks.case import Case
from banditree.checks.saved import saved
from banditree.checks.streams import life, play
from banditree.errors import StateError
from banditree.policies.base import Arrays, Policy
from banditree.policies.saving import files
from banditree.policies.saving.loading import load

# Of `life`: at once, after the first decision, the first observation, the second; after an arm
# left; after one came; with one gone and one back; near the end.
MOMENTS = (0, 1, 2, 4, 32, 44, 66, 100)


def files_carry_on(case: Case) -> None:
    """Require that a loaded policy decides and learns on as the saved one does."""
    with tempfile.TemporaryDirectory() as folder:
        _require_carrying_on(case, partial(_through_file, folder), "load(save)")


def copies_carry_on(case: Case) -> None:
    """Require that pickles and deep copies carry on as the original, and leave it alone."""
    _require_carrying_on(case, _through_pickle, "pickle")
    _require_carrying_on(case, copy.deepcopy, "deepcopy")


def _through_file(folder: str, policy: Policy) -> Policy:
    path = Path(folder, "policy.bt")
    policy.save(path)
    return load(path, **policy._objects())


def _through_pickle(policy: Policy) -> Policy:
    again: Policy = pickle.loads(pickle.dumps(policy))
    return again


def _require_carrying_on(case: Case, duplicate: Callable[[Policy], Policy], how: str) -> None:
    events = life(case.reward)
    expected, original, done = case.policy(), case.policy(), 0
    decisions = play(expected, events)
    for moment in MOMENTS:
        play(original, events[done:moment])
        done = moment
        before, twin = saved(original), duplicate(original)
        when = f"{how} after {moment} calls"
        case.require(type(twin) is type(original), f"{when}: {type(original)}", type(twin))
        case.require(repr(twin) == repr(original), f"{when}: {original!r}", repr(twin))
        case.require_same_state(before, twin, when)
        rest = play(twin, events[moment:])
        asked = sum(event.call == "decide" for event in events[:moment])
        case.require(
            rest == decisions[asked:], f"{when}: further decisions {decisions[asked:]}", rest
        )
        case.require_same_state(saved(expected), twin, f"{when} and all further calls")
        case.require_same_state(before, original, f"{when}, and then teaching the copy")


def damage_is_noticed(case: Case) -> None:
    """Require that a truncated, damaged or foreign file raises StateError."""
    policy, random = case.taught(20), Random(11)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.bt")
        policy.save(path)
        data = path.read_bytes()
        damaged = {f"the first {n} bytes": data[:n] for n in _lengths(len(data), random)}
        for _ in range(60):
            place, flip = random.randrange(len(data)), random.randrange(1, 256)
            flipped = data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :]
            damaged[f"byte {place} changed"] = flipped
        for what, content in (damaged | _foreign(policy, data, random)).items():
            path.write_bytes(content)
            case.require_refusal(
                partial(load, path, **policy._objects()), StateError, f"load of a file: {what}"
            )


def _lengths(total: int, random: Random) -> list[int]:
    edges = [*range(60), *range(total - 30, total)]
    return edges + [random.randrange(total) for _ in range(40)]


def _foreign(policy: Policy, data: bytes, random: Random) -> dict[str, bytes]:
    header, arrays = saved(policy)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("policy.json", "{}")
    return {
        "random bytes": random.randbytes(500),
        "a zip": archive.getvalue(),
        "a pickle": pickle.dumps({"policy": 1}),
        "text": b"arm,reward\ngolf,1\n",
        "two policies": data + data,
        "a later format": files.pack({**header, "format": files.FORMAT + 1}, arrays),
        "an unknown policy": files.pack({**header, "policy": "Nobody"}, arrays),
        "no arms": files.pack({k: v for k, v in header.items() if k != "arms"}, arrays),
    }


def failed_saves_leave_the_old_file(case: Case) -> None:
    """Require that a `save` that fails leaves the old file as it was, and no other file."""
    policy = case.taught(20)
    with tempfile.TemporaryDirectory() as folder:
        path, occupied = Path(folder, "policy.bt"), Path(folder, "folder")
        occupied.mkdir()
        policy.save(path)
        data = path.read_bytes()
        case.require_refusal(partial(policy.save, occupied), OSError, "saving over a folder")
        broken = copy.deepcopy(policy)
        # The state cannot be had: the failure of last resort that every policy can have.
        broken._state = _fail  # type: ignore[method-assign]
        case.require_refusal(partial(broken.save, path), MemoryError, "saving without memory")
        case.require(path.read_bytes() == data, "the old file as it was", "another content")
        names = sorted(entry.name for entry in Path(folder).iterdir())
        case.require(names == ["folder", "policy.bt"], "no temporary file", names)
        policy.save(path)
        case.require(path.read_bytes() == data, "the same state in the same bytes", "other bytes")


def _fail() -> Arrays:
    raise MemoryError
