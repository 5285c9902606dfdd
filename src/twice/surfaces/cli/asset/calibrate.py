"""Find out what a renderer's repeats differ by, and propose limits for a tolerance.

  twice asset calibrate hot/clouds.detlog.json --n 4
  twice asset calibrate hot/clouds.png --threads 2 --threads 4 --write

The recipe runs N times, and N times more for each further number of threads; every pair is compared. Limits are the worst of
all pairs with a margin (3 dB; half as much again for error and structure). Equal repeats need no tolerance: the
answer is then the stricter grade. --write puts the limits into a log that promises tolerance, as a new revision.

Exit code 0 repeats were compared, 2 they could not be, or wrong use.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.assets.rerendering.calibrating import calibrate, write_limits
from twice.assets.rerendering.rerendering import Trying
from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.surfaces.cli.asset.finding import logs_of
from twice.surfaces.cli.asset.rerender import add_trust
from twice.surfaces.cli.showing import Doing, add_json, aligned, print_json


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", type=Path, metavar="LOG", help="a log, or its asset")
    parser.add_argument("--n", type=int, default=4, metavar="N", help="how often (4)")
    parser.add_argument(
        "--threads", action="append", default=[], type=int, metavar="T",
        help="a further number of threads; repeatable",
    )  # fmt: skip
    add_trust(parser)
    parser.add_argument("--timeout", type=float, metavar="SECONDS")
    parser.add_argument("--write", action="store_true", help="put the limits into the log")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Calibrate, and print."""
    logs = logs_of(options.path)
    if len(logs) != 1 or options.n < 1 or any(each < 1 for each in options.threads):
        raise UsageError(
            f"{options.path} means {len(logs)} logs, to be rendered {options.n} times.",
            "Expected one log, and numbers of at least 1.",
            "For example: twice asset calibrate hot/clouds.png --n 4 --threads 2",
        )
    how = Trying(
        runs=options.n, trust=options.trust, allow=options.allow, timeout_s=options.timeout
    )
    with Doing() as doing:
        found = calibrate(logs[0], how, tuple(options.threads), doing)
    revision = write_limits(found) if options.write else None
    if options.json:
        print_json(found.to_json() | {"written": revision})
        return 2 if found.reason else 0
    print(f"{found.grade}: {found.runs} runs, {found.pairs} pairs")
    if found.reason:
        print(printable(f"cannot be compared: {found.reason}"))
        return 2
    rows = [
        (name, f"{value:g}", f"limit {found.limits[name]:g}" if name in found.limits else "")
        for name, value in found.figures.items()
    ]
    print("\n".join(aligned(rows)) if rows else f"next: promise {found.grade}")
    if revision is not None:
        print(printable(f"written: {found.log}, revision {revision}"))
    return 0
