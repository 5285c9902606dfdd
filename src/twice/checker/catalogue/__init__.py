"""The catalogues: which names of which libraries read a clock, draw at random, list a folder.

Names are data in TOML files beside this one, in groups. A project adds its own, bans names and
allows names in its configuration. What to do about a name is decided in the rules.

Invariant: a name that is allowed is in no group, except when it is banned.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Self

from twice.errors import ConfigError

FORMAT: Final = "twice.catalogue/1"
BANNED: Final = "banned"
"""The group of names that a project bans."""
_LINE: Final = re.compile(r'\[([\w-]+)\.(\w+)\]|"?([\w.:/*-]+)"? = "([^"\\]*)"')


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Groups of names.

    Args:
        groups: for each group its qualified names (``time.time``), each with a note or "".
        methods: for each group its bare method names (``iterdir``), each with a note or "".
    """

    groups: Mapping[str, Mapping[str, str]]
    methods: Mapping[str, Mapping[str, str]]
    _together: dict[tuple[str, ...], frozenset[str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def together(self, *groups: str) -> frozenset[str]:
        """Give the qualified names of several groups: to ask once where most names are in none."""
        known = self._together.get(groups)
        if known is None:
            known = frozenset(name for group in groups for name in self.names(group))
            self._together[groups] = known
        return known

    def names(self, group: str) -> Mapping[str, str]:
        """Give the qualified names of a group; none when there is no such group."""
        return self.groups.get(group, {})

    def has(self, group: str, name: str | None) -> bool:
        """Say whether a qualified name is in a group."""
        return name is not None and name in self.groups.get(group, ())

    def has_method(self, group: str, name: str) -> bool:
        """Say whether a bare method name is in a group."""
        return name in self.methods.get(group, ())

    def extended(self, others: Iterable[Catalogue], allowed: Iterable[str]) -> Self:
        """Give these groups with others' names added and the allowed names removed."""
        without = frozenset(allowed)
        groups: dict[str, dict[str, str]] = {}
        methods: dict[str, dict[str, str]] = {}
        every: list[Catalogue] = [self, *others]
        for each in every:
            for into, source in ((groups, each.groups), (methods, each.methods)):
                for group, names in source.items():
                    kept = {name: note for name, note in names.items() if name not in without}
                    into.setdefault(group, {}).update(kept)
        return type(self)(groups, methods)


def catalogue_of(data: Mapping[str, Any], source: str) -> Catalogue:
    """Read a catalogue from a parsed TOML document.

    Raises:
        ConfigError: E-CONFIG-001: it is not a catalogue.
    """
    groups: dict[str, Mapping[str, str]] = {}
    methods: dict[str, Mapping[str, str]] = {}
    if data.get("format") != FORMAT:
        raise ConfigError(
            f"{source} has the format {data.get('format')!r}.",
            f'Expected a catalogue: format = "{FORMAT}".',
            "Write that as its first line, then tables of names: [clock.names].",
        )
    for group, tables in data.items():
        if group == "format":
            continue
        _require(isinstance(tables, dict), source, group, tables)
        for kind, names in tables.items():
            _require(kind in {"names", "methods"}, source, f"{group}.{kind}", names)
            _require(isinstance(names, dict), source, f"{group}.{kind}", names)
            for name, note in names.items():
                _require(isinstance(note, str), source, f"{group}.{kind}.{name}", note)
            (groups if kind == "names" else methods)[group] = names
    return Catalogue(groups, methods)


def _require(holds: bool, source: str, where: str, value: object) -> None:
    if not holds:
        raise ConfigError(
            f"{source}: [{where}] is {value!r}.",
            "Expected tables GROUP.names and GROUP.methods of names with notes.",
            'For example: [clock.names] and under it "ours.now" = "".',
        )


@lru_cache(maxsize=1)
def shipped() -> Catalogue:
    """Give the catalogue that comes with twice."""
    found = [
        catalogue_of(_plain(path.read_text("utf-8")), path.name)
        for path in sorted(Path(__file__).parent.glob("*.toml"))
    ]
    return Catalogue({}, {}).extended(found, ())


def _plain(text: str) -> dict[str, Any]:
    """Parse TOML of tables and texts alone in a tenth of the time; anything else as what it is."""
    data: dict[str, Any] = {}
    table = data
    lines = [each for each in text.split("\n") if each and each[0] != "#"]
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            return tomllib.loads(text)
        group, kind, name, value = match.groups()
        if group is None:
            table[name] = value
        else:
            table = data.setdefault(group, {}).setdefault(kind, {})
    return data


def extend_catalogue(
    base: Catalogue,
    texts: Sequence[tuple[str, str]],
    allowed: Sequence[str],
    bans: Sequence[str],
) -> Catalogue:
    """Give a catalogue with a project's own names.

    Args:
        base: what to start from.
        texts: TOML documents, each with its name.
        allowed: names to take out.
        bans: names to put into the group of banned ones.

    Raises:
        ConfigError: E-CONFIG-001: a document is no catalogue.
    """
    if not texts and not allowed and not bans:
        return base
    found = base.extended([_own(text, name, base) for name, text in texts], allowed)
    return found.extended([Catalogue({BANNED: dict.fromkeys(bans, "")}, {})], ())


def _own(text: str, name: str, base: Catalogue) -> Catalogue:
    """Parse a project's catalogue; refuse a group that no rule uses, as a slip of the pen."""
    found = catalogue_of(_parse(text, name), name)
    known = {*base.groups, *base.methods}
    for group in (*found.groups, *found.methods):
        if group not in known:
            near = get_close_matches(group, sorted(known), 1)
            raise ConfigError(
                f"{name} has a group {group!r}, which no rule asks for.",
                f"Expected a group that comes with twice{f', such as {near[0]!r}' if near else ''}.",
                "Correct the name; the groups are those of twice/checker/catalogue/*.toml.",
            )
    return found


def _parse(text: str, name: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(
            f"{name} is not TOML: {error}.",
            'Expected a catalogue: format = "twice.catalogue/1", then tables of names.',
            "Correct it, or take it out of the list of catalogues.",
        ) from error
