"""Render assets again from their logs, and hold the results against what is promised.

  twice asset rerender hot/theme.detlog.json
  twice asset rerender hot --n 5 --write
  twice asset rerender theirs/cue.detlog.json --trust --allow fluidsynth

Each recipe runs N times in a clean folder with its logged variables and with inputs whose digests are those that
were logged; the worst run counts. A recipe that this account did not record by twice asset record does not run without
--trust, and then only the programs of --allow. That is a choice, no sandbox: an allowed program can do what its
arguments make it do. --write puts each verdict into its log as a new revision.

Exit code 0 every promise holds, 1 one does not, 2 one cannot be judged (hosted, absent, other surroundings) or was refused.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from twice.assets.likening.figures import PROFILES
from twice.assets.model.witness import Outcome
from twice.assets.rerendering.rerendering import Trying, rerender_each
from twice.assets.rerendering.verdicts import write_verdict
from twice.cli.commands.asset.hot_store import find_logs, read_clock
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import PATH, Option, gather, json_option, several
from twice.cli.output import show
from twice.errors import UsageError


def rendering_options(runs: int) -> Option:
    """Make the options that say how often a recipe runs, and whose.

    Args:
        runs: how often without ``--n``.
    """
    return gather(
        "how",
        Trying,
        click.option(
            "--n", "runs", type=click.IntRange(1), default=runs, metavar="N",
            help=f"how often ({runs})",
        ),
        click.option("--trust", is_flag=True, help="run recipes that this account did not record"),
        several(
            "--allow", "allow", metavar="PROGRAM", help="a program that such recipes may run"
        ),
        click.option(
            "--timeout", "timeout_s", type=float, metavar="SECONDS",
            help="a time limit instead of the recipe's",
        ),
    )  # fmt: skip


@make_command(
    click.argument("paths", nargs=-1, required=True, type=PATH, metavar="LOG..."),
    rendering_options(3),
    click.option(
        "--profile", "tolerance", type=click.Choice(sorted(PROFILES)), help="another tolerance"
    ),
    click.option("--write", is_flag=True, help="put verdicts into the logs"),
    json_option,
)
def command(
    paths: tuple[Path, ...], how: Trying, tolerance: str | None, write: bool, as_json: bool
) -> int:
    """Render again, and print."""
    if tolerance and write:
        raise UsageError(
            "--profile and --write were given together.",
            "Expected verdicts in a log to be on its own promise.",
            "Leave one of them out; limits of the log's own: twice asset calibrate LOG --write",
        )
    logs = [each for path in paths for each in find_logs(path)]
    with Status() as status:
        found = rerender_each(logs, replace(how, profile=tolerance or ""), status)
    if write:
        now = read_clock()
        for each in found.rows:
            if each.outcome in set(Outcome):
                write_verdict(each, now)
    return show(found, as_json=as_json)
