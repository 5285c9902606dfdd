"""What evidence is made with: the sheets, the plan, a folder of its own, and the trial that several kinds share.

Invariant: the trial is recorded once, and whoever asks for it sees the same record or the same refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from twice.errors import TwiceError
from twice.foundation.seeds import Seed
from twice.recording.config import parse_settings
from twice.recording.naming import parse_program
from twice.recording.program import Program
from twice.recording.recorder import record
from twice.recording.runrecord import RunRecord
from twice.specification.errors import SpecIncomplete
from twice.specification.gate.plan import GatePlan
from twice.specification.workspace import Workspace

Doing = Callable[[str], None]


class MissingEvidence(Exception):
    """Evidence cannot be made, or was not; its text is the reason, as a clause."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Evidence that is not there.

    Args:
        reason: why, as a clause.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A place in source code.

    Args:
        path: relative to the project.
        line: from 1.
        what: the call, or a few words.
        function: dotted path of the function; "" at the top of the file.
        fault: what is wrong there, as the end of a sentence; "" where that goes without saying.
    """

    path: str
    line: int
    what: str
    function: str = ""
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """What ``twice check`` says.

    Args:
        rule: the rule.
        sheet: the sheet that settles it.
        place: where.
    """

    rule: str
    sheet: str
    place: SourcePlace


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What is read from source code, without running it.

    Args:
        draws: places that draw, make or seed.
        orphans: those that nobody owns, outside of tests.
        shared: generators that several owners draw from, outside of tests.
        asked: questions to the world.
        raw: those of the core that go beside the effects layer.
        mocks: code that is no test and imports mocks.
        pickles: code that is no test and imports pickle or a library like it.
        reported: findings that weigh medium or more and that nobody accepted.
        unread: files that could not be read.
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


class ReadsCode(Protocol):
    """Reads source code for findings and audits, and runs none of it."""

    def __call__(self, project: Path, sources: Sequence[str], /) -> SourceFacts:
        """Return what it saw in folders and files of a project."""


class EvidenceContext:
    """Where evidence is made; the project is the current folder.

    Args:
        workspace: the sheets, as they were read when the gate began.
        plan: what is to be run.
        scratch: a folder of its own, empty.
        reads_code: reads source code.
        doing: called with what is being done.
    """

    def __init__(
        self,
        workspace: Workspace,
        plan: GatePlan,
        scratch: Path,
        reads_code: ReadsCode,
        doing: Doing,
    ) -> None:
        self.workspace = workspace
        self.project = workspace.project
        self.plan = plan
        self.scratch = scratch
        self.reads_code = reads_code
        self.doing = doing
        self._trial: Path | TwiceError | None = None

    def explain(self, error: TwiceError) -> str:
        """Return the reason that an error gives, as a clause without a folder of this machine."""
        return self.hide_folders(f"{error.happened.rstrip('.')} ({error.id})")

    def hide_folders(self, text: str) -> str:
        """Cut the folders of this machine out of a text: equal evidence has to give equal reports."""
        return text.replace(f"{self.scratch}/", "").replace(f"{self.project}/", "")

    def program(self) -> Program:
        """Return the program of sheet 00.

        Raises:
            SpecIncomplete: E-SPEC-005, when it names none. ProgramNotFound: E-PROGRAM-001.
        """
        if not self.plan.program or self.plan.seed is None:
            raise SpecIncomplete(
                f"Sheet 00 names no {'seed' if self.plan.program else 'program'}.",
                "Expected what the gate is to execute, and the master seed.",
                "Say both in its head.",
            )
        return parse_program(self.plan.program, cwd=self.project)

    def record(self, program: Program, name: str) -> Path:
        """Record a program as the plan says.

        Raises:
            TwiceError: whatever recording refuses. SpecIncomplete: E-SPEC-005, without a seed.
        """
        plan, out = self.plan, self.scratch / name
        self.program()
        assert plan.seed is not None, "a plan without a seed has no program"
        record(
            program,
            seed=Seed(plan.seed),
            config=parse_settings(plan.config),
            out=out,
            env=plan.variables(),
            in_copy=True,
            predicate=plan.predicate,
            algorithm=plan.algorithm,
            granularity=plan.granularity,
            cadence=plan.cadence,
            strategy=plan.strategy,
        ).close()
        return out

    def trial(self) -> Path:
        """Return the record of the program, recorded when it is first asked for.

        Raises:
            TwiceError: why there is none; the same each time.
        """
        if self._trial is None:
            self.doing(f"recording {self.plan.program}")
            try:
                self._trial = self.record(self.program(), "trial.twice")
                self._refuse_unfinished(self._trial)
            except TwiceError as error:
                self._trial = error
        if isinstance(self._trial, TwiceError):
            raise self._trial
        return self._trial

    def _refuse_unfinished(self, path: Path) -> None:
        """Refuse a run that did not come to its end: what it shows is not what was promised."""
        with RunRecord.open(path) as found:
            ending: dict[str, Any] = dict(found.ending or {})
        if ending.get("exit_code") == 0:
            return
        exception = ending.get("exception")
        what = f"{exception['type']}: {exception['message']}" if exception else ending.get("how")
        raise SpecIncomplete(
            f"{self.plan.program} did not come to its end: {what}.",
            "Expected a program that runs with the seed and the configuration of sheet 00.",
            "Mend the program, or the sheet.",
        )
