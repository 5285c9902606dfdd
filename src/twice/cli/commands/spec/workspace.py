"""What the commands about a specification share: which project, its sheets and lock, and what is done next.

Invariant: a command is named as the next step only where it would do something.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Annotated, Final

from twice.cli.options import option
from twice.cli.output import tell
from twice.errors import TwiceError, UsageError
from twice.specification.changes import compare_sheet
from twice.specification.consolidate import CONSOLIDATION, Consolidated, list_last_steps
from twice.specification.cost.result import EVIDENCE as COSTS
from twice.specification.create import find_blocker
from twice.specification.fill import fill_workspace, list_unknown
from twice.specification.gate.runner import EVIDENCE
from twice.specification.location import FOLDER, find_workspace
from twice.specification.lock import NAME, Lock, read_lock
from twice.specification.scaffold.lock import NAME as SCAFFOLDED
from twice.specification.scaffold.reader import SheetReader, record_arguments
from twice.specification.schema import SHEETS
from twice.specification.workspace import Workspace, find_forced_tier, open_component

SETTLED: Final = "settled: sheet 99 names the gate that passed"
_ABOUT_SHEETS: Final = re.compile(r"\btwice (?:spec|gate|cost)\b")
_MEASURED: Final = frozenset({("13", "rules"), ("13", "measured")})
_RECORDED: Final = frozenset({("01", "vector"), ("01", "vector_digest")})


@dataclass(frozen=True, slots=True)
class ProjectOptions:
    """Which project is meant."""

    project: Annotated[Path | None, option(
        "--project FOLDER", "the nearest above that has sheets by default")]  # fmt: skip

    def folder(self) -> Path:
        """Give the folder that the workspace lies in, or would."""
        if self.project is None:
            return find_workspace(Path()) or Path()
        if not self.project.is_dir():
            raise UsageError(
                f"{self.project} is no folder.",
                "Expected the project's folder.",
                "See: twice spec --help",
            )
        return self.project


@dataclass(frozen=True, slots=True)
class WorkspaceOptions(ProjectOptions):
    """Which specification is meant."""

    component: Annotated[str | None, option(
        "--component NAME", "whose sheets, where a project has several components")]  # fmt: skip

    @property
    def is_given(self) -> bool:
        """Whether one was named."""
        return self.project is not None or self.component is not None

    def open(self) -> tuple[Workspace, Lock]:
        """Read the sheets and the lock."""
        workspace = open_component(self.folder(), self.component or "")
        return workspace, read_lock(workspace.folder / NAME)


def tell_spec(
    document: Mapping[str, object],
    lines: Iterable[str],
    steps: Iterable[str] | None = None,
    *,
    as_json: bool,
    code: int = 0,
) -> int:
    """Print a document, or its lines and what is done next; the exit code.

    Args:
        document: without its format.
        lines: the same in words.
        steps: what is done next, if that is said: nothing where all is settled.
        as_json: whether the document is printed.
        code: passed through.
    """
    said = [*lines]
    if steps is not None:
        marks = chain(["next: "], repeat("      "))
        said += [mark + step for mark, step in zip(marks, steps, strict=False)] or [SETTLED]
    return tell({"format": "twice.spec/1", **document}, said, as_json=as_json, code=code)


def shorten_path(workspace: Workspace, path: str) -> str:
    """Give a path of the project as a person here would write it."""
    place = workspace.project / path
    try:
        return place.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return place.as_posix()


def parse_number(said: str) -> str:
    """Read a sheet's number: ``2``, ``02``, ``02-seed-governance-spec.md``.

    Raises:
        UsageError: E-USE-001: there is no such sheet.
    """
    number = Path(said).name.partition("-")[0].zfill(2)
    if number not in SHEETS:
        names = ", ".join(f"{each} {sheet.title}" for each, sheet in SHEETS.items())
        raise UsageError(
            f"There is no sheet {said!r}.", f"Sheets: {names}.", "See: twice spec status"
        )
    return number


def describe_consolidated(whole: Consolidated) -> tuple[dict[str, str] | None, list[str]]:
    """Say what became of sheet 99: as JSON, and as a line; nothing of either where other sheets come first."""
    if whole.sheet is None:
        document = {"path": "", "version": "", "status": "", "why": whole.why}
        return (document, [f"99 was left as it is: {whole.why}"]) if whole.why else (None, [])
    path, version = shorten_path(whole.workspace, whole.sheet.path), whole.sheet.version
    status = whole.sheet.text("status")
    document = {"path": path, "version": version, "status": status, "why": whole.why}
    return document, [f"{path}: {version}, {status}: {whole.why}"]


def list_steps(workspace: Workspace, lock: Lock) -> list[str]:
    """Say what is done next with sheets, as commands; nothing once sheet 99 names the gate that passed."""
    states = {compare_sheet(workspace, lock, number).state for number in workspace.sheets}
    forced = find_forced_tier(workspace) > workspace.situation().tier
    steps = ["twice spec bump --promote"] if forced else []
    steps += list_completing(workspace)
    steps += ["twice spec changed"] if "changed" in states else []
    if not steps and (workspace.missing() or "new" in states):
        steps.append("twice spec bump")
    if lock.owed:
        owed = lock.owed[0].sheet
        steps.append(f"write sheet {owed} anew, then: twice spec bump {owed}")
    return name_component(workspace, steps or list_last_steps(workspace))


def name_component(workspace: Workspace, steps: Iterable[str]) -> list[str]:
    """Put the component into commands about sheets that lie in a folder of their own."""
    if workspace.base == FOLDER:
        return [*steps]
    named = f" --component {shlex.quote(workspace.base.rpartition('/')[2])}"
    return [each + named * bool(_ABOUT_SHEETS.search(each)) for each in steps]


def list_completing(workspace: Workspace) -> Iterator[str]:
    """Say what is done until every sheet is there and says what it has to, and code is laid down from them."""
    absent = [each for each in workspace.missing() if each != CONSOLIDATION]
    if any(find_blocker(workspace, each) is None for each in absent):
        yield "twice spec add"
    opened = {(number, key) for number, key, _ in list_unknown(workspace)}
    if not absent and not opened - _MEASURED and not (workspace.folder / SCAFFOLDED).exists():
        yield shlex.join(["twice", "scaffold", workspace.component()])
    if not opened:
        return
    try:
        # Without traits: a line that says what is next is not worth a checker's pass over every source.
        fills = bool(fill_workspace(workspace).put_in)
    except TwiceError:  # A record that cannot be read fills nothing; fill says why.
        fills = False
    if fills:
        yield "twice spec fill"
    elif opened & _RECORDED:
        program, seed = workspace.text("00", "program"), workspace.value("00", "seed")
        if program and seed is not None:
            vector = f"{workspace.base}/{EVIDENCE}/vector.twice"
            words = record_arguments(SheetReader(workspace))
            yield shlex.join(["twice", *words, "-o", vector])
            yield f"twice spec fill --record {vector}"
        else:
            yield "say program and seed in 00, from which a record is made"
    unmeasured = set() if (workspace.folder / COSTS).is_file() else opened & _MEASURED
    if unmeasured and not opened & _RECORDED:
        yield "twice cost --write"
    if opened - unmeasured - _RECORDED:
        yield "write what is open: twice spec status --open"
