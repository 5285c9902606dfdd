"""The folder ``determinism-and-replay``: all sheets of one specification, read and checked together.

Invariant: a sheet is named by its number alone; two files with one number are an error, never a choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from twice.errors import SheetRefused, SheetVersion, SpecForeign, WorkspaceRefused
from twice.specifying.artifact import Artifact, decoded, look_at
from twice.specifying.change_table import EDGES
from twice.specifying.refusing import together
from twice.specifying.sheets import SHEETS
from twice.specifying.tiers import Situation, Tier, Trait, required
from twice.writing import write

FOLDER: Final = "determinism-and-replay"
_NAMED: Final = re.compile(r"(\d\d)-[\w.-]+\.md")


@dataclass(frozen=True, slots=True)
class Workspace:
    """One specification.

    Args:
        project: the folder that the workspace lies in, from where paths in sheets are meant.
        artifacts: by number, in order.
    """

    project: Path
    artifacts: Mapping[str, Artifact]

    @property
    def folder(self) -> Path:
        """Where the sheets lie."""
        return self.project / FOLDER

    def get(self, number: str) -> Artifact | None:
        """Give a sheet, when it is there."""
        return self.artifacts.get(number)

    def need(self, number: str, why: str) -> Artifact:
        """Give a sheet that something cannot do without.

        Raises:
            WorkspaceRefused: E-SPEC-002, when it is not there.
        """
        found = self.artifacts.get(number)
        if found is None:
            raise WorkspaceRefused(
                f"{FOLDER} has no sheet {number} ({SHEETS[number].title}).",
                f"Expected it, because {why}.",
                f"Lay it down: twice spec add {number}",
                sheet=number,
            )
        return found

    def component(self) -> str:
        """Give the name of the system that is specified; "" when nobody said."""
        return next((each.said("component") for each in self.artifacts.values()), "")

    def situation(self) -> Situation:
        """Give what the requirements depend on, as far as it is said: the least tier where none is."""
        scope, promise = self.get("00"), self.get("01")
        said = (promise and promise.said("tier")) or (scope and scope.said("tier")) or Tier.XS
        traits = {}
        for row in scope.rows("traits") if scope else []:
            if "name" in row and isinstance(row.get("here"), bool):
                traits[Trait(str(row["name"]))] = row["here"] is True
        return Situation(Tier(said), promise.said("class") if promise else "", traits)

    def missing(self) -> tuple[str, ...]:
        """Give the numbers of sheets that the tier needs and that are not there."""
        return tuple(
            number for number in required(self.situation()) if number not in self.artifacts
        )


def find_workspace(start: Path) -> Path | None:
    """Give the nearest folder, here or above, that has a workspace in it."""
    start = start.resolve()
    for each in (start, *start.parents):
        if (each / FOLDER).is_dir():
            return each
    return None


def open_workspace(project: Path) -> Workspace:
    """Read every sheet of a project's workspace.

    Raises:
        WorkspaceRefused: E-SPEC-002: there is none, it has no sheet, two sheets have one number, a number is
            not known, sheets rest on each other in a circle.
        SheetRefused: E-SPEC-001, with file and line of everything in the sheets that cannot be read.
        SpecForeign: E-SPEC-006: sheets of two components in one workspace.
    """
    folder = project / FOLDER
    if not folder.is_dir():
        raise WorkspaceRefused(
            f"{project} has no folder {FOLDER}.",
            "Expected a specification there.",
            "Begin one: twice spec init",
        )
    artifacts: dict[str, Artifact] = {}
    refused: list[SheetRefused] = []
    for name in sheets_in(project):
        number = name[:2]
        if number not in SHEETS:
            raise WorkspaceRefused(
                f"{FOLDER}/{name}: there is no sheet {number}.",
                f"Expected one of {', '.join(SHEETS)}.",
                "Rename the file; a file without a number in front is left alone.",
                path=name,
            )
        if number in artifacts:
            raise WorkspaceRefused(
                f"Sheet {number} is there twice: {artifacts[number].path} and {FOLDER}/{name}.",
                "Expected one file for each number.",
                "Remove one, or take the number from its name.",
                path=name,
            )
        path = f"{FOLDER}/{name}"
        try:
            text = decoded(_bytes_of(folder / name, path), path)
            artifacts[number], faults = look_at(text, SHEETS[number], path)
            refused += faults
        except SheetVersion:
            raise
        except SheetRefused as error:
            refused.append(error)
    if refused:
        raise together(refused)
    if not artifacts:
        raise WorkspaceRefused(
            f"{FOLDER} has no sheet in it.",
            "Expected files such as 00-scope-and-goals.md there.",
            "Take them from version control, or begin anew: twice spec init",
        )
    workspace = Workspace(project, artifacts)
    _refuse_mixture(workspace)
    _refuse_circle(workspace)
    return workspace


def sheets_in(project: Path) -> list[str]:
    """Give the names of the files in a project's workspace that have a number; [] where there is none."""
    folder = project / FOLDER
    names = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
    return [name for name in names if _NAMED.fullmatch(name)]


