"""Rendering again from logs: whether promises hold, and which limits a renderer's repeats suggest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import click

from twice.assets.gate.collector import collect_facts
from twice.assets.log.models import SUFFIX, RerenderOutcome
from twice.assets.media.similarity import PROFILES
from twice.assets.render.calibration import calibrate, write_limits, write_verdict
from twice.assets.render.recipe import RerenderOptions
from twice.assets.render.rerender import rerender_each
from twice.assets.store.index import sidecars
from twice.cli.commands.asset.store import read_clock
from twice.cli.console import Status
from twice.cli.options import AsJson, argument, build_command, option, refuse_together
from twice.cli.output import align, tell
from twice.errors import UsageError
from twice.foundation.printable import pluralize, printable


@dataclass(frozen=True, slots=True)
class RecipeOptions:
    """Whose recipes run, and for how long."""

    trust: Annotated[bool, option("--trust", "run recipes that this account did not record")]
    allow: Annotated[tuple[str, ...], option("--allow PROGRAM", "a program that such recipes may run")]  # fmt: skip
    timeout_s: Annotated[float | None, option(
        "--timeout SECONDS", "a time limit instead of the recipe's", type=click.FloatRange(0, 10**7, min_open=True))]  # fmt: skip

    def to_trying(self, runs: int, profile: str = "") -> RerenderOptions:
        """Give what a rendering takes."""
        return RerenderOptions(
            runs=runs, profile=profile, trust=self.trust, allow=self.allow, timeout_s=self.timeout_s
        )


def _find_logs(path: Path) -> list[Path]:
    """Find the logs that a path means: a sidecar, those about an asset, or all in a folder."""
    if path.name.endswith(SUFFIX):
        return [path]
    if path.is_dir():
        found = [*sidecars(path)]
    else:
        found = [path.parent / each.log_path for each in collect_facts(path) if each.log_path]
    if not found:
        raise UsageError(
            f"There is no determinism log about {path}.",
            "Expected a sealed asset, its log, or a folder of them.",
            "Record one: twice asset record … -- COMMAND",
        )
    return found


@build_command
def rerender_assets(
    paths: Annotated[tuple[Path, ...], argument(required=True, metavar="LOG...")],
    runs: Annotated[int, option("--n N", "how often (3)", default=3, type=click.IntRange(1))],
    how: RecipeOptions,
    tolerance: Annotated[str | None, option("--profile", "another tolerance", sorted(PROFILES))],
    write: Annotated[bool, option("--write", "put verdicts into the logs")],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Render assets again from their logs, and compare the results with what is promised.

      twice asset rerender hot/theme.detlog.json
      twice asset rerender hot --n 5 --write
      twice asset rerender theirs/cue.detlog.json --trust --allow fluidsynth

    Each recipe runs N times in a clean folder with its logged variables and with inputs whose digests are those that
    were logged; the worst run counts. A recipe that this account did not record by twice asset record does not run
    without --trust, and then only the programs of --allow. That is a choice, no sandbox: an allowed program can do what
    its arguments make it do. --write puts each verdict into its log as a new revision.

    Exit code 0 every promise holds, 1 one does not, 2 one cannot be judged (hosted, absent, other surroundings) or was
    refused.
    """
    expected = "verdicts in a log to be on its own promise"
    refuse_together({"--profile": tolerance, "--write": write}, expected)
    logs = [each for path in paths for each in _find_logs(path)]
    with Status() as status:
        found = rerender_each(logs, how.to_trying(runs, tolerance or ""), status)
    if write:
        now = read_clock()
        for each in found.rows:
            if each.outcome in set(RerenderOutcome):
                write_verdict(each, now)
    return tell(found.to_json(), [found.to_text()], as_json=as_json, code=found.exit_code)


@build_command
def calibrate_renderer(
    path: Annotated[Path, argument(metavar="LOG")],
    runs: Annotated[int, option("--n N", "how often (4), at least twice", default=4, type=click.IntRange(2))],
    how: RecipeOptions,
    threads: Annotated[tuple[int, ...], option("--threads T", "a further number of threads", type=click.IntRange(1))],
    write: Annotated[bool, option("--write", "put the limits into the log")],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Find out what a renderer's repeats differ by, and propose limits for a tolerance.

      twice asset calibrate hot/clouds.detlog.json --n 4
      twice asset calibrate hot/clouds.png --threads 2 --threads 4 --write

    The recipe runs N times, and N times more for each further number of threads; every pair is compared. Limits are the
    worst of all pairs with a margin (3 dB; half as much again for error and structure). Equal repeats need no
    tolerance: the answer is then the stricter grade. --write puts the limits into a log that promises tolerance, as a
    new revision.

    Exit code 0 repeats were compared, 2 they could not be, or wrong use.
    """
    logs = _find_logs(path)
    if len(logs) != 1:
        raise UsageError(
            f"{path} means {pluralize(len(logs), 'log')}.",
            "Expected one log.",
            "For example: twice asset calibrate hot/clouds.png --n 4 --threads 2",
        )
    with Status() as status:
        found = calibrate(logs[0], how.to_trying(runs), threads, status)
    revision = write_limits(found, read_clock()) if write else None
    lines = [f"{found.grade}: {pluralize(found.runs, 'run')}, {pluralize(found.pairs, 'pair')}"]
    if found.reason:
        lines.append(f"cannot be compared: {found.reason}")
    else:
        limits = {name: f"limit {limit:g}" for name, limit in found.limits.items()}
        rows = [(name, f"{each:g}", limits.get(name, "")) for name, each in found.metrics.items()]
        lines += align(rows) or [f"next: promise {found.grade}"]
    if revision is not None:
        lines.append(f"written: {found.log}, revision {revision}")
    document = found.to_json() | {"written": revision}
    code = 2 if found.reason else 0
    return tell(document, map(printable, lines), as_json=as_json, code=code)
