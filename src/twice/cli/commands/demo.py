"""See it happen: record a simulation, verify it, make it diverge, find the line.

  twice demo
  twice demo --keep harbour

A small simulation that comes with twice is recorded and verified in a fresh process. Then it is
recorded under another hash seed, and the diagnosis names the planted mistake. With --keep, program,
records and a page to look at stay in that folder.

Exit code 0 when everything came out as planted, else 1.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from twice.cli.console import Status
from twice.cli.demo.staging import HASH_SEEDS, RECORDS, SEED, SHIPPED, Staged, stage
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option
from twice.cli.output import tell
from twice.diagnosis.divergence import Divergence
from twice.errors import OutputUnwritable
from twice.foundation.printable import printable
from twice.recording.recorder import refuse_existing


@make_command(
    click.option("--keep", type=PATH, metavar="DIR", help="leave everything in this folder"),
    click.option("--force", is_flag=True, help="replace what stands in that folder"),
    json_option,
)
def command(keep: Path | None, force: bool, as_json: bool) -> int:
    """Stage it in a folder that goes or stays, and print both verdicts."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="twice-demo-") as folder, Status() as status:
            staged = stage(Path(folder), status)
        divergence, following = staged.about_shipped(), "twice demo --keep harbour"
    else:
        _make(keep, force=force)
        with Status() as status:
            staged = stage(keep, status, force=force)
        a, b = (keep / name for name in RECORDS)
        divergence = staged.divergence
        following = f"twice report {a} {b} -o {keep / 'report.html'}"
    document = {
        "format": "twice.demo/1",
        "folder": None if keep is None else str(keep),
        "as_planted": staged.as_planted,
        "verification": staged.verification.to_json(),
        "divergence": divergence.to_json(),
    }
    lines = [*_lines(staged, divergence), f"next: {following}"]
    return tell(document, lines, as_json=as_json, code=0 if staged.as_planted else 1)


def _make(folder: Path, *, force: bool) -> None:
    for name in (SHIPPED.name, *RECORDS):
        refuse_existing(folder / name, force=force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(
            f"The folder {folder} cannot be made: {error.strerror}.",
            "Expected a place that takes files.",
            "Choose another with --keep.",
            path=str(folder),
        ) from error


def _lines(staged: Staged, divergence: Divergence) -> Iterator[str]:
    verification = staged.verification
    yield (
        f"{verification.result}: {SHIPPED.name}, seed {SEED}, recorded and verified in a fresh "
        f"process: {verification.counts['passed']} of {verification.counts['evaluated']} "
        "compare-points agree"
    )
    operation = divergence.operation
    if operation is None:
        yield divergence.to_text()
        return
    where = f"{operation.file}:{operation.line}"
    tick = divergence.compare_point.tick if divergence.compare_point is not None else -1
    yield f"{divergence.result}: under another hash seed it parts at tick {tick}, at {where}"
    yield f"  operation: {printable(operation.code)}"
    yield f"      {printable(operation.name)}: {printable(operation.a)} / {printable(operation.b)}"
    for field in divergence.fields[:2]:
        yield f"  field: {printable(field.path)}: {printable(field.a)} / {printable(field.b)}"
    for entry in divergence.attribution[:1]:
        yield f"  channel: {entry.channel.value}"
        yield from (f"      {printable(text)}" for text in entry.evidence)
    yield f"  hash seed: {HASH_SEEDS[0]} / {HASH_SEEDS[1]}"
