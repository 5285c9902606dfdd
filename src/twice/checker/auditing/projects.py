"""Reading a project for its audits: every file once, and what only all of them together show.

Invariant: files come in the order given; one that cannot be read is named with the reason.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from twice.checker.auditing.effects import Ask, effects
from twice.checker.auditing.facing import Evidence, facing
from twice.checker.auditing.presence import presence
from twice.checker.auditing.seeds import Draw, What, seeds
from twice.checker.auditing.settling import settled
from twice.checker.catalogue import Catalogue
from twice.checker.files import decode, find_package, read_file
from twice.checker.policy import Policy, Zone
from twice.checker.rules import seed_sources, streams
from twice.checker.rules.seed_callers import SeedCallers
from twice.checker.suppressions import read_comments
from twice.checker.syntax.module import Module

_WANTED: Final = frozenset(
    {
        ast.Subscript,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Import,
        ast.ImportFrom,
    }
)


@dataclass(frozen=True, slots=True)
class Noted:
    """A place with a few words."""

    path: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the audits saw in one file.

    Args:
        path: as outputs show it.
        zone: what part of the project it is.
        lines: how many it has.
        draws: where it draws, makes or seeds.
        asks: where it asks the world.
        evidence: where it touches which channel.
        present: what it certainly does that a specification asks about.
        packages: the top-level packages that it imports, sorted.
        dynamic: where code is made or imported by a name that is computed.
        native: where code that is not Python is loaded.
        module: its dotted name.
        imports: what it imports, by qualified name, sorted.
        sources: what it seeds from, and calls, for ``seed_callers``.
    """

    path: str
    zone: str
    lines: int
    draws: tuple[Draw, ...]
    asks: tuple[Ask, ...]
    evidence: tuple[Evidence, ...]
    present: tuple[Evidence, ...]
    packages: tuple[str, ...]
    dynamic: tuple[Noted, ...]
    native: tuple[Noted, ...]
    module: str
    imports: tuple[str, ...]
    sources: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """What the audits saw in all files.

    Args:
        files: in the order given.
        unread: files that could not be read, with the reason.
    """

    files: tuple[FileFacts, ...]
    unread: tuple[Noted, ...]

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Every place that draws, makes or seeds, with its owner over all files."""
        found = [each for one in self.files for each in one.draws]
        facts = {one.path: _as_facts(one) for one in self.files}
        zones = {one.path: Zone(one.zone) for one in self.files}
        reach = streams.Project(facts, lambda path: zones[path])
        sources = {
            one.path: one.sources for one in self.files if one.sources and one.zone != Zone.TESTS
        }
        unreached = {
            f"{each.path}:{each.line}": each.note for each in SeedCallers(sources).unreached()
        }
        return settled(found, lru_cache(maxsize=None)(reach.seeded), unreached)

    @property
    def asks(self) -> tuple[Ask, ...]:
        """Every question to the world."""
        return tuple(each for one in self.files for each in one.asks)


def _as_facts(one: FileFacts) -> dict[str, Any]:
    """Collect a file's facts for the rules about process-wide streams."""
    seeded = {
        stream.partition(".")[0]
        for each in one.draws
        if each.what is What.SEEDS
        for stream in each.stream.split(", ")
    }
    return {"module": one.module, "imports": list(one.imports), "seeds": sorted(seeded)}


def read_project(
    paths: Sequence[str],
    policy: Policy,
    catalogue: Catalogue,
    shown: Callable[[str], str] = str,
) -> Project:
    """Read files for the audits.

    Args:
        paths: files.
        policy: says what part of a project each file is.
        catalogue: API names in force.
        shown: gives a path as outputs show it.
    """
    files: list[FileFacts] = []
    unread: list[Noted] = []
    for path in paths:
        raw = read_file(path)
        if raw.data is None:
            unread.append(Noted(shown(path), 1, raw.reason))
            continue
        try:
            text, zone = decode(raw.data), policy.zone(path).value
            found = _file(shown(path), find_package(path), text, zone, catalogue)
        except SyntaxError as error:
            words = f"{error.msg or 'it is not Python'} (line {error.lineno or '?'})"
            unread.append(Noted(shown(path), error.lineno or 1, words))
        except (ValueError, RecursionError, MemoryError) as error:
            unread.append(Noted(shown(path), 1, str(error) or type(error).__name__))
        else:
            files.append(found)
    return Project(tuple(files), tuple(unread))


def _file(path: str, package: str, text: str, zone: str, catalogue: Catalogue) -> FileFacts:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in other people's strings
        tree = ast.parse(text)
    module = Module(
        path, text, tree, package=package, catalogue=catalogue, wanted=_WANTED, follows=True
    )
    stretches = read_comments(text, tree).boundaries if zone == Zone.CORE else ()

    def placed(line: int) -> str:
        inside = any(first <= line <= last for first, last in stretches)
        return Zone.BOUNDARY.value if inside else zone

    draws = tuple(replace(each, zone=placed(each.line)) for each in seeds(module, zone))
    asks = tuple(replace(each, zone=placed(each.line)) for each in effects(module, zone))
    evidence = tuple(facing(module, zone, draws, asks))
    facts = FileFacts(
        path=path,
        zone=zone,
        lines=text.count("\n") + 1,
        draws=draws,
        asks=asks,
        evidence=evidence,
        present=tuple(presence(module, asks, evidence)),
        packages=tuple(sorted(module.imported)),
        dynamic=_dynamic(module),
        native=tuple(
            Noted(path, 1, f"import {each}")
            for each in sorted(module.imported)
            if catalogue.has("native-packages", each)
        ),
        module=module.name,
        imports=tuple(sorted({*module.survey.imported, *module.survey.stars})),
        sources=None if zone == Zone.TESTS else seed_sources.gather(module),
    )
    module.close()
    return facts


def _dynamic(module: Module) -> tuple[Noted, ...]:
    """List calls that make or import code by a computed name; a literal name is an import."""
    found = []
    for node, scope in module.survey.nodes.get(ast.Call, ()):
        assert isinstance(node, ast.Call), "asked for"
        name = module.names.qualified(node.func, scope)
        if module.catalogue.has("dynamic-code", name) and not (
            node.args and isinstance(node.args[0], ast.Constant)
        ):
            shown = " ".join(module.source(node).split())[:60]
            found.append(Noted(module.path, node.lineno, shown))
    return tuple(found)
