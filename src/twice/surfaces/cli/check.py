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

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from twice.checking.configuring import SEVERITIES
from twice.checking.policy import TIERS
from twice.checking.project import Project
from twice.checking.reading import files_below, require_there
from twice.checking.report import Report
from twice.errors import OutputExists, OutputUnwritable, UsageError
from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.foundation.printable import printable, printable_lines
from twice.surfaces.cli import confirmed
from twice.surfaces.cli.checkedproject import (
    listed,
    project_of,
    refuse_nonsense,
    settings_for,
    workspace_of,
)
from twice.writing import write

PASSES_ON = "arguments"
MIXES = True
FORMATS = ("text", "concise", "json", "jsonl", "sarif", "github", "junit", "markdown")


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("paths", nargs="*", type=Path, metavar="PATH", help="files and folders; default .")
    add("--class", dest="kind", choices=[str(each) for each in DeterminismClass], help="the promise; default bit-exact")  # fmt: skip
    add("--scope", choices=[str(each) for each in Scope], help="how far it reaches; default host")
    add("--tier", choices=TIERS, help="from L on, a value handed to unread code weighs in full")
    add("--select", action="append", default=[], metavar="RULE", help="these rules or channels only; with commas, or repeated")  # fmt: skip
    add("--ignore", action="append", default=[], metavar="RULE", help="not these")
    add("--exclude", action="append", default=[], metavar="PATTERN", help="paths to leave out")
    add("--fail-on", choices=[*SEVERITIES], help="from which severity on to exit 1; default high")
    add("--min", choices=[*SEVERITIES], help="from which severity on to show; default medium, for programs low")  # fmt: skip
    add("--no-follow", action="store_true", help="do not follow values: quicker, and less is known")
    add("-j", "--jobs", type=int, metavar="N", help="processes; default one for each processor")
    add("--no-cache", action="store_true", help="keep nothing in .twice_cache")
    add("--config", type=Path, metavar="FILE", help="not the nearest pyproject.toml")
    add("--format", choices=FORMATS, default="text", help="of the findings")
    add("--json", action="store_true", help="print one JSON document, as --format json")
    add("-o", "--out", type=Path, metavar="FILE", help="write the findings to a file")
    add("--force", action="store_true", help="replace an existing file")
    add("--statistics", action="store_true", help="how often each rule found something, instead")
    add("-q", "--quiet", action="store_true", help="print nothing; the exit code says it")
    add("--fix", action="store_true", help="apply the fixes that are safe")
    add("--unsafe-fixes", action="store_true", help="with --fix or --diff: all fixes")
    add("--diff", action="store_true", help="print what --fix would change, and write nothing")
    add("--baseline", type=Path, metavar="FILE", help="findings that were accepted")
    add("--baseline-accept", metavar="REASON", help="put all that stands into the baseline")
    add("--baseline-update", action="store_true", help="take what is gone out of the baseline")
    add("--explain", metavar="RULE", help="print the page of a rule")
    add("--list", action="store_true", help="print all rules, by channel")
    confirmed.arrange_confirm(parser)


def run(options: argparse.Namespace) -> int:
    """Check, print the findings, and say by the exit code what came of it."""
    if options.list or options.explain:
        explaining = import_module("twice.checking.formats.explaining")
        said = explaining.listing() if options.list else explaining.explanation(options.explain)
        _say(said, options)
        return 0
    confirmed.settle_arguments(options)
    paths = options.paths or [Path()]
    require_there(paths)
    settings = settings_for(options.config, paths[0])
    refuse_nonsense(options, settings)
    project = project_of(options, settings, paths, workspace_of(paths))
    files = files_below(paths, [*settings.exclude, *listed(options.exclude)], project.policy.placed)
    if not files:
        raise UsageError(
            f"There is no Python file in {', '.join(map(str, paths))}.",
            "Expected files that end in .py, and that no pattern leaves out.",
            "For example: twice check src",
        )
    report = project.report(files)
    if options.diff:
        return _diff(project, report, options)
    if options.fix:
        report = _fix(project, report, files, unsafe=options.unsafe_fixes)
    if options.baseline_accept:
        added = project.accept(report, options.baseline_accept)
        _note(
            f"{_counted(added, 'finding')} put into {project.baseline}, for: {options.baseline_accept}"
        )
        report = project.report(files)
    if options.baseline_update:
        gone = _counted(project.shrink(report), "stale entry", "stale entries")
        _note(f"{gone} taken out of {project.baseline}")
        report = project.report(files)
    if options.confirm is not None:
        report = confirmed.confirmed(report, files, options)
    _say(_rendered(report, options), options)
    return report.exit_code


def _fix(project: Project, report: Report, files: list[str], *, unsafe: bool) -> Report:
    applied = 0
    for path, one in project.mended(report, unsafe=unsafe).items():
        if project.put(path, one):
            applied += one.fixes
        else:
            _note(f"{path} was changed by somebody else meanwhile, and left as it is")
    _note(f"{_counted(applied, 'fix', 'fixes')} applied")
    return project.report(files) if applied else report


def _diff(project: Project, report: Report, options: argparse.Namespace) -> int:
    """Print what would be changed; 1 when something would."""
    mended = project.mended(report, unsafe=options.unsafe_fixes)
    difference = import_module("twice.checking.fixing").difference
    said = "".join(difference(path, one) for path, one in mended.items())
    is_shown = options.out is None and sys.stdout.isatty()  # Elsewhere it is applied as a patch.
    _say(printable_lines(said) if is_shown else said, options)
    return 1 if mended else 0


def _rendered(report: Report, options: argparse.Namespace) -> str:
    form = "json" if options.json else options.format
    colour = options.out is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    statistics = options.statistics and form in {"text", "concise"}
    if form in {"json", "jsonl"}:
        machine = import_module("twice.checking.formats.machine")
        return str(machine.render(report) if form == "json" else machine.lines(report))
    text = import_module("twice.checking.formats.text")
    if statistics:
        counted = import_module("twice.checking.formats.statistics").render(report)
        return f"{counted}{text.headline(report)}\n"
    if form in {"text", "concise"}:
        render = text.render if form == "text" else text.concise
        return str(render(report, colour=colour))
    more = {"version": _version()} if form == "sarif" else {}
    return str(import_module(f"twice.checking.formats.{form}").render(report, **more))


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("twice")
    except PackageNotFoundError:  # A source tree that nobody installed.
        return "0"


def _say(said: str, options: argparse.Namespace) -> None:
    """Print, or write to the file that was asked for."""
    if options.out is None:
        if not options.quiet:
            sys.stdout.write(said)
        return
    if os.path.exists(options.out) and not os.path.isfile(options.out):  # noqa: PTH110, PTH113
        _stream(said, options.out)
        return
    if os.path.isfile(options.out) and not options.force:  # noqa: PTH113  (no path makes it fail)
        raise OutputExists(
            f"{options.out} exists.",
            "Expected a path that is free.",
            "Name another one, or replace it with --force.",
        )
    write(options.out, said.encode("utf-8", "backslashreplace"))


def _stream(said: str, out: Path) -> None:
    """Write into a pipe or a device, which nothing can take the place of."""
    try:
        out.write_text(said, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise OutputUnwritable(
            f"{out} cannot be written: {error.strerror or error}.",
            "Expected the path of a file, of a pipe or of a device with room.",
            "Name another path.",
        ) from error


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def _note(said: str) -> None:
    print(printable(said), file=sys.stderr)
