"""Source code as a specification and its gate need it: what the checker reports and the audits list.

That something is not there is never concluded from not seeing it.

Invariant: nothing is executed; the project's own settings, comments and baseline hold as in ``twice check``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from twice.cli.checked_project import RuleOptions, SourceOptions, SourceTree, open_sources
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity
from twice.specification.fill import SourcesShown
from twice.specification.gate.evidence.context import ReportedFinding, SourceFacts, SourcePlace
from twice.specification.tiers import Trait
from twice.specification.workspace import Workspace

if TYPE_CHECKING:
    from twice.checker.audits.audit import AuditedFile

_SHARED: Final = frozenset(
    {"shared-generator", "generator-across-threads", "generator-of-two-owners"}
)
_MOCKS: Final = (
    "unittest.mock", "mock", "freezegun", "responses", "requests_mock", "time_machine", "vcr",
    "pytest_mock", "respx",
)  # fmt: skip
_PICKLES: Final = ("pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib")
_TESTS: Final = "tests"
_TRAITS: Final = {
    Channel.CONCURRENCY.value: Trait.CONCURRENCY,
    Channel.FLOATING_POINT.value: Trait.FLOATING_POINT,
    Channel.GPU.value: Trait.GPU,
    Channel.EFFECTS.value: Trait.EXTERNAL_EFFECTS,
}
"""The trait that a place of a channel shows."""


def read_code(project: Path, sources: Sequence[str]) -> SourceFacts:
    """Read folders and files of the project that is the current folder.

    Raises:
        UsageError: E-USE-001, for a path at which nothing is. ConfigError: for settings that cannot be read.
    """
    tree = _open(project, sources)
    checked = tree.project.check(tree.files)
    audited = tree.audit(checked)
    reported = [
        ReportedFinding(
            each.found.rule,
            each.artifact,
            SourcePlace(each.path, each.found.place.line, each.found.message),
        )
        for each in tree.project.report(tree.files, checked).findings
        if each.severity >= Severity.MEDIUM and each.zone != _TESTS
    ]
    draws, orphans = [], []
    for each in audited.uses:
        fault = f"is {each.origin.note}" if each.origin.unreached else ""
        if each.zone != _TESTS:
            place = SourcePlace(each.path, each.line, each.call, each.function, fault)
            draws.append(place)
            orphans += [place] * each.is_orphan
    asks = [
        (SourcePlace(each.path, each.line, each.call, each.function), each)
        for each in audited.reads
    ]
    inner = [each for each in audited.files if each.zone != _TESTS]
    return SourceFacts(
        draws=tuple(draws),
        orphans=tuple(orphans),
        shared=tuple(each.place for each in reported if each.rule in _SHARED),
        asked=tuple(place for place, each in asks if each.zone != _TESTS),
        raw=tuple(place for place, each in asks if each.is_gap),
        mocks=tuple(_find_imports(inner, _MOCKS)),
        pickles=tuple(_find_imports(inner, _PICKLES)),
        reported=tuple(reported),
        unread=tuple(SourcePlace(each.path, each.line, each.what) for each in audited.unread),
        present=_find_present(audited.files),
    )


def read_presence(project: Path, sources: Sequence[str]) -> SourcesShown:
    """Give what the code outside of tests certainly shows: traits, each with a place and how many more, and packages.

    Raises:
        UsageError: E-USE-001, for a path at which nothing is. ConfigError: for settings that cannot be read.
    """
    files = _open(project, sources).audit().files
    packages = {name for each in files if each.zone != _TESTS for name in each.packages}
    return SourcesShown(_find_present(files), sorted(packages))


def read_sources(workspace: Workspace) -> SourcesShown:
    """Give what the sources of 00 certainly show; nothing where a source is not there."""
    with contextlib.chdir(workspace.project):
        sources = _list_sources(workspace)
        return read_presence(Path.cwd(), sources) if sources else SourcesShown({}, ())


def read_rules(workspace: Workspace) -> dict[str, list[str]]:
    """Give, for each sheet, the rules that find something in the sources of 00 that it settles."""
    found: dict[str, set[str]] = {}
    with contextlib.chdir(workspace.project):
        if sources := _list_sources(workspace):
            tree = _open(Path.cwd(), sources)
            for each in tree.project.report(tree.files).findings:
                found.setdefault(each.artifact, set()).add(each.found.rule)
    return {number: sorted(rules) for number, rules in sorted(found.items())}


def _list_sources(workspace: Workspace) -> list[str]:
    """Give the sources of 00, from the project's folder on; none where one of them is not there."""
    sources = workspace.strings("00", "sources")
    return sources if all(Path(each).exists() for each in sources) else []


def _find_present(files: Sequence[AuditedFile]) -> dict[Trait, str]:
    places: dict[Trait, list[str]] = {}
    for one in files:
        for each in one.present if one.zone != _TESTS else ():
            shown = f"{each.path}:{each.line}: {each.what}"
            places.setdefault(_TRAITS[each.channel], []).append(shown)
    return {
        trait: found[0] + (f", and {len(found) - 1} more" if len(found) > 1 else "")
        for trait, found in places.items()
    }


def _open(project: Path, sources: Sequence[str]) -> SourceTree:
    """Open the sources by the settings of the project that is the current folder; keep nothing."""
    options, rules = SourceOptions(tuple(map(Path, sources))), RuleOptions(cache=False, jobs=1)
    return open_sources(options, rules, project=project, may_be_empty=True)


def _find_imports(files: Sequence[AuditedFile], modules: Sequence[str]) -> Iterator[SourcePlace]:
    """Give every line that imports one of some modules, or something in them."""
    for file in files:
        found = {each.line: each for each in reversed(file.imports) if _is_of(each.what, modules)}
        for line in sorted(found):
            yield SourcePlace(file.path, line, f"import of {found[line].what}")


def _is_of(name: str, modules: Sequence[str]) -> bool:
    return any(f"{name}.".startswith(f"{each}.") for each in modules)
