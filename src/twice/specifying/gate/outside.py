"""Evidence lies in the project: what a sheet names elsewhere, or behind a link that leads elsewhere, is refused.

Whoever clones the project would not have it, and nobody would see it change.

Invariant: nothing is read but links.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.errors import SheetRefused
from twice.specifying.artifact import Artifact
from twice.specifying.workspace import FOLDER, Workspace

_ONE: Final = (("01", "vector"), ("12", "database"), ("13", "measured"))
_SEVERAL: Final = (("00", "sources"), ("02", "audit"), ("10", "audit"), ("12", "tests"))
_EVIDENCE: Final = f"{FOLDER}/evidence"


def refuse_outside(workspace: Workspace) -> None:
    """Refuse a specification whose evidence lies outside of its project.

    Raises:
        SheetRefused: E-SPEC-001, with the sheet and the line.
    """
    project = workspace.project.resolve()
    for sheet, key, named in _named(workspace):
        place = (project / named).resolve()
        if place.is_relative_to(project):
            continue
        line = sheet.line_of(key)
        link = "" if named.startswith(("/", "..")) else ", by a link,"
        raise SheetRefused(
            f"{sheet.path}:{line}: {key} names {named}, which lies{link} outside of the project.",
            "Expected a path in the project, with nothing on the way that leads out of it.",
            "Put it into the project, and name it from the project's folder.",
            path=sheet.path,
            line=line,
            key=key,
        )
    for each in workspace.artifacts.values():
        if not (project / each.path).resolve().is_relative_to(project):
            raise SheetRefused(
                f"{each.path}:1: the sheet lies, by a link, outside of the project.",
                "Expected the sheets in the project, with nothing on the way that leads out of it.",
                "Put the file itself there.",
                path=each.path,
                line=1,
            )
    if not (project / _EVIDENCE).resolve().is_relative_to(project):
        raise SheetRefused(
            f"{_EVIDENCE} is a link that leads out of the project.",
            "Expected a folder in the project: reports and evidence are kept there.",
            f"Make it a folder: rm {_EVIDENCE} && mkdir {_EVIDENCE}",
            path=_EVIDENCE,
        )


def _named(workspace: Workspace) -> Iterator[tuple[Artifact, str, str]]:
    for number, key in _ONE:
        sheet = workspace.get(number)
        if sheet is not None and sheet.said(key):
            yield sheet, key, sheet.said(key)
    for number, key in _SEVERAL:
        sheet = workspace.get(number)
        if sheet is not None:
            for each in sheet.listed(key):
                yield sheet, key, each.partition("::")[0]
