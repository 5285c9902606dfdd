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
from twice.specification.gate.model import WHOLE
from twice.specification.gate.plan import list_sources
from twice.specification.lock import NAME as LOCK
from twice.specification.lock import Lock
from twice.specification.scaffold.lock import measure_drift
from twice.specification.sheet import Sheet
from twice.specification.workspace import Workspace

_OF_WHOLE: Final = ("findings", "rule")
_PASSED_OVER: Final = frozenset(
    {"__pycache__", ".git", ".hypothesis", ".pytest_cache", ".venv", "found", "node_modules"}
)
CODE: Final = (".py", ".pyi", ".ipynb")
_NAMED: Final = (
    ("01", "vector"), ("12", "database"), ("13", "measured"), ("00", "sources"), ("02", "audit"),
    ("10", "audit"), ("12", "tests"),
)  # fmt: skip
_RECORDS: Final = "__twice__"  # where the pytest plugin keeps them, beside the test


def digest_inputs(workspace: Workspace, lock: Lock, seen: Iterable[str] = ()) -> dict[str, str]:
    """Return a digest of everything that a report rests on, by path, in order.

    Only running tells of ``seen``; for a report that is held against today they are those that it has.
    """
    found = {each.path: digest_sheet(each) for each in workspace.sheets.values()}
    sheets = {number: each for number, each in lock.sheets.items() if number != WHOLE}
    found[f"{workspace.base}/{LOCK}"] = str(
        digest_bytes(replace(lock, sheets=sheets).text().encode())
    )
    for each in measure_drift(workspace):
        # A file of the scaffold that belongs to the user always holds.
        told = ", ".join([each.state, *(f"{fact} moved" for fact in each.moved)])
        found[f"{each.path} (as laid down)"] = "holds" if each.holds else told
    for path in (*_list_files(workspace), *seen):
        if path not in found:
            found[path] = _digest_file(workspace.project, path)
    return dict(sorted(found.items()))


def digest_sheet(sheet: Sheet) -> str:
    """Digest of a sheet what the gate judges."""
    said: dict[str, object] = {"waivers": [dict(row) for row in sheet.rows("waivers")]}
    if sheet.number == WHOLE:
        said |= {key: sheet.get(key) for key in _OF_WHOLE}
    else:
        own = [item.key for item in sheet.schema.items if item.key in sheet.head.entries]
        # What decides nothing is evidence that the gate read: figures, digests of records.
        said |= {"digest": str(sheet.digest()), "values": {key: sheet.get(key) for key in own}}
        said |= {"version": sheet.version, "status": sheet.text("status")}
    return str(digest_bytes(rfc8785.dumps(cast("Any", said))))


def _digest_file(project: Path, name: str) -> str:
    try:
        path = (project / name).resolve()
        if not (path.is_relative_to(project.resolve()) and path.is_file()):
            return "not there"
        return str(digest_bytes(path.read_bytes()))
    except (OSError, ValueError):  # a report may name what no path can be
        return "not readable"


def _list_files(workspace: Workspace) -> Iterator[str]:
    """Yield the files that the sheets name, or that lie in folders which they name."""
    project, reference = workspace.project, workspace.text("04", "audit_encoding")
    named = (workspace.text("01", "vector"), workspace.text("13", "measured"))
    yield from (each for each in named if each)
    if reference and ":" not in reference:
        yield reference.partition("#")[0]
    for top in list_sources(workspace):
        yield from _list_below(project, top, CODE)
    tests, database = workspace.strings("12", "tests"), workspace.text("12", "database")
    yield from list_pytest_files(project, tests)
    for name in (each.partition("::")[0] for each in tests):
        yield from _list_below(project, name)
        if (project / name).is_file():
            yield from _list_below(project, str(Path(name).parent / _RECORDS))
    if database:
        yield from _list_below(project, database)


def _list_below(project: Path, top: str, suffixes: tuple[str, ...] = ("",)) -> Iterator[str]:
    """Yield a file, or those in a folder, whose names end so."""
    path = project / top
    if path.is_file():
        yield os.path.normpath(top)
    for folder, folders, names in os.walk(path):  # of what is no folder nothing
        folders[:] = sorted(set(folders) - _PASSED_OVER)
        for name in sorted(names):
            if name.endswith(suffixes):
                yield (Path(folder) / name).relative_to(project).as_posix()


def refuse_outside(workspace: Workspace) -> None:
    """Refuse a specification whose evidence lies outside of its project.

    Raises:
        SheetRefused: E-SPEC-001, with the sheet and the line.
    """
    places: list[tuple[str, str, str, dict[str, Any]]] = []
    for number, key in _NAMED:
        sheet = workspace.get(number)
        one = workspace.text(number, key)
        for named in workspace.strings(number, key) or ([one] if one else []):
            assert sheet is not None, "what is named is named in a sheet"
            link = "" if named.startswith(("/", "..")) else ", by a link,"
            top, line = named.partition("::")[0], sheet.line_of(key)
            lies = f"{key} names {top}, which lies{link} outside of the project"
            remedy = "Put it into the project, and name it from the project's folder."
            fields = {"path": sheet.path, "line": line, "key": key}
            places.append((top, f"{sheet.path}:{line}: {lies}.", remedy, fields))
    for each in workspace.sheets.values():
        lies = f"{each.path}:1: the sheet lies, by a link, outside of the project."
        fields = {"path": each.path, "line": 1, "key": ""}
        places.append((each.path, lies, "Put the file itself there.", fields))
    evidence = f"{workspace.base}/evidence"
    lies = f"{evidence} is a link that leads out of the project."
    remedy = f"Make it a folder: rm {evidence} && mkdir {evidence}"
    places.append((evidence, lies, remedy, {"path": evidence, "line": 1, "key": ""}))
    project = workspace.project.resolve()
    expected = "Expected a place in the project, with nothing on the way that leads out of it."
    for named, text, remedy, fields in places:
        # With a null character in it, it is no path at all.
        if "\0" in named or not (project / named).resolve().is_relative_to(project):
            raise SheetRefused(text, expected, remedy, **fields)
