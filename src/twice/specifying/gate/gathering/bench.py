"""What gatherers work at: the project, the plan, a folder of their own, and the trial that several share.

Invariant: the trial is recorded once, and every gatherer that asks sees the same record or the same
refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from twice.errors import SpecIncomplete, TwiceError
from twice.foundation.seeds import Seed
from twice.recording.config import parse_settings
from twice.recording.naming import parse_program
from twice.recording.program import Program
from twice.recording.recorder import record
from twice.recording.runrecord import RunRecord
from twice.specifying.gate.evidence import Code
from twice.specifying.gate.plan import Plan

Doing = Callable[[str], None]


class ReadsCode(Protocol):
    """Reads source code for findings and audits, and runs none of it."""

    def __call__(self, project: Path, sources: Sequence[str], /) -> Code:
        """Give what it saw in folders and files of a project."""


class Bench:
    """Where evidence is made.

    Args:
        project: the folder in which the workspace lies, which is the current folder.
        plan: what is to be run.
        scratch: a folder of its own, empty.
        reads_code: reads source code.
        doing: called with what is being done.
    """

    def __init__(
        self, project: Path, plan: Plan, scratch: Path, reads_code: ReadsCode, doing: Doing
    ) -> None:
        self.project = project
        self.plan = plan
        self.scratch = scratch
        self.reads_code = reads_code
        self.doing = doing
        self._trial: Path | TwiceError | None = None

    def program(self) -> Program:
        """Give the program of sheet 00.

        Raises:
            SpecIncomplete: E-SPEC-005, when it names none. ProgramNotFound: E-PROGRAM-001.
        """
        if not self.plan.program or self.plan.seed is None:
            missing = "program" if not self.plan.program else "seed"
            raise SpecIncomplete(
                f"Sheet 00 names no {missing}.",
                "Expected what the gate is to execute, and the master seed.",
                "Say both in its head.",
            )
        return parse_program(self.plan.program, cwd=self.project)

    def recorded(self, program: Program, name: str) -> Path:
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
        """Give the record of the program, recorded when it is first asked for.

        Raises:
            TwiceError: why there is none; the same each time.
        """
        if self._trial is None:
            self.doing(f"recording {self.plan.program}")
            try:
                self._trial = self._checked(self.recorded(self.program(), "trial.twice"))
            except TwiceError as error:
                self._trial = error
        if isinstance(self._trial, TwiceError):
            raise self._trial
        return self._trial

    def _checked(self, path: Path) -> Path:
        """Refuse a run that did not come to its end: what it shows is not what was promised."""
        with RunRecord.open(path) as found:
            ending = found.ending or {}
            exception = ending.get("exception")
            if ending.get("exit_code") == 0:
                return path
        what = f"{exception['type']}: {exception['message']}" if exception else ending.get("how")
        raise SpecIncomplete(
            f"{self.plan.program} did not come to its end: {what}.",
            "Expected a program that runs with the seed and the configuration of sheet 00.",
            "Mend the program, or the sheet.",
        )


def because(error: TwiceError) -> str:
    """Give the reason that an error is, as a clause."""
    return f"{error.happened.rstrip('.')} ({error.id})"
