"""What a report rests on, as digests: it stands as long as none of them moved; and that it lies in the project.

What a sheet names elsewhere, or behind a link that leads elsewhere, is refused: whoever clones the project
would not have it, and nobody would see it change.

Sheet 99 cites the report, so of it only what the gate judges counts. Of the folder of counterexamples the
part that Hypothesis keeps for itself does not: whatever it finds stands in twice's own file as well.

Not for: files outside of the project, installed libraries, and what the tests' own child processes read.

Invariant: reading digests executes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import rfc8785

from twice.foundation.digests import digest_bytes
from twice.specification.errors import SheetRefused
from twice.specification.gate.evidence.suite import list_pytest_files
from twice.specification.gate.plan import GatePlan
from twice.specification.lock import NAME as LOCK
from twice.specification.lock import Lock
from twice.specification.scaffold.lock import measure_drift
from twice.specification.sheet import Sheet
from twice.specification.workspace import FOLDER, Workspace

_WHOLE: Final = "99"
_OF_WHOLE: Final = ("findings", "rule")
_PASSED_OVER: Final = frozenset(
    {"__pycache__", ".git", ".hypothesis", ".pytest_cache", ".venv", "found", "node_modules"}
)
CODE: Final = (".py", ".pyi", ".ipynb")
_NAMED: Final = (
    ("01", "vector"), ("12", "database"), ("13", "measured"), ("00", "sources"), ("02", "audit"),
    ("10", "audit"), ("12", "tests"),
)  # fmt: skip
_EVIDENCE: Final = f"{FOLDER}/evidence"
_RECORDS: Final = "__twice__"  # where the pytest plugin keeps them, beside the test


def digest_inputs(
    workspace: Workspace, lock: Lock, plan: GatePlan, seen: Iterable[str] = ()
) -> dict[str, str]:
    """Return a digest of everything that a report rests on, by path, in order.

    Args:
        workspace: the sheets.
        lock: the lock.
        plan: what is run.
        seen: paths from the project on that only running tells of; those of a report that is held against today.
    """
    found = {each.path: digest_sheet(each) for each in workspace.sheets.values()}
    sheets = {number: each for number, each in lock.sheets.items() if number != _WHOLE}
    found[f"{FOLDER}/{LOCK}"] = str(digest_bytes(replace(lock, sheets=sheets).text().encode()))
    found |= _describe_laid(workspace)
    for path in (*_list_files(workspace.project, plan), *seen):
        if path not in found:
            found[path] = _digest_file(workspace.project, path)
    return dict(sorted(found.items()))


def _describe_laid(workspace: Workspace) -> dict[str, str]:
    """Say of each file that a scaffold laid down how it stands; one that belongs to the user always holds."""
    return {
        f"{each.path} (as laid down)": "holds"
        if each.holds
        else ", ".join([each.state, *(f"{fact} moved" for fact in each.moved)])
        for each in measure_drift(workspace)
    }


def digest_sheet(sheet: Sheet) -> str:
    """Digest of a sheet what the gate judges."""
    waivers = [dict(row) for row in sheet.rows("waivers")]
    if sheet.number == _WHOLE:
        said: dict[str, object] = {key: sheet.get(key) for key in _OF_WHOLE}
    else:
        own = [item.key for item in sheet.schema.items]
        said = {
            "digest": str(sheet.digest()),
            # What decides nothing is evidence that the gate read: figures, digests of records.
            "values": {key: sheet.get(key) for key in own if key in sheet.head.entries},
            "version": sheet.version,
            "status": sheet.text("status"),
        }
    return str(digest_bytes(rfc8785.dumps(cast("Any", {**said, "waivers": waivers}))))


def _digest_file(project: Path, name: str) -> str:
    path = (project / name).resolve()
    if not (path.is_relative_to(project.resolve()) and path.is_file()):
        return "not there"
    try:
        return str(digest_bytes(path.read_bytes()))
    except OSError:
        return "not readable"


def _list_files(project: Path, plan: GatePlan) -> Iterator[str]:
    yield from (each for each in (plan.vector, plan.measured) if each)
    if plan.reference and ":" not in plan.reference:
        yield plan.reference.partition("#")[0]
    yield from list_pytest_files(project, plan.tests) if plan.tests else ()
    for top in plan.sources:
        yield from _list_below(project, top, CODE)
    for top in plan.tests:
        name = top.partition("::")[0]
        yield from _list_below(project, name)
        if (project / name).is_file():
            yield from _list_below(project, str(Path(name).parent / _RECORDS))
    if plan.database:
        yield from _list_below(project, plan.database)


def _list_below(project: Path, top: str, suffixes: tuple[str, ...] = ("",)) -> Iterator[str]:
    """Yield a file, or those in a folder, whose names end so."""
    path = project / top
    if path.is_file():
        yield os.path.normpath(top)
    elif path.is_dir():
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(set(folders) - _PASSED_OVER)
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield (Path(folder) / name).relative_to(project).as_posix()


def refuse_outside(workspace: Workspace) -> None:
    """Refuse a specification whose evidence lies outside of its project.

    Raises:
        SheetRefused: E-SPEC-001, with the sheet and the line.
    """
    project = workspace.project.resolve()

    def refuse(named: str, text: str, remedy: str, path: str, line: int, key: str = "") -> None:
        if not (project / named).resolve().is_relative_to(project):
            expected = (
                "Expected a place in the project, with nothing on the way that leads out of it."
            )
            raise SheetRefused(text, expected, remedy, path=path, line=line, key=key)

    for number, key in _NAMED:
        sheet = workspace.get(number)
        if sheet is None:
            continue
        line, one = sheet.line_of(key), sheet.text(key)
        for named in sheet.strings(key) or ([one] if one else []):
            link = "" if named.startswith(("/", "..")) else ", by a link,"
            lies = (
                f"{key} names {named.partition('::')[0]}, which lies{link} outside of the project"
            )
            remedy = "Put it into the project, and name it from the project's folder."
            top = named.partition("::")[0]
            refuse(top, f"{sheet.path}:{line}: {lies}.", remedy, sheet.path, line, key)
    for each in workspace.sheets.values():
        lies = f"{each.path}:1: the sheet lies, by a link, outside of the project."
        refuse(each.path, lies, "Put the file itself there.", each.path, 1)
    lies = f"{_EVIDENCE} is a link that leads out of the project."
    remedy = f"Make it a folder: rm {_EVIDENCE} && mkdir {_EVIDENCE}"
    refuse(_EVIDENCE, lies, remedy, _EVIDENCE, 1)
