"""Source code as the gate of a specification needs it: what the checker reports and the audits list.

Invariant: nothing is executed; the project's own settings, comments and baseline hold as in ``twice check``.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from twice.foundation.channels import Channel
from twice.specification.gate.evidence.context import ReportedFinding, SourceFacts, SourcePlace
from twice.specification.tiers import Trait

if TYPE_CHECKING:
    from twice.checking.auditing.effects import Ask
    from twice.checking.auditing.projects import FileFacts
    from twice.checking.auditing.projects import Project as ReadProject
    from twice.checking.auditing.seeds import Draw
    from twice.checking.findings import Finding
    from twice.checking.project import Project as CheckedProject

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
        UsageError: E-USE-001, when there is no Python file. ConfigError: for settings that cannot be read.
    """
    from twice.foundation.severity import Severity

    checked, files, read = _read(project, sources)
    findings = [
        each
        for each in checked.report(files).findings
        if each.severity >= Severity.MEDIUM and each.zone != _TESTS
    ]
    inner = [each for each in read.files if each.zone != _TESTS]
    draws = [each for each in read.draws if each.zone != _TESTS]
    return SourceFacts(
        draws=tuple(map(_draw, draws)),
        orphans=tuple(_draw(each) for each in draws if each.is_orphan),
        shared=tuple(_place(each) for each in findings if each.found.rule in _SHARED),
        asked=tuple(_ask(each) for each in read.asks if each.zone != _TESTS),
        raw=tuple(_ask(each) for each in read.asks if each.is_gap),
        mocks=tuple(_importing(inner, _MOCKS)),
        pickles=tuple(_importing(inner, _PICKLES)),
        reported=tuple(
            ReportedFinding(each.found.rule, each.artifact, _place(each)) for each in findings
        ),
        unread=tuple(SourcePlace(each.path, each.line, each.what) for each in read.unread),
    )


def read_presence(project: Path, sources: Sequence[str]) -> dict[Trait, str]:
    """Give the traits that the code outside of tests certainly shows, each with a place and how many more.

    Raises:
        UsageError: E-USE-001, when there is no Python file. ConfigError: for settings that cannot be read.
    """
    places: dict[Trait, list[str]] = {}
    for one in _read(project, sources)[2].files:
        for each in one.present if one.zone != _TESTS else ():
            shown = f"{each.path}:{each.line}: {each.what}"
            places.setdefault(_TRAITS[each.channel], []).append(shown)
    return {
        trait: found[0] + (f", and {len(found) - 1} more" if len(found) > 1 else "")
        for trait, found in places.items()
    }


def _read(project: Path, sources: Sequence[str]) -> tuple[CheckedProject, list[str], ReadProject]:
    """Read the sources for the audits, by the settings of the project that is the current folder."""
    from twice.checking.auditing.projects import read_project
    from twice.checking.reading import files_below
    from twice.surfaces.cli.checkedproject import project_of, settings_for, workspace_of

    paths = [Path(each) for each in sources]
    settings = settings_for(None, project)
    checked = project_of(_options(), settings, paths, workspace_of((project,)))
    files = files_below(paths, settings.exclude, checked.policy.placed)
    return checked, files, read_project(files, checked.policy, checked.reader.catalogue, str)


def _options() -> argparse.Namespace:
    """What the options of twice check are where none is given."""
    return argparse.Namespace(
        kind=None, scope=None, tier=None, json=False, format="text", no_follow=False, baseline=None,
        baseline_accept=None, fail_on=None, min="low", select=[], ignore=[], no_cache=True, jobs=1,
    )  # fmt: skip


def _draw(each: Draw) -> SourcePlace:
    fault = f"is {each.origin.note}" if each.origin.unreached else ""
    return SourcePlace(each.path, each.line, each.call, each.function, fault)


def _ask(each: Ask) -> SourcePlace:
    return SourcePlace(each.path, each.line, each.call, each.function)


def _place(each: Finding) -> SourcePlace:
    return SourcePlace(each.path, each.found.place.line, each.found.message)


def _importing(files: Iterable[FileFacts], names: Sequence[str]) -> Iterator[SourcePlace]:
    """Give every import of some modules, or of what is in them."""
    for each in files:
        if any(_is_of(found, names) for found in each.imports):
            tree = ast.parse(Path(each.path).read_bytes())
            for node in ast.walk(tree):
                wanted = next((one for one in _imported(node) if _is_of(one, names)), None)
                if wanted is not None and isinstance(node, (ast.Import, ast.ImportFrom)):
                    yield SourcePlace(each.path, node.lineno, f"import of {wanted}")


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [f"{node.module}.{each.name}" for each in node.names]
    return []


def _is_of(name: str, modules: Sequence[str]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in modules)
