"""``twice check --confirm PROGRAM``: its options, what they refuse, and a report with what runs said.

Invariant: without ``--confirm`` nothing is run, and what stands after ``--`` is a path as before.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from twice.checking.report import Report, Tried
from twice.errors import UsageError
from twice.foundation.determinism_class import DeterminismClass

_FORMATS = ("text", "json", "jsonl")
_CHANGING = ("fix", "diff", "baseline_accept", "baseline_update", "statistics")


def arrange_confirm(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add(
        "--confirm",
        metavar="PROGRAM",
        help="run it, as twice vary does, in what findings speak of; a module as --confirm='-m package'",
    )
    add("--seed", help="with --confirm: master seed; or the variable TWICE_SEED")
    add("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings", help="with --confirm: one value of run.config; repeatable")  # fmt: skip
    parser.set_defaults(arguments=[])


def settle_arguments(options: argparse.Namespace) -> None:
    """Refuse what makes no sense with or without ``--confirm``; put paths after ``--`` where they belong.

    Raises:
        UsageError: E-USE-001.
    """
    if options.confirm is None:
        options.paths = [*options.paths, *map(Path, options.arguments)]
        given = "--seed" if options.seed is not None else "--set" if options.settings else ""
        if given:
            raise _wrong(
                f"{given} was given without --confirm.", "It is for the program that is run."
            )
        return
    form = "json" if options.json else options.format
    if form not in _FORMATS:
        said = f"Expected --format {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}."
        raise _wrong(f"--confirm was given with --format {form}.", said)
    for name in _CHANGING:
        if getattr(options, name):
            option = f"--{name.replace('_', '-')}"
            raise _wrong(
                f"--confirm was given with {option}.", "Expected one of the two at a time."
            )


def confirmed(report: Report, files: Sequence[str], options: argparse.Namespace) -> Report:
    """Run the program, and give the report with what that said of the findings.

    Raises:
        UsageError: E-USE-001. ProgramNotFound: E-PROGRAM-001. ProgramFailed: E-PROGRAM-003.
        SeedMissing: E-SEED-001.
    """
    from twice.foundation.determinism_class import Predicate
    from twice.recording.config import parse_settings
    from twice.surfaces.cli.showing import Doing
    from twice.surfaces.cli.starting import program_of, seed_of
    from twice.surfaces.confirming import confirm, require_program

    kind = report.policy.kind
    if kind is DeterminismClass.STATISTICAL:
        raise _wrong(
            "--confirm was given with the statistical class.",
            "Expected bit-exact or logical: one run more says nothing of a distribution.",
        )
    require_program(options.confirm)
    named = argparse.Namespace(module=None, program=options.confirm, arguments=options.arguments)
    taken = [each.finding for each in (*report.suppressed, *report.baselined)]
    with Doing() as doing:
        found = confirm(
            [*report.findings, *taken],
            program_of(named, "check --confirm"),
            seed=seed_of(options),
            config=parse_settings(options.settings),
            checked=files,
            predicate=Predicate.parse([str(kind)], "host"),
            progress=doing,
        )
    shown = {each.fingerprint for each in report.shown}
    every = [*report.findings, *taken]
    return replace(
        report,
        tried=Tried(
            lines={each.fingerprint: found.line(each) for each in every},
            witnesses={
                each.fingerprint: witness
                for each in every
                if (witness := found.witness(each)) is not None
            },
            summary=found.to_json(),
            text=found.to_text(hidden=[each for each in every if each.fingerprint not in shown]),
            parted=found.parted,
        ),
    )


def _wrong(given: str, expected: str) -> UsageError:
    return UsageError(
        given, expected, "For example: twice check src --confirm run.py:main --seed 1"
    )
