"""Studies in TOML files."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from banditree.errors import InvalidParameterError
from banditree.studies import own
from banditree.studies.specs import EnvironmentSpec, PolicySpec, Study, unknown

__all__ = ["read_study"]

# What each key must be: the types, and how they are called in messages.
Rule = tuple[tuple[type, ...], str]
WHOLE: Rule = ((int,), "a whole number")
TEXT: Rule = ((str,), "a string")
TEXTS: Rule = ((list,), "a list of strings")
STUDY_KEYS: dict[str, Rule] = {
    "name": TEXT,
    "horizon": WHOLE,
    "seeds": WHOLE,
    "first_seed": WHOLE,
    "policies": ((list, dict), "a list of names, or a table for each policy"),
    "environments": ((list, dict), "a list of names, or a table for each environment"),
}
ENVIRONMENT_KEYS: dict[str, Rule] = {
    "task": TEXT,
    "file": TEXT,
    "label": TEXT,
    "unused": TEXTS,
    "dropped": ((list,), "a list of classes"),
    "categorical": TEXTS,
    "dates": TEXTS,
    "drift_at": WHOLE,
    "delay": WHOLE,
    "random_delay": ((bool,), "true or false"),
    "parameters": ((dict,), "a table"),
    "horizon": WHOLE,
    "seeds": WHOLE,
    "policies": TEXTS,
}


def read_study(path: str | Path) -> Study:
    """Return the study in a TOML file. Files of data are looked for beside it.

    So are modules with policies and environments of one's own: the folder goes to the end of
    Python's path if the study names any.

    A wrong key or value raises InvalidParameterError with its line.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except FileNotFoundError:
        raise InvalidParameterError(f"there is no file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameterError(f"{str(path)!r} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameterError(f"{path.name} is not TOML: {error}") from None
    return _Reader(path, text).study(content)


class _Reader:
    """Turns the content of a file into a study, and knows where what stands."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text

    def study(self, content: dict[str, Any]) -> Study:
        self._check((), content, STUDY_KEYS)
        for needed in ("policies", "environments"):
            if not content.get(needed):
                raise InvalidParameterError(f"{self.path.name} has no {needed}; add some")
        rest = {k: v for k, v in content.items() if k not in ("policies", "environments")}
        if _names_own(content):
            own.look_in(self.path.parent.resolve())
        policies = self._policies(content["policies"])
        environments = self._environments(content["environments"])
        try:
            return Study(policies, environments, **{"name": self.path.stem, **rest})
        except InvalidParameterError as error:
            raise InvalidParameterError(f"{self.path.name}: {error}") from None

    def _policies(self, given: Any) -> list[PolicySpec]:
        specs = []
        for label, parameters in self._tables("policies", given).items():
            rest = dict(parameters)
            policy = rest.pop("policy", "")
            where = ("policies", label)
            if not isinstance(policy, str):
                raise self._wrong((*where, "policy"), TEXT, policy)
            try:
                specs.append(PolicySpec(label, policy, _with_none(rest)))
            except InvalidParameterError as error:
                raise InvalidParameterError(f"{self._place(where)}: {error}") from None
        return specs

    def _environments(self, given: Any) -> list[EnvironmentSpec]:
        specs = []
        for name, settings in self._tables("environments", given).items():
            where = ("environments", name)
            self._check(where, settings, ENVIRONMENT_KEYS)
            wanted = dict(settings)
            if "file" in wanted:
                wanted["file"] = str(self.path.parent / wanted["file"])
            wanted["parameters"] = _with_none(wanted.get("parameters", {}))
            try:
                specs.append(EnvironmentSpec(name, **wanted))
            except InvalidParameterError as error:
                raise InvalidParameterError(f"{self._place(where)}: {error}") from None
        return specs

    def _tables(self, key: str, given: Any) -> dict[str, dict[str, Any]]:
        """Return a table for each name; a list of names is one of empty tables."""
        if isinstance(given, list):
            self._check_texts((key,), given)
            twice = [name for name in given if given.count(name) > 1]
            if twice:
                place = self._place((key,))
                raise InvalidParameterError(f"{place}: {twice[0]!r} occurs twice in {key}")
            return {name: {} for name in given}
        for name, table in given.items():
            if not isinstance(table, Mapping):
                raise self._wrong((key, name), ((dict,), "a table"), table)
        return dict(given)

    def _check(self, where: tuple[str, ...], table: dict[str, Any], rules: dict[str, Rule]) -> None:
        for key, value in table.items():
            if key not in rules:
                problem = str(unknown("key", key, list(rules)))
                if where and key in STUDY_KEYS:
                    problem = f"{key} is of the study, not of {where[-1]!r}; write it above all ["
                raise InvalidParameterError(f"{self._place((*where, key))}: {problem}")
            types, _ = rules[key]
            is_bool = isinstance(value, bool) and bool not in types
            if is_bool or not isinstance(value, types):
                raise self._wrong((*where, key), rules[key], value)
            if rules[key] is TEXTS:
                self._check_texts((*where, key), table[key])

    def _check_texts(self, where: tuple[str, ...], values: list[Any]) -> None:
        if not all(isinstance(value, str) for value in values):
            raise self._wrong(where, TEXTS, values)

    def _wrong(self, where: tuple[str, ...], rule: Rule, value: Any) -> InvalidParameterError:
        return InvalidParameterError(
            f"{self._place(where)}: {where[-1]} must be {rule[1]}, got {value!r}"
        )

    def _place(self, where: tuple[str, ...]) -> str:
        line = line_of(self.text, where)
        return f"{self.path.name}, line {line}" if line else self.path.name


def _names_own(content: dict[str, Any]) -> bool:
    """Return whether a study names policies or environments that a module defines."""
    names: list[Any] = []
    for key, wanted in (("policies", "policy"), ("environments", "task")):
        given = content[key]
        names += given if isinstance(given, list) else []
        tables = given.items() if isinstance(given, dict) else []
        names += [t.get(wanted, n) if isinstance(t, dict) else n for n, t in tables]
    return any(isinstance(name, str) and own.is_path(name) for name in names)


def _with_none(value: Any) -> Any:
    """Return a value with None for the text "None", as TOML has nothing for it."""
    if isinstance(value, dict):
        return {key: _with_none(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_none(inner) for inner in value]
    return None if value == "None" else value


def line_of(text: str, where: tuple[str, ...]) -> int | None:
    r"""Return the line on which a key stands, or its table begins.

    Examples
    --------
    >>> line_of("a = 1\n[b.c]\nd = 2\n", ("b", "c", "d"))
    3
    """
    header: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        table = re.match(r"\s*\[\[?([^\[\]]+)\]", line)
        pair = re.match(r"\s*([^=#\[]+?)\s*=", line)
        if table:
            header = _parts(table[1])
            if header == where:
                return number
        elif pair and (*header, *_parts(pair[1])) == where:
            return number
    return line_of(text, where[:-1]) if len(where) > 1 else None


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
