"""The specification that a record falls under, as ``twice verify`` cites it, and what of it does not hold here.

A statement without one is about the recorded class alone: nobody said what is promised. Not for: judging a
specification. The gate does that, and runs the program for it.

Invariant: only the specification of the record's own program is cited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from twice.errors import ClassRefused, TwiceError
from twice.foundation.dataclass import dataclass
from twice.foundation.environment import DRIVER
from twice.recorder.environment.libraries import measure_versions
from twice.recorder.runrecord import RunRecord
from twice.specification.consolidate import CONSOLIDATION
from twice.specification.gate.plan import predicate_of
from twice.specification.location import FOLDER, find_workspace, list_bases
from twice.specification.workspace import Workspace, open_workspace

_VERSION: Final = re.compile(r"[0-9]+(\.[0-9]+)*")


@dataclass(frozen=True)
class Citation:
    """A specification, named so that another reader finds the same one.

    Attributes:
        path: folder of the sheets.
        component: the system that is specified.
        version: of sheet 99, which all others are consolidated in; empty before there is one.
        digest: of that sheet, labelled.
        unread: why the sheets could not be read; empty when they could.
        mismatches: what the sheets promise and the record or this machine does not have, in sentences.
    """

    path: str
    component: str = ""
    version: str = ""
    digest: str = ""
    unread: str = ""
    mismatches: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the entry ``specification`` of a statement."""
        told = {"path": self.path, "component": self.component, "version": self.version}
        return {**told, "digest": self.digest, "unread": self.unread}


def cite_specification(record: RunRecord, *, judges_recorded_class: bool = True) -> Citation | None:
    """Find the specification of a record's program; None where there is none.

    Args:
        record: the record.
        judges_recorded_class: whether the recorded class judges, and not one that the user chose.
    """
    program = record.setup.program
    project = find_workspace(program.folder())
    if project is None:
        return None
    unread = None
    for base in list_bases(project) or [FOLDER]:
        folder = str(project / base)
        try:
            workspace = open_workspace(project, base)
        except TwiceError as error:
            unread = unread or Citation(folder, unread=f"{error.id}: {error.happened}")
            continue
        if _is_of(workspace, record):
            return _cite(workspace, record, judges_recorded_class=judges_recorded_class)
    return unread  # It may be the one of the program: nobody can tell.


def _cite(workspace: Workspace, record: RunRecord, *, judges_recorded_class: bool) -> Citation:
    whole = workspace.get(CONSOLIDATION)
    return Citation(
        str(workspace.folder),
        workspace.component(),
        str(whole.version) if whole else "",
        str(whole.digest()) if whole else "",
        mismatches=(
            *(_list_class_mismatches(workspace, record) if judges_recorded_class else ()),
            *_list_pin_mismatches(workspace),
        ),
    )


def _is_of(workspace: Workspace, record: RunRecord) -> bool:
    """Whether a specification is that of a record's program, by its file and function or by its module."""
    program, named = record.setup.program, workspace.text("00", "program")
    file, _, function = named.rpartition(":") if ":" in named else (named, "", "")
    try:
        path = program.path()
    except TwiceError:
        return named == str(program)
    is_file = (workspace.project / file).resolve() == path
    return named == str(program) or (is_file and function == program.function)


def _list_class_mismatches(workspace: Workspace, record: RunRecord) -> Iterator[str]:
    promise = workspace.get("01")
    try:
        wanted = predicate_of(promise) if promise is not None else None
    except (ClassRefused, ValueError):
        return  # not decided yet, and check 2 of the gate tells of it
    made = record.setup.predicate
    if wanted is None or made.amend((), str(wanted.scope)).sentence() == wanted.sentence():
        return
    yield (
        f"sheet 01 promises {wanted.determinism_class} ({wanted.sentence()}), "
        f"and the record was made for {made.determinism_class} ({made.sentence()})"
    )


def _list_pin_mismatches(workspace: Workspace) -> Iterator[str]:
    rows = [
        (number, row)
        for number in ("08", "11")
        for row in workspace.rows(number, "pins")
        if row.keys() >= {"library", "version"}  # the others still have a "?"
    ]
    driver = workspace.text("09", "driver")
    here = measure_versions().versions if rows or driver else {}
    for number, row in rows:
        library, pinned = str(row.get("library")), str(row.get("version"))
        if here.get(library) != pinned:
            found = here.get(library) or "none"
            yield f"sheet {number} pins {library} to {pinned}, and here is {found}"
    found = here.get(DRIVER, "")
    if _VERSION.fullmatch(driver) and not f"{found}.".startswith(f"{driver}."):
        yield f"sheet 09 states the driver {driver}, and here is {found or 'none'}"
