"""The settings of a check: the table ``[tool.twice.check]`` of pyproject.toml, and what files are read and reported with.

Command-line options come before the table; the command puts the two together.

Invariant: a key that is not known, or a value of another type, is an error; none is passed over.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from twice.checker.files import matches
from twice.checker.findings import Finding
from twice.checker.housekeeping import HOUSEKEEPING_NAMES, ban_rule
from twice.checker.policy import TIERS, Policy, Zone
from twice.checker.rule import RuleFacts
from twice.errors import ConfigError, ConfigKeyUnused
from twice.foundation.channels import Channel
from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.foundation.severity import SEVERITIES, Severity

if TYPE_CHECKING:
    from twice.checker.catalogue import Catalogue
    from twice.checker.rules.engine import Index

NAME: Final = "pyproject.toml"
TABLE: Final = "[tool.twice.check]"


@dataclass(frozen=True, slots=True)
class Ban:
    """A name that a project does not want to be used.

    Args:
        name: the qualified name, as it is imported: ``uuid.uuid4``.
        reason: why not, in the project's words.
        instead: what to use.
        severity: how badly it weighs.
    """

    name: str
    reason: str
    instead: str = ""
    severity: Severity = Severity.HIGH


@dataclass(frozen=True)
class AnalysisConfig:
    """What the findings of a file depend on besides the file: equal ones give equal findings for equal files.

    Args:
        catalogues: further catalogues, as the text of TOML files, each with its name.
        allowed: names that are taken out of every group.
        bans: names that are not wanted.
        follows: whether values are followed to where they end.
    """

    catalogues: tuple[tuple[str, str], ...] = ()
    allowed: tuple[str, ...] = ()
    bans: tuple[Ban, ...] = ()
    follows: bool = True

    @cached_property
    def catalogue(self) -> Catalogue:
        """The API names in force.

        Raises:
            ConfigError: E-CONFIG-001: a catalogue is none.
        """
        from twice.checker.catalogue import extend_catalogue, shipped

        bans = [each.name for each in self.bans]
        return extend_catalogue(shipped(), self.catalogues, self.allowed, bans)

    def index(self) -> Index:
        """Arrange the rules for this catalogue."""
        from twice.checker.catalogue import BANNED
        from twice.checker.rules.engine import every_rule, index

        rules = every_rule()
        return index((*rules, ban_rule(self.bans, BANNED)) if self.bans else rules, self.catalogue)

    @property
    def identity(self) -> str:
        """A text that tells configurations, and the Python that parses for them, apart."""
        bans = [[each.name, each.reason, each.instead, each.severity] for each in self.bans]
        python = list(sys.version_info[:3])
        return json.dumps([python, self.catalogues, self.allowed, bans, self.follows])


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules whose findings are reported; a channel's name stands for all its rules.

    Args:
        select: these only; all when empty.
        ignore: not these.
        per_file: not these in files of a pattern, seen from the project's folder.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def require_known(self, rules: Mapping[str, RuleFacts]) -> None:
        """Refuse names that are neither a rule nor a channel.

        Raises:
            ConfigError: E-CONFIG-001.
        """
        per_file = (name for names in self.per_file.values() for name in names)
        for each in (*self.select, *self.ignore, *per_file):
            if each not in rules and each not in [*Channel]:
                raise ConfigError(
                    f"There is no rule {each!r}.",
                    f"Expected the name of a rule, or a channel: {', '.join(Channel)}.",
                    "See: twice check --list",
                    rule=each,
                )

    def has(self, rule: str, channel: str) -> bool:
        """Say whether a rule is reported in some file; the rules on the checker's own work always are."""
        if rule in HOUSEKEEPING_NAMES:
            return True
        selected = not self.select or rule in self.select or channel in self.select
        return selected and rule not in self.ignore and channel not in self.ignore

    def filter(self, findings: Iterable[Finding], policy: Policy) -> list[Finding]:
        """Give the findings of the rules that are reported in their file."""
        return [
            each
            for each in findings
            if self.has(each.found.rule, each.channel)
            and (not self.per_file or not self._is_left_out(each, policy))
        ]

    def _is_left_out(self, finding: Finding, policy: Policy) -> bool:
        rule, path = finding.found.rule, policy.to_project_path(finding.path)
        return rule not in HOUSEKEEPING_NAMES and any(
            (rule in names or finding.channel in names) and matches(path, (pattern,))
            for pattern, names in self.per_file.items()
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """The table of a project.

    Args:
        folder: the folder of the file: patterns and paths in it are relative to that; None without one.
        kind: the declared class.
        scope: how far the promise reaches.
        tier: XS, S, M, L or XL.
        exclude: patterns of paths that are not read.
        zones: patterns of paths for each zone.
        selection: the rules that are reported.
        analysis: catalogues, allowed and banned names.
        baseline: the path of the baseline.
        fail_on: from which severity on the check fails.
    """

    folder: Path | None = None
    kind: DeterminismClass | None = None
    scope: Scope | None = None
    tier: str | None = None
    exclude: tuple[str, ...] = ()
    zones: Mapping[Zone, tuple[str, ...]] = field(default_factory=dict)
    selection: Selection = Selection()
    analysis: AnalysisConfig = AnalysisConfig()
    baseline: Path | None = None
    fail_on: Severity | None = None


def find_pyproject(start: Path) -> Path | None:
    """Give the pyproject.toml in a folder or the nearest one above it."""
    found = (folder / NAME for folder in (start, *start.parents))
    return next((each for each in found if each.is_file()), None)


def read_settings(path: Path) -> Settings:
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
    parts: dict[str, Any] = {
        name: kind(
            **{each.name: found.pop(each.name) for each in fields(kind) if each.name in found}
        )
        for name, kind in (("selection", Selection), ("analysis", AnalysisConfig))
    }
    return Settings(path.parent, **parts, **found)


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
    folder = path.parent.resolve()
    around = (each for each in (folder, *folder.parents) if (each / ".git").exists())
    root = next(around, folder)
    # A project may be a stranger's, and an error shows a line of what it names.
    if not found.resolve().is_relative_to(root):
        raise _wrong(path, key, value, f"a file inside of {root}, with links followed")
    return found


def _catalogues(path: Path, key: str, value: Any) -> tuple[tuple[str, str], ...]:
    found = []
    for each in _texts(path, key, value):
        named = _file(path, key, each)
        try:
            found.append((named.name, named.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            said = error.strerror if isinstance(error, OSError) else error
            raise ConfigError(
                f"The catalogue {named} cannot be read: {said}.",
                "Expected a TOML file of API names; paths start at the folder of pyproject.toml.",
                f"Correct the key {key} in {TABLE}.",
            ) from error
    return tuple(found)


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
    "catalogues": ("catalogues", _catalogues),
    "allow": ("allowed", _texts),
    "ban": ("bans", _bans),
    "baseline": ("baseline", _file),
    "fail-on": ("fail_on", _one_of(SEVERITIES)),
    "per-file-ignores": ("per_file", _per_file),
}
