"""``twice check --confirm PROGRAM``: its options, what they refuse, and a report with what runs said.

Invariant: without ``--confirm`` nothing is run, and what stands after ``--`` is a path as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import click

from twice.checking.report import Report
from twice.cli.options import gather, several
from twice.errors import UsageError
from twice.foundation.determinism_class import DeterminismClass, Predicate

_FORMATS: Final = ("text", "json", "jsonl")


@dataclass(frozen=True, slots=True)
class ConfirmOptions:
    """The program that is run, and what it is given."""

    program: str | None
    seed: str | None
    settings: tuple[str, ...]
    arguments: tuple[str, ...] = ()

    def require_sensible(self, form: str, others: Sequence[str]) -> None:
        """Refuse what makes no sense with or without ``--confirm``.

        Args:
            form: of the findings.
            others: options that were given and change something, or print something else.

        Raises:
            UsageError: E-USE-001.
        """
        if self.program is None:
            given = "--seed" if self.seed is not None else "--set" if self.settings else ""
            if given:
                expected = "It is for the program that is run."
                raise _wrong(f"{given} was given without --confirm.", expected)
        elif self.program == "-m":
            raise UsageError(
                "--confirm was given -m without its module.",
                "Expected a program: file.py:function, package.module:function, a script, or a module.",
                "For example: twice check src --confirm='-m package' --seed 1",
            )
        elif form not in _FORMATS:
            expected = f"Expected --format {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}."
            raise _wrong(f"--confirm was given with --format {form}.", expected)
        elif others:
            expected = "Expected one of the two at a time."
            raise _wrong(f"--confirm was given with {others[0]}.", expected)

    def try_findings(self, report: Report, files: Sequence[str]) -> Report:
        """Run the program, and give the report with what that said of the findings.

        Raises:
            UsageError: E-USE-001. ProgramNotFound: E-PROGRAM-001. ProgramFailed: E-PROGRAM-003.
            SeedMissing: E-SEED-001.
        """
        from twice.cli.confirm.experiments import Experiment
        from twice.cli.confirm.rule_factors import find_factors
        from twice.cli.console import Status
        from twice.cli.run_options import ProgramOptions, StartOptions
        from twice.diagnosis.vary.report import BASELINE
        from twice.diagnosis.vary.search import vary

        kind = report.policy.kind
        if kind is DeterminismClass.STATISTICAL:
            raise _wrong(
                "--confirm was given with the statistical class.",
                "Expected bit-exact or logical: one run more says nothing of a distribution.",
            )
        program = ProgramOptions(self.program, self.arguments)
        if program.records():
            raise UsageError(
                f"--confirm was given {self.program}, which is no program.",
                "Expected file.py:function, package.module:function, or a script.",
                f"A record is varied by: twice vary {self.program}",
            )
        start = StartOptions(self.seed, None, self.settings, ())
        taken = (each.finding for each in (*report.suppressed, *report.baselined))
        every = [*report.findings, *taken]
        factors = dict.fromkeys(each for one in every for each in find_factors(one.found.rule))
        factors.pop(BASELINE, None)
        with Status() as status:
            variation = vary(
                program.find("check --confirm"),
                seed=start.master_seed(),
                config=start.values(),
                factors=[*factors],
                skip_unable=True,
                predicate=Predicate.parse([str(kind)], "host"),
                progress=status,
            )
        shown = {each.fingerprint for each in report.shown}
        hidden = [each for each in every if each.fingerprint not in shown]
        return replace(report, tried=Experiment(every, variation, files).to_tried(hidden))


confirm_options: Final = gather(
    "confirm",
    ConfirmOptions,
    click.option(
        "--confirm", "program", metavar="PROGRAM",
        help="run it, as twice vary does, in what findings speak of; a module as --confirm='-m package'",
    ),
    click.option("--seed", metavar="N", help="with --confirm: master seed; or the variable TWICE_SEED"),
    several(
        "--set", "settings", metavar="KEY=VALUE", help="with --confirm: one value of run.config"
    ),
)  # fmt: skip


def _wrong(given: str, expected: str) -> UsageError:
    remedy = "For example: twice check src --confirm run.py:main --seed 1"
    return UsageError(given, expected, remedy)
