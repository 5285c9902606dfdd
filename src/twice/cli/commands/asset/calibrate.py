"""Find out what a renderer's repeats differ by, and propose limits for a tolerance.

  twice asset calibrate hot/clouds.detlog.json --n 4
  twice asset calibrate hot/clouds.png --threads 2 --threads 4 --write

The recipe runs N times, and N times more for each further number of threads; every pair is compared. Limits are the worst of
all pairs with a margin (3 dB; half as much again for error and structure). Equal repeats need no tolerance: the
answer is then the stricter grade. --write puts the limits into a log that promises tolerance, as a new revision.

Exit code 0 repeats were compared, 2 they could not be, or wrong use.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from twice.assets.rerendering.calibrating import Calibration, calibrate, write_limits
from twice.assets.rerendering.rerendering import Trying
from twice.cli.commands.asset.hot_store import find_logs
from twice.cli.commands.asset.rerender import rendering_options
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option, several
from twice.cli.output import align, tell
from twice.errors import UsageError
from twice.foundation.printable import printable


@make_command(
    click.argument("path", type=PATH, metavar="LOG"),
    rendering_options(4),
    several(
        "--threads", "threads", type=click.IntRange(1), metavar="T",
        help="a further number of threads",
    ),
    click.option("--write", is_flag=True, help="put the limits into the log"),
    json_option,
)  # fmt: skip
def command(path: Path, how: Trying, threads: tuple[int, ...], write: bool, as_json: bool) -> int:
    """Calibrate, and print."""
    logs = find_logs(path)
    if len(logs) != 1:
        raise UsageError(
            f"{path} means {len(logs)} logs.",
            "Expected one log.",
            "For example: twice asset calibrate hot/clouds.png --n 4 --threads 2",
        )
    with Status() as status:
        found = calibrate(logs[0], how, threads, status)
    revision = write_limits(found) if write else None
    return tell(
        found.to_json() | {"written": revision},
        _lines(found, revision),
        as_json=as_json,
        code=2 if found.reason else 0,
    )


def _lines(found: Calibration, revision: int | None) -> Iterator[str]:
    yield f"{found.grade}: {found.runs} runs, {found.pairs} pairs"
    if found.reason:
        yield printable(f"cannot be compared: {found.reason}")
        return
    rows = [
        (name, f"{value:g}", f"limit {found.limits[name]:g}" if name in found.limits else "")
        for name, value in found.figures.items()
    ]
    yield from align(rows) or [f"next: promise {found.grade}"]
    if revision is not None:
        yield printable(f"written: {found.log}, revision {revision}")
