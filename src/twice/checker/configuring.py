"""What a project says about its check: the table ``[tool.twice.check]`` of its pyproject.toml.

Command-line options come before it; putting the two together is done by the command.

Invariant: a key that is not known, or a value of another type, is an error; none is passed over.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from twice.checker.policy import TIERS, Zone
from twice.checker.reader import Ban
from twice.errors import ConfigError, ConfigKeyUnused
from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.foundation.severity import SEVERITIES, Severity

NAME: Final = "pyproject.toml"
TABLE: Final = "[tool.twice.check]"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project says about its check.

    Args:
        folder: where the file is: patterns and paths in it are relative to that; None without one.
        kind: the declared class.
        scope: how far the promise reaches.
        tier: XS, S, M, L or XL.
        exclude: patterns of paths that are not read.
        select: rules and channels that are looked with; all when empty.
        ignore: rules and channels that are not.
        zones: patterns of paths for each zone.
        catalogues: paths of further catalogues.
        allow: names that are in no catalogue.
        bans: names that are not wanted.
        baseline: the path of the baseline.
        fail_on: from which severity on the check fails.
        per_file_ignores: rules and channels that are not looked with in files of a pattern.
    """

    folder: Path | None = None
    kind: DeterminismClass | None = None
    scope: Scope | None = None
    tier: str | None = None
    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    zones: Mapping[Zone, tuple[str, ...]] = field(default_factory=dict)
    catalogues: tuple[Path, ...] = ()
    allow: tuple[str, ...] = ()
    bans: tuple[Ban, ...] = ()
    baseline: Path | None = None
    fail_on: Severity | None = None
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def nearest(start: Path) -> Path | None:
    """Give the pyproject.toml in a folder or the nearest one above it."""
    for folder in (start, *start.parents):
        found = folder / NAME
        if found.is_file():
            return found
    return None


def settings_of(path: Path) -> Settings:
    """Read a project's settings.

    Raises:
        ConfigError: E-CONFIG-001: the file cannot be read, or a value is not what it has to be.
        ConfigKeyUnused: E-CONFIG-003: a key is not known.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if "twice" not in text:
            return Settings(folder=path.parent)  # Most pyproject.toml, and parsing takes longer.
        data = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}.",
            f"Expected a TOML file with a table {TABLE}.",
            "Name another file with --config, or leave it out.",
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(
            f"{path} is not TOML: {error}.",
            f"Expected a TOML file, perhaps with a table {TABLE}.",
            "Correct the file, or name another one with --config.",
        ) from error
    table: Any = data
    for name in ("tool", "twice", "check"):
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise _wrong(path, name, table, "a table")
    return _settings(path, table)


_Reading = Callable[[Path, str, Any], Any]


def _settings(path: Path, table: Mapping[str, Any]) -> Settings:
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            raise ConfigKeyUnused(
                f"{path}: {TABLE} has the key {key!r}.",
                f"Expected one of: {', '.join(_KEYS)}.",
                "Correct the key, or delete it.",
                key=key,
            )
        name, reading = _KEYS[key]
        found[name] = reading(path, key, value)
    return Settings(folder=path.parent, **found)


def _wrong(path: Path, key: str, value: object, expected: str) -> ConfigError:
    return ConfigError(
        f"{path}: {key} in {TABLE} is {value!r}.",
        f"Expected {expected}.",
        f"Correct the value of {key}.",
        key=key,
    )


def _one_of(words: Mapping[str, Any]) -> _Reading:
    def read(path: Path, key: str, value: Any) -> Any:
        if not isinstance(value, str) or value not in words:
            raise _wrong(path, key, value, f"one of {', '.join(words)}")
        return words[value]

    return read


def _texts(path: Path, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise _wrong(path, key, value, "a list of texts")
    return tuple(value)


def _file(path: Path, key: str, value: Any) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise _wrong(path, key, value, "a path, as text")
    found = path.parent / value
    root = _checkout(path.parent.resolve())
    # A project may be a stranger's, and an error shows a line of what it names.
    if not found.resolve().is_relative_to(root):
        raise _wrong(path, key, value, f"a file inside of {root}, with links followed")
    return found


def _checkout(folder: Path) -> Path:
    """Return the version-controlled folder that contains a project, or the project's own."""
    around = (each for each in (folder, *folder.parents) if (each / ".git").exists())
    return next(around, folder)


def _files(path: Path, key: str, value: Any) -> tuple[Path, ...]:
    return tuple(_file(path, key, each) for each in _texts(path, key, value))


def _zones(path: Path, key: str, value: Any) -> dict[Zone, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise _wrong(path, key, value, f"a table with lists of patterns: {', '.join(Zone)}")
    for name in value:
        if name not in [*Zone]:
            raise _wrong(path, f"{key}.{name}", value[name], f"the zones {', '.join(Zone)}")
    return {Zone(name): _texts(path, f"{key}.{name}", its) for name, its in value.items()}


def _per_file(path: Path, key: str, value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise _wrong(path, key, value, "a table of patterns, each with a list of rules")
    return {pattern: _texts(path, f'{key}."{pattern}"', its) for pattern, its in value.items()}


def _bans(path: Path, key: str, value: Any) -> tuple[Ban, ...]:
    expected = "tables with name, reason, instead and perhaps severity, all texts"
    if not isinstance(value, list):
        raise _wrong(path, key, value, f"a list of {expected}")
    return tuple(_ban(path, f"{key}[{at}]", each, expected) for at, each in enumerate(value))


def _ban(path: Path, key: str, value: Any, expected: str) -> Ban:
    known = {"name", "reason", "instead", "severity"}
    if (
        not isinstance(value, dict)
        or not known.issuperset(value)
        or not {"name", "reason"}.issubset(value)
        or not all(isinstance(each, str) and each for each in value.values())
    ):
        raise _wrong(path, key, value, f"a table with {expected.partition(' with ')[2]}")
    severity = value.get("severity", Severity.HIGH.word)
    if severity not in SEVERITIES:
        raise _wrong(path, f"{key}.severity", severity, f"one of {', '.join(SEVERITIES)}")
    return Ban(value["name"], value["reason"], value.get("instead", ""), SEVERITIES[severity])


_KEYS: Final[dict[str, tuple[str, _Reading]]] = {
    "class": ("kind", _one_of({each.value: each for each in DeterminismClass})),
    "scope": ("scope", _one_of({each.value: each for each in Scope})),
    "tier": ("tier", _one_of({each: each for each in TIERS})),
    "exclude": ("exclude", _texts),
    "select": ("select", _texts),
    "ignore": ("ignore", _texts),
    "zones": ("zones", _zones),
    "catalogues": ("catalogues", _files),
    "allow": ("allow", _texts),
    "ban": ("bans", _bans),
    "baseline": ("baseline", _file),
    "fail-on": ("fail_on", _one_of(SEVERITIES)),
    "per-file-ignores": ("per_file_ignores", _per_file),
}
