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

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from twice.assets.likening.figures import PROFILES
from twice.assets.model.log import SUFFIX
from twice.assets.model.witness import Outcome
from twice.assets.rerendering.rerendering import UNPROMISED, Rerendered, Trying, rerender
from twice.assets.rerendering.verdicts import write_verdict
from twice.cli.commands.asset.hot_store import find_logs, read_clock
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import PATH, Option, gather, json_option, several
from twice.cli.output import tell
from twice.errors import TwiceError, UsageError
from twice.foundation.printable import printable

REFUSED: Final = "refused"
_CODES: Final = {"holds": 0, "below": 1, "cannot-judge": 2}


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
    click.option("--profile", type=click.Choice(sorted(PROFILES)), help="another tolerance"),
    click.option("--write", is_flag=True, help="put verdicts into the logs"),
    json_option,
)
def command(
    paths: tuple[Path, ...], how: Trying, profile: str | None, write: bool, as_json: bool
) -> int:
    """Render again, and print."""
    if profile and write:
        raise UsageError(
            "--profile and --write were given together.",
            "Expected verdicts in a log to be on its own promise.",
            "Leave one of them out; limits of the log's own: twice asset calibrate LOG --write",
        )
    how = replace(how, profile=profile or "")
    logs = [each for path in paths for each in find_logs(path)]
    with Status() as status:
        results = [_try_log(path, how, status, alone=len(logs) == 1) for path in logs]
    if write:
        now = read_clock()
        for each in results:
            if each.outcome in set(Outcome):
                write_verdict(each, now)
    result = _sum_up(results)
    rows = [each.to_json() for each in results]
    return tell(
        {"format": "twice.asset-rerender/1", "result": result, "rows": rows},
        (printable(line) for each in results for line in _lines(each)),
        as_json=as_json,
        code=_CODES[result],
    )


def _try_log(path: Path, how: Trying, status: Status, *, alone: bool) -> Rerendered:
    """Render one log's asset; of several logs, one that is refused stops no other."""
    try:
        return rerender(path, how, status)
    except TwiceError as error:
        if alone:
            raise
        return Rerendered(log=path, outcome=REFUSED, reason=error.happened)


def _sum_up(results: list[Rerendered]) -> str:
    """Sum up: a promise that does not hold counts most; assets without one do not count."""
    outcomes = {str(each.outcome) for each in results}
    if Outcome.DIFFERS in outcomes:
        return "below"
    unsure = outcomes & {str(Outcome.CANNOT_JUDGE), REFUSED} or outcomes == {UNPROMISED}
    return "cannot-judge" if unsure else "holds"


def _lines(result: Rerendered) -> Iterator[str]:
    name = result.log.name.removesuffix(SUFFIX)
    yield f"{result.outcome}: {name}: {result.reason}"
    if result.figures:
        figures = ", ".join(f"{key} {value:g}" for key, value in result.figures.items())
        yield f"  worst of {result.runs}: {figures}"
    if result.elsewhere and result.outcome == Outcome.REPRODUCED:
        yield f"  although {'; '.join(result.elsewhere)}"
