"""Read Python files for what would make two runs differ, without running them.

  twice check examples
  twice check examples --class logical --json
  twice check examples --select concurrency --statistics
  twice check examples --diff
  twice check examples --confirm examples/swarm.py:main --seed 42 --set n=4 --set ticks=20
  twice check --explain set-order
  twice check --list

A finding comes with the way of the value, the artifact that settles it and what to do. A project's
own settings stand in its pyproject.toml, in [tool.twice.check]. In the source, # twice: ignore[rule]
reason takes a finding away, and # twice: boundary reason says that the world is let in on purpose.

--confirm runs a program, as twice vary does, in the surroundings that the findings speak of, and says which
of them are facts, and what differs that no finding explains; what stands after -- is the program's own. A module
that is run with -m is named in one word: --confirm="-m package".

Exit code 0 nothing severe enough to fail on, 1 something, or runs were seen to part, 2 wrong use, or files that could not be read.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Final

import click

from twice.checking.configuring import SEVERITIES
from twice.checking.project import Project
from twice.checking.report import Report
from twice.cli.checked_project import CheckOptions, check_options, open_sources
from twice.cli.confirm.option import ConfirmOptions, confirm_options
from twice.cli.console import has_colour
from twice.cli.group import find_version, make_command
from twice.cli.options import PATH, gather, several, switch_off
from twice.cli.output import write_text
from twice.errors import UsageError
from twice.foundation.printable import printable, printable_lines

FORMATS: Final = ("text", "concise", "json", "jsonl", "sarif", "github", "junit", "markdown")
_FOR_PROGRAMS: Final = {"json", "jsonl", "sarif", "junit"}


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """How the findings are printed, and where."""

    minimum: str | None
    form: str
    as_json: bool
    out: Path | None
    force: bool
    statistics: bool
    quiet: bool

    @property
    def format(self) -> str:
        """The one format.

        Raises:
            UsageError: E-USE-001, when two were given.
        """
        if self.as_json and self.form not in {"text", "json"}:
            raise UsageError(
                f"--json and --format {self.form} were both given.",
                "Expected one format.",
                "Leave one of them out.",
            )
        return "json" if self.as_json else self.form

    def render(self, report: Report) -> str:
        """Give a report in the format."""
        if self.format in {"json", "jsonl"}:
            from twice.checking.formats import machine

            return machine.render(report) if self.format == "json" else machine.lines(report)
        if self.format in {"text", "concise"}:
            from twice.checking.formats import text

            if self.statistics:
                from twice.checking.formats import statistics

                return f"{statistics.render(report)}{text.headline(report)}\n"
            render = text.render if self.format == "text" else text.concise
            return render(report, colour=self.out is None and has_colour(sys.stdout))
        more = {"version": find_version() or "0"} if self.format == "sarif" else {}
        form = import_module(f"twice.checking.formats.{self.format}")
        return str(form.render(report, **more))

    def write(self, text: str) -> None:
        """Print a text, or write it to the file that was asked for."""
        if self.out is not None or not self.quiet:
            write_text(text, self.out, force=self.force)


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """What is changed in the sources or in the baseline."""

    fix: bool
    unsafe_fixes: bool
    diff: bool
    baseline_accept: str | None
    baseline_update: bool

    def require_sensible(self, baseline: Path | None) -> None:
        """Refuse options that make no sense together.

        Raises:
            UsageError: E-USE-001.
        """
        changes = self.baseline_accept is not None or self.baseline_update
        if changes and baseline is None:
            raise UsageError(
                "The baseline was to be changed, and there is none.",
                "Expected --baseline FILE, or the key baseline in [tool.twice.check].",
                'For example: twice check --baseline twice.baseline --baseline-accept "before 1.0"',
            )
        if self.baseline_accept is not None and not self.baseline_accept.strip():
            raise UsageError(
                "--baseline-accept was given an empty reason.",
                "Expected a few words that say why these findings may stay.",
                'For example: --baseline-accept "legacy plots, replaced in 2.0"',
            )
        if self.diff and changes:
            raise UsageError(
                "--diff was given with --baseline-accept or --baseline-update.",
                "It says what would be changed in the source, and writes nothing.",
                "Leave one of them out.",
            )
        if self.unsafe_fixes and not (self.fix or self.diff):
            raise UsageError(
                "--unsafe-fixes was given without --fix and --diff.",
                "It says which fixes these two apply.",
                "For example: twice check --diff --unsafe-fixes",
            )

    def names(self) -> list[str]:
        """Name the options that were given."""
        names = [
            each.name for each in fields(self) if getattr(self, each.name) not in {None, False}
        ]
        return [f"--{name.replace('_', '-')}" for name in names]

    def apply(self, project: Project, report: Report, files: Sequence[str]) -> Report:
        """Change the sources and the baseline; the report on what they are then."""
        if self.fix:
            applied = 0
            for path, one in project.mended(report, unsafe=self.unsafe_fixes).items():
                if project.put(path, one):
                    applied += one.fixes
                else:
                    _note(f"{path} was changed by somebody else meanwhile, and left as it is")
            _note(f"{_count(applied, 'fix', 'fixes')} applied")
            report = project.report(files) if applied else report
        if self.baseline_accept is not None:
            added = _count(project.accept(report, self.baseline_accept), "finding", "findings")
            _note(f"{added} put into {project.baseline}, for: {self.baseline_accept}")
            report = project.report(files)
        if self.baseline_update:
            gone = _count(project.shrink(report), "stale entry", "stale entries")
            _note(f"{gone} taken out of {project.baseline}")
            report = project.report(files)
        return report


@make_command(
    check_options(
        several("--select", "select", metavar="RULE", help="these rules or channels only, also with commas"),
        several("--ignore", "ignore", metavar="RULE", help="not these"),
        click.option("--fail-on", type=click.Choice([*SEVERITIES]), help="from which severity on to exit 1; default high"),
        switch_off("--no-follow", "follow", help="do not follow values: quicker, and less is known"),
        click.option("-j", "--jobs", type=click.IntRange(1), metavar="N", help="processes; default one for each processor"),
        switch_off("--no-cache", "cache", help="keep nothing in .twice_cache"),
        click.option("--baseline", type=PATH, metavar="FILE", help="findings that were accepted"),
        required=False,
    ),
    gather(
        "output",
        FormatOptions,
        click.option("--min", "minimum", type=click.Choice([*SEVERITIES]), help="from which severity on to show; default medium, for programs low"),
        click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="of the findings"),
        click.option("--json", "as_json", is_flag=True, help="print one JSON document, as --format json"),
        click.option("-o", "--out", type=PATH, metavar="FILE", help="write the findings to a file"),
        click.option("--force", is_flag=True, help="replace an existing file"),
        click.option("--statistics", is_flag=True, help="how often each rule found something, instead"),
        click.option("-q", "--quiet", is_flag=True, help="print nothing; the exit code says it"),
    ),
    gather(
        "changes",
        ChangeOptions,
        click.option("--fix", is_flag=True, help="apply the fixes that are safe"),
        click.option("--unsafe-fixes", is_flag=True, help="with --fix or --diff: all fixes"),
        click.option("--diff", is_flag=True, help="print what --fix would change, and write nothing"),
        click.option("--baseline-accept", metavar="REASON", help="put all that stands into the baseline"),
        click.option("--baseline-update", is_flag=True, help="take what is gone out of the baseline"),
    ),
    click.option("--explain", metavar="RULE", help="print the page of a rule"),
    click.option("--list", "lists", is_flag=True, help="print all rules, by channel"),
    confirm_options,
    splits=True,
)  # fmt: skip
def command(
    options: CheckOptions,
    output: FormatOptions,
    changes: ChangeOptions,
    explain: str | None,
    lists: bool,
    confirm: ConfirmOptions,
) -> int:
    """Check, print the findings, and say by the exit code what came of it."""
    if lists or explain:
        from twice.checking.formats.explaining import explanation, listing

        output.write(explanation(explain) if explain and not lists else listing())
        return 0
    others = [*changes.names(), *(["--statistics"] if output.statistics else [])]
    confirm.require_sensible(output.format, others)
    after = () if confirm.program is not None else tuple(map(Path, confirm.arguments))
    sources = open_sources(replace(options, paths=(*options.paths, *after) or (Path(),)))
    files = sources.files
    changes.require_sensible(sources.project.baseline)
    shown = SEVERITIES[output.minimum or ("low" if output.format in _FOR_PROGRAMS else "medium")]
    project = replace(
        sources.project,
        shown_from=min(shown, sources.project.fail_on),  # What fails is seen.
        begins_baseline=changes.baseline_accept is not None,
    )
    report = project.report(files)
    if changes.diff:
        from twice.checking.fixing import difference

        mended = project.mended(report, unsafe=changes.unsafe_fixes)
        said = "".join(difference(path, one) for path, one in mended.items())
        # Elsewhere than on a terminal it is applied as a patch.
        is_seen = output.out is None and sys.stdout.isatty()
        output.write(printable_lines(said) if is_seen else said)
        return 1 if mended else 0
    report = changes.apply(project, report, files)
    if confirm.program is not None:
        report = confirm.try_findings(report, files)
    output.write(output.render(report))
    return report.exit_code


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _note(said: str) -> None:
    print(printable(said), file=sys.stderr)
