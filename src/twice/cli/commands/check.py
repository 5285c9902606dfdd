r"""Read Python files for what would make two runs differ, without running them.

  twice check examples
  twice check examples --class logical --json
  twice check examples --select concurrency --statistics
  twice check examples --diff
  twice check examples --confirm examples/swarm.py:main --seed 42 \
      --set n=4 --set ticks=20
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
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from twice.cli.checked_project import RuleOptions, SourceOptions, open_sources
from twice.cli.console import has_colour
from twice.cli.options import (
    AFTER_DASHES,
    argument,
    build_command,
    option,
    refuse_together,
    refuse_without,
)
from twice.cli.output import print_beside, write_text
from twice.errors import UsageError
from twice.foundation.printable import pluralize, printable_lines
from twice.foundation.severity import SEVERITIES

if TYPE_CHECKING:
    from twice.checker.project import Project
    from twice.checker.report import Report

FORMATS: Final = ("text", "json", "jsonl", "sarif", "github", "junit")
_CONFIRMED_FORMATS: Final = ("text", "json", "jsonl")
_FOR_PROGRAMS: Final = {"json", "jsonl", "sarif", "junit"}


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """How the findings are printed, and where."""

    # fmt: off
    minimum: Annotated[str | None, option(
        "--min", "from which severity on to show; default medium, for programs low", SEVERITIES)]
    form: Annotated[str, option("--format", "of the findings", FORMATS, default="text")]
    as_json: Annotated[bool, option("--json", "print one JSON document, as --format json")]
    out: Annotated[Path | None, option("-o, --out FILE", "write the findings to a file")]
    force: Annotated[bool, option("--force", "replace an existing file")]
    statistics: Annotated[bool, option("--statistics", "how often each rule found something, instead")]
    quiet: Annotated[bool, option("-q, --quiet", "print nothing; the exit code says it")]
    # fmt: on

    @property
    def format(self) -> str:
        """The one format.

        Raises:
            UsageError: E-USE-001, when two were given.
        """
        is_other = self.form not in {"text", "json"}
        refuse_together({"--json": self.as_json, f"--format {self.form}": is_other}, "one format")
        return "json" if self.as_json else self.form

    def render(self, report: Report) -> str:
        """Give a report in the format."""
        if self.format == "text":
            from twice.checker.formats import text

            if self.statistics:
                return text.render_statistics(report)
            return text.render(report, colour=self.out is None and has_colour(sys.stdout))
        is_lines = self.format == "jsonl"
        module = import_module(f"twice.checker.formats.{'json' if is_lines else self.format}")
        return str(module.render_lines(report) if is_lines else module.render(report))

    def write(self, text: str) -> None:
        """Print a text, or write it to the file that was asked for."""
        if self.out is not None or not self.quiet:
            write_text(text, self.out, force=self.force)


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """What is changed in the sources or in the baseline."""

    # fmt: off
    fix: Annotated[bool, option("--fix", "apply the fixes that are safe")]
    unsafe_fixes: Annotated[bool, option("--unsafe-fixes", "with --fix or --diff: all fixes")]
    diff: Annotated[bool, option("--diff", "print what --fix would change, and write nothing")]
    baseline_accept: Annotated[str | None, option("--baseline-accept REASON", "put all that stands into the baseline")]
    baseline_update: Annotated[bool, option("--baseline-update", "take what is gone out of the baseline")]
    # fmt: on

    def require_sensible(self, baseline: Path | None) -> None:
        """Refuse options that make no sense together.

        Raises:
            UsageError: E-USE-001.
        """
        accept, update = self.baseline_accept, self.baseline_update
        changes = {"--baseline-accept": accept, "--baseline-update": update}
        refuse_without(changes, {"--baseline": baseline})
        shown = {"--diff": self.diff}
        for name, value in changes.items():
            refuse_together({**shown, name: value}, "one of them: --diff writes nothing")
        refuse_without({"--unsafe-fixes": self.unsafe_fixes}, {"--fix": self.fix, **shown})
        if self.baseline_accept is not None and not self.baseline_accept.strip():
            raise UsageError(
                "--baseline-accept was given an empty reason.",
                "Expected a few words that say why these findings may stay.",
                'For example: --baseline-accept "legacy plots, replaced in 2.0"',
            )

    def apply(self, project: Project, report: Report, files: Sequence[str]) -> Report:
        """Change the sources and the baseline; the report on what they are then."""
        if self.fix:
            applied = 0
            for path, one in project.fix(report, unsafe=self.unsafe_fixes).items():
                if project.put(path, one):
                    applied += one.fixes
                else:
                    _note(f"{path} was changed by somebody else meanwhile, and left as it is")
            _note(f"{pluralize(applied, 'fix', 'fixes')} applied")
            report = project.report(files) if applied else report
        if self.baseline_accept is not None:
            added = pluralize(project.accept(report, self.baseline_accept), "finding", "findings")
            _note(f"{added} put into {project.baseline}, for: {self.baseline_accept}")
            report = project.report(files)
        if self.baseline_update:
            gone = pluralize(project.shrink(report), "stale entry", "stale entries")
            _note(f"{gone} taken out of {project.baseline}")
            report = project.report(files)
        return report


@dataclass(frozen=True, slots=True)
class ConfirmOptions:
    """The program that is run, and what it is given."""

    # fmt: off
    program: Annotated[str | None, option(
        "--confirm PROGRAM",
        "run it, as twice vary does, in what findings speak of; a module as --confirm='-m package'")]
    seed: Annotated[str | None, option(
        "--seed N", "with --confirm: master seed; or the variable TWICE_SEED")]
    settings: Annotated[tuple[str, ...], option(
        "--set KEY=VALUE", "with --confirm: one value of run.config")]
    arguments: Annotated[tuple[str, ...], AFTER_DASHES] = ()
    # fmt: on

    def require_sensible(self, form: str, changes: ChangeOptions, *, counts: bool) -> None:
        """Refuse what makes no sense with or without ``--confirm``.

        Raises:
            UsageError: E-USE-001.
        """
        given = {"--confirm": self.program}
        refuse_without({"--seed": self.seed, "--set": self.settings}, given)
        others = {f"--{name.replace('_', '-')}": value for name, value in asdict(changes).items()}
        others |= {f"--format {form}": form not in _CONFIRMED_FORMATS, "--statistics": counts}
        for name, value in others.items():
            refuse_together({**given, name: value}, "one of the two at a time")
        if self.program == "-m":
            raise UsageError(
                "--confirm was given -m without its module.",
                "Expected a program: file.py:function, package.module:function, a script, or a module.",
                "For example: twice check src --confirm='-m package' --seed 1",
            )


@dataclass(frozen=True, slots=True)
class OptionalPaths(SourceOptions):
    """Sources that are the current folder when none is named."""

    paths: Annotated[tuple[Path, ...], argument(metavar="[PATH]...")]


@build_command
def command(
    options: OptionalPaths,
    rules: RuleOptions,
    output: FormatOptions,
    changes: ChangeOptions,
    explain: Annotated[str | None, option("--explain RULE", "print the page of a rule")],
    lists: Annotated[bool, option("--list", "print all rules, by channel")],
    confirm: ConfirmOptions,
) -> int:
    """Check, print the findings, and say by the exit code what came of it."""
    if lists or explain:
        from twice.checker.formats.text import explain_rule, list_rules

        output.write(explain_rule(explain) if explain and not lists else list_rules())
        return 0
    confirm.require_sensible(output.format, changes, counts=output.statistics)
    after = () if confirm.program is not None else tuple(map(Path, confirm.arguments))
    paths = (*options.paths, *after) or (Path(),)
    sources = open_sources(replace(options, paths=paths), rules)
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
        from twice.checker.fixes import render_diff

        fixed = project.fix(report, unsafe=changes.unsafe_fixes)
        said = "".join(render_diff(path, one) for path, one in fixed.items())
        # Elsewhere than on a terminal it is applied as a patch.
        is_seen = output.out is None and sys.stdout.isatty()
        output.write(printable_lines(said) if is_seen else said)
        if report.findings and not fixed:
            stand = pluralize(len(report.findings), "finding stands", "findings stand")
            _note(f"nothing can be corrected safely, and {stand}: run without --diff to see them")
        return 1 if fixed else 0
    report = changes.apply(project, report, files)
    if confirm.program is not None:
        from twice.cli.confirmation import try_findings
        from twice.cli.run_options import ProgramOptions, StartOptions

        program = ProgramOptions(confirm.program, confirm.arguments)
        start = StartOptions(confirm.seed, None, confirm.settings, ())
        report = try_findings(report, files, program, start)
    output.write(output.render(report))
    return report.exit_code


def _note(said: str) -> None:
    print_beside(said)