def _bytes_of(place: Path, path: str) -> bytes:
    cause: OSError | None = None
    if place.is_file():  # Opening a pipe would wait for somebody to write into it.
        try:
            return place.read_bytes()
        except OSError as error:
            cause = error
    raise SheetRefused(
        f"{path}:1: it cannot be read: {cause.strerror if cause else 'there is no file'}.",
        "Expected a text file that may be read.",
        "Put the sheet there, or take the number from the name: what has none is left alone.",
        path=path,
        line=1,
    ) from cause


def _refuse_mixture(workspace: Workspace) -> None:
    first: Artifact | None = None
    for each in workspace.artifacts.values():
        said = each.said("component")
        if not said:
            continue
        if first is not None and first.said("component") != said:
            line = each.line_of("component")
            raise SpecForeign(
                f"{each.path}:{line}: it specifies {said!r}, and {first.path} {first.said('component')!r}.",
                "Expected one component in one workspace.",
                "Mend the name, or give the other component a folder of its own.",
                path=each.path,
                line=line,
            )
        first = first or each


def rests_on(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Give every edge: a sheet, and one that it rests on; the graph's own first."""
    yield from EDGES
    for each in workspace.artifacts.values():
        for below in each.listed("depends_on"):
            if (each.number, below) not in EDGES:
                yield each.number, below


def _refuse_circle(workspace: Workspace) -> None:
    below: dict[str, list[str]] = {}
    for above, under in rests_on(workspace):
        below.setdefault(above, []).append(under)
    for each in workspace.artifacts.values():
        line = each.line_of("depends_on")
        for under in each.listed("depends_on"):
            if under not in SHEETS:
                raise WorkspaceRefused(
                    f"{each.path}:{line}: depends_on names {under!r}.",
                    f"Expected numbers of sheets: {', '.join(SHEETS)}.",
                    "Mend the number.",
                    path=each.path,
                    line=line,
                )
            way = _way(below, under, each.number)
            if way:
                raise WorkspaceRefused(
                    f"{each.path}:{line}: sheets rest on each other in a circle: "
                    f"{' -> '.join([each.number, *way])}.",
                    "Expected sheets to rest on sheets that do not rest on them.",
                    f"Take {under} out of depends_on.",
                    path=each.path,
                    line=line,
                )


def _way(below: Mapping[str, list[str]], start: str, goal: str) -> list[str]:
    """Give a way down from one sheet to another; [] when there is none."""
    open_ways, seen = [[start]], {start}
    while open_ways:
        way = open_ways.pop(0)
        if way[-1] == goal:
            return way
        for under in below.get(way[-1], []):
            if under not in seen:
                seen.add(under)
                open_ways.append([*way, under])
    return []


def save(before: Workspace, after: Workspace) -> tuple[str, ...]:
    """Write the sheets that differ, each whole or not at all; their paths.

    Raises:
        OutputUnwritable: E-OUTPUT-002: a file cannot be written; those before it in order are.
    """
    changed = []
    for number, sheet in after.artifacts.items():
        old = before.get(number)
        if old is None or old.source != sheet.source:
            write(after.project / sheet.path, sheet.source.encode())
            changed.append(sheet.path)
    return tuple(changed)
