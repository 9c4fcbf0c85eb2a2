"""Evaluating several on a log, on as many processors as wanted: what is finished is kept."""

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import banditree.evaluation as evaluation
import banditree.policies as policies
from banditree._checking import check_whole, did_you_mean
from banditree.errors import InvalidParameterError
from banditree.evaluation import Comparison, Log, always, learning
from banditree.evaluation.evaluating import Settings, compared
from banditree.evaluation.evidence import Evidence, Overlap, gather
from banditree.evaluation.reward_model import RewardModel
from banditree.evaluation.targets import bind
from banditree.evaluation.written import is_written
from banditree.studies.code import build_name
from banditree.studies.extra import TO_RUN, check_extra
from banditree.studies.runner import Bar
from banditree.studies.runs import Failure
from banditree.studies.specs import policy_names
from banditree.studies.store import make_folder
from banditree.studies.workers import outcomes

__all__ = ["Candidate", "LogSource", "Outcome", "evaluate_all"]

KEPT = "evidence"
ALWAYS = "always:"


@dataclass(frozen=True)
class LogSource:
    """A file that is a log, and what its columns are; as for `Log.from_table`."""

    path: str
    arm: str = "arm"
    reward: str = "reward"
    propensity: str | None = "propensity"
    context: tuple[str, ...] | None = None
    eligible: str | None = None
    time: str | None = None
    no_reward: Any = "refuse"

    def load(self) -> Log:
        """Return the log; one that a `LogWriter` wrote says itself what its columns are."""
        if is_written(Path(self.path)):
            return Log.read(self.path, no_reward=self.no_reward)
        options = asdict(self)
        return Log.from_table(options.pop("path"), **options)

    def fingerprint(self) -> str:
        """Return what changes when the log does."""
        path = Path(self.path)
        state = path.stat() if path.exists() else None
        found = [self.path, *((state.st_size, state.st_mtime_ns) if state else ())]
        return json.dumps([asdict(self), found])


@cache
def _loaded(source: LogSource, fingerprint: str) -> Log:
    return source.load()


@dataclass(frozen=True)
class Candidate:
    """Whom to evaluate on which log, as a job.

    Attributes
    ----------
    name
        The class of a policy, which learns as it goes; the file of a saved one, which is evaluated
        as it is; or "always:" and an arm.
    source, fingerprint
        The log.
    seed
        Of all that is random.
    folder
        Where what is found is kept.
    key
        Tells it from any other.
    """

    name: str
    source: LogSource
    fingerprint: str
    seed: int
    folder: str
    key: str

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> Path:
        """Where what is found is kept."""
        return Path(self.folder) / KEPT / f"{self.key}.npz"

    def carry_out(self) -> "Outcome":
        """Gather the evidence and keep it."""
        log = _loaded(self.source, self.fingerprint)
        bound = bind(_target(self.name, log, self.seed), log, self.seed)
        (evidence,) = gather([bound], log, RewardModel(log, self.seed))
        overlap = json.dumps([[arm, asdict(known)] for arm, known in evidence.overlap.items()])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}.part")
        with open(part, "wb") as file:
            np.savez(
                file,
                weights=evidence.weights,
                modelled=evidence.modelled,
                fitted=evidence.fitted,
                overlap=np.array(overlap),
            )
        os.replace(part, self.path)
        return Outcome(self)

    def evidence(self, log: Log) -> Evidence:
        """Return what was kept."""
        with np.load(self.path, allow_pickle=False) as kept:
            overlap = {arm: Overlap(**known) for arm, known in json.loads(str(kept["overlap"]))}
            return Evidence(
                log.rewards,
                kept["weights"],
                kept["fitted"],
                kept["modelled"],
                log.reward_range,
                1 / float(log.propensities.min()),
                overlap,
            )


@dataclass(frozen=True)
class Outcome:
    """That a candidate is done."""

    run: Candidate


def evaluate_all(
    names: Sequence[str],
    source: LogSource,
    folder: str | Path,
    *,
    seed: int = 0,
    workers: int | None = None,
    ray: str | None = None,
    progress: bool = True,
) -> tuple[Log, Comparison | None, list[Failure]]:
    """Evaluate all that is not done yet; return the log, the comparison and what failed.

    Parameters
    ----------
    names
        Whom, as for `Candidate`.
    source
        The log.
    folder
        Where what is found is kept, so that an interrupted evaluation goes on where it stood.
    seed
        Of all that is random.
    workers, ray, progress
        As for `run_study`.
    """
    check_extra(*TO_RUN)
    if workers is not None:
        check_whole("workers", workers, 1)
    for name in names:
        _check_name(name)
    fingerprint = source.fingerprint()
    log = _loaded(source, fingerprint)
    make_folder(Path(folder))
    all_of_them = [_candidate(name, source, fingerprint, seed, folder) for name in names]
    distinct = {candidate.key: candidate for candidate in all_of_them}
    todo = [candidate for candidate in distinct.values() if not candidate.path.exists()]
    bar = Bar(len(distinct), len(distinct) - len(todo), shown=progress)
    failures = []
    with bar, closing(outcomes(todo, bar.begun, workers, ray)) as came:
        for outcome in came:
            if isinstance(outcome, Failure):
                failures.append(outcome)
            bar.finished(outcome.run)
    done = {c.name: c.evidence(log) for c in distinct.values() if c.path.exists()}
    found = compared(done, log, Settings(seed=seed)) if done else None
    return log, found, failures


def _candidate(
    name: str, source: LogSource, fingerprint: str, seed: int, folder: str | Path
) -> Candidate:
    path = Path(name)
    content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    defining = [name, content, fingerprint, seed, build_name(), _code()]
    key = hashlib.sha256(json.dumps(defining).encode()).hexdigest()[:32]
    return Candidate(name, source, fingerprint, seed, str(Path(folder).resolve()), key)


@cache
def _code() -> str:
    """Return a hash of what evaluates; `build_name` is of policies and what they rest on."""
    digest = hashlib.sha256()
    for file in sorted(Path(evaluation.__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _check_name(name: str) -> None:
    if name.startswith(ALWAYS) or name in policy_names() or Path(name).is_file():
        return
    hint = did_you_mean(name, policy_names(), f"known are {', '.join(policy_names())}")
    raise InvalidParameterError(
        f"there is no policy {name!r}, nor a file of that name; {hint}; a saved policy is named by "
        "its file, and always:ARM offers one arm to all"
    )


def _target(name: str, log: Log, seed: int) -> Any:
    if name.startswith(ALWAYS):
        wanted = name.removeprefix(ALWAYS)
        return always(next((arm for arm in log.arms if str(arm) == wanted), wanted))
    if Path(name).is_file():
        return policies.load(name)
    binary = log.reward_range == (0.0, 1.0)
    make = getattr(policies, name)
    policy = make(list(log.arms), reward="binary" if binary else "continuous", seed=seed)
    return learning(policy)
