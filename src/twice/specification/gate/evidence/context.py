"""What evidence is made with: the sheets, a folder of its own, and the trial that several kinds share.

Invariant: the trial is recorded once, and whoever asks for it sees the same record or the same refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from twice.errors import TwiceError
from twice.foundation.seeds import Seed
from twice.recorder.program import Program
from twice.recorder.program_spec import parse_program
from twice.recorder.recorder import record
from twice.recorder.runrecord import RunRecord
from twice.specification.errors import SpecIncomplete
from twice.specification.gate.plan import plan_recording
from twice.specification.tiers import Trait
from twice.specification.workspace import Workspace

Doing = Callable[[str], None]


class MissingEvidence(Exception):
    """Evidence cannot be made, or was not; its text is the reason, as a clause."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Evidence that is not there, and why, as a clause."""

    reason: str


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A place in source code: the call or a few words, its function ("" at the top), and how a fault there is told."""

    path: str
    line: int
    what: str
    function: str = ""
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"

    def is_accepted(self, accepted: Collection[str]) -> bool:
        """Whether its file, or its function in it, is among the places that a sheet accepts."""
        return self.path in accepted or f"{self.path}:{self.function}" in accepted


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """What ``twice check`` says: the rule, the sheet that settles it, and where."""

    rule: str
    sheet: str
    place: SourcePlace


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What is read from source code, without running it, of places outside of tests.

    Those that draw, make or seed, of which ``orphans`` have no owner; generators that are ``shared``; questions ``asked``
    to the world, of which ``raw`` ones go beside the effects layer; imports of mocks and of pickle; what is ``reported``
    at medium or above and accepted by nobody; what could not be read; and which traits of 00 are ``present`` for certain,
    each with a place.
    """

    draws: tuple[SourcePlace, ...] = ()
    orphans: tuple[SourcePlace, ...] = ()
    shared: tuple[SourcePlace, ...] = ()
    asked: tuple[SourcePlace, ...] = ()
    raw: tuple[SourcePlace, ...] = ()
    mocks: tuple[SourcePlace, ...] = ()
    pickles: tuple[SourcePlace, ...] = ()
    reported: tuple[ReportedFinding, ...] = ()
    unread: tuple[SourcePlace, ...] = ()
    present: Mapping[Trait, str] = field(default_factory=dict)


ReadsCode = Callable[[Path, Sequence[str]], SourceFacts]
"""Reads folders and files of a project for findings and audits, and runs none of it."""


class EvidenceContext:
    """Where evidence is made, for the sheets as they were read when the gate began; the project is the current folder.

    ``scratch`` is an empty folder; ``doing`` is called with what is being done.
    """

    def __init__(
        self, workspace: Workspace, scratch: Path, reads_code: ReadsCode, doing: Doing
    ) -> None:
        self.workspace, self.project = workspace, workspace.project
        self.scratch, self.reads_code, self.doing = scratch, reads_code, doing
        self._trial: Path | TwiceError | None = None

    def explain(self, error: TwiceError) -> str:
        """Return the reason that an error gives, as a clause without a folder of this machine."""
        return self.hide_folders(f"{error.happened.rstrip('.')} ({error.id})")

    def hide_folders(self, text: str) -> str:
        """Cut the folders of this machine out of a text: equal evidence has to give equal reports."""
        return text.replace(f"{self.scratch}/", "").replace(f"{self.project}/", "")

    def program(self) -> Program:
        """Return the program of sheet 00, or raise SpecIncomplete (E-SPEC-005), ProgramNotFound (E-PROGRAM-001)."""
        named, seed = self.workspace.text("00", "program"), self.workspace.value("00", "seed")
        if not named or seed is None:
            raise SpecIncomplete(
                f"Sheet 00 names no {'seed' if named else 'program'}.",
                "Expected the program that the gate executes, and its master seed.",
                "Answer both: twice spec fill 00",
            )
        return parse_program(named, cwd=self.project)

    def record(self, program: Program, name: str) -> Path:
        """Record a program as the sheets say, which name one of their own; whatever recording refuses is raised."""
        seed, out = self.workspace.value("00", "seed"), self.scratch / name
        assert isinstance(seed, int), "sheets that name a program name a seed as well"
        how = plan_recording(self.workspace)
        record(program, seed=Seed(seed), out=out, in_copy=True, **how).close()
        return out

    def trial(self) -> Path:
        """Return the record of the program, recorded when it is first asked for; a refusal is the same each time."""
        if self._trial is None:
            self.doing(f"recording {self.workspace.text('00', 'program')}")
            try:
                self._trial = self.record(self.program(), "trial.twice")
                self._refuse_unfinished(self._trial)
            except TwiceError as error:
                self._trial = error
        if isinstance(self._trial, TwiceError):
            raise self._trial
        return self._trial

    def _refuse_unfinished(self, path: Path) -> None:
        """Refuse a run that did not run to its end: it shows nothing about the promise."""
        with RunRecord.open(path) as found:
            ending: dict[str, Any] = dict(found.ending or {})
        if ending.get("exit_code") == 0:
            return
        exception = ending.get("exception")
        what = f"{exception['type']}: {exception['message']}" if exception else ending.get("how")
        raise SpecIncomplete(
            f"{self.workspace.text('00', 'program')} did not run to its end: {what}.",
            "Expected a program that runs with the seed and the configuration of sheet 00.",
            "Correct the program, or the sheet.",
        )
