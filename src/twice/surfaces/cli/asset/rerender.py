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

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from twice.assets.likening.figures import PROFILES
from twice.assets.model.log import SUFFIX
from twice.assets.model.witness import Outcome
from twice.assets.rerendering.rerendering import UNPROMISED, Rerendered, Trying, rerender
from twice.assets.rerendering.verdicts import write_verdict
from twice.errors import TwiceError, UsageError
from twice.foundation.printable import printable
from twice.surfaces.cli.asset.finding import logs_of
from twice.surfaces.cli.showing import Doing, add_json, print_json

REFUSED = "refused"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="LOG", help="a log, asset or folder")
    parser.add_argument("--n", type=int, default=3, metavar="N", help="how often (3)")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="", help="another tolerance")
    add_trust(parser)
    parser.add_argument("--timeout", type=float, metavar="SECONDS")
    parser.add_argument("--write", action="store_true", help="put verdicts into the logs")
    add_json(parser)


def add_trust(parser: argparse.ArgumentParser) -> None:
    """``--trust`` and ``--allow``, the same wherever a recipe runs."""
    parser.add_argument(
        "--trust", action="store_true", help="run recipes that this account did not record"
    )
    parser.add_argument(
        "--allow", action="append", default=[], metavar="PROGRAM",
        help="a program that such recipes may run; repeatable",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Render again, and print."""
    if options.profile and options.write:
        raise UsageError(
            "--profile and --write were given together.",
            "Expected verdicts in a log to be on its own promise.",
            "Leave one of them out; limits of the log's own: twice asset calibrate LOG --write",
        )
    how = Trying(
        runs=max(1, options.n), profile=options.profile, trust=options.trust,
        allow=options.allow, timeout_s=options.timeout,
    )  # fmt: skip
    logs = [each for path in options.paths for each in logs_of(path)]
    with Doing() as doing:
        results = [_tried(path, how, doing, alone=len(logs) == 1) for path in logs]
    if options.write:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for each in results:
            if each.outcome in set(Outcome):
                write_verdict(each, now)
    if options.json:
        rows = [each.to_json() for each in results]
        print_json({"format": "twice.asset-rerender/1", "result": _result(results), "rows": rows})
    else:
        print("\n".join(printable(line) for each in results for line in _told(each)))
    return {"holds": 0, "below": 1, "cannot-judge": 2}[_result(results)]


def _tried(path: Path, how: Trying, doing: Doing, *, alone: bool) -> Rerendered:
    try:
        return rerender(path, how, doing)
    except TwiceError as error:
        if alone:
            raise
        return Rerendered(log=path, outcome=REFUSED, reason=error.happened)


def _result(results: list[Rerendered]) -> str:
    """Sum up: a promise that does not hold counts most; assets without one do not count."""
    outcomes = {str(each.outcome) for each in results}
    if Outcome.DIFFERS in outcomes:
        return "below"
    unsure = outcomes & {str(Outcome.CANNOT_JUDGE), REFUSED} or outcomes == {UNPROMISED}
    return "cannot-judge" if unsure else "holds"


def _told(result: Rerendered) -> Iterator[str]:
    name = result.log.name.removesuffix(SUFFIX)
    yield f"{result.outcome}: {name}: {result.reason}"
    if result.figures:
        figures = ", ".join(f"{key} {value:g}" for key, value in result.figures.items())
        yield f"  worst of {result.runs}: {figures}"
    if result.elsewhere and result.outcome == Outcome.REPRODUCED:
        yield f"  although {'; '.join(result.elsewhere)}"
