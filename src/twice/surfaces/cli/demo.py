"""See it happen: record a simulation, verify it, make it diverge, find the line.

  twice demo
  twice demo --keep harbour

A small simulation that comes with twice is recorded and verified in a fresh process. Then it is
recorded under another hash seed, and the diagnosis names the planted mistake. With --keep, program,
records and a page to look at stay in that folder.

Exit code 0 when everything came out as planted, else 1.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from twice.diagnosis.divergence import Divergence
from twice.errors import OutputUnwritable
from twice.foundation.printable import printable
from twice.recording.recorder import refuse_existing
from twice.surfaces.cli.showing import Doing, add_json, print_json
from twice.surfaces.demo.staging import HASH_SEEDS, RECORDS, SEED, SHIPPED, Staged, stage

FORMAT = "twice.demo/1"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave everything in this folder")
    parser.add_argument("--force", action="store_true", help="replace what stands in that folder")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Stage it in a folder that goes or stays, and print both verdicts."""
    if options.keep is None:
        with tempfile.TemporaryDirectory(prefix="twice-demo-") as folder, Doing() as doing:
            staged = stage(Path(folder), doing)
        _print(staged, staged.about_shipped(), options)
    else:
        _make(options.keep, force=options.force)
        with Doing() as doing:
            staged = stage(options.keep, doing, force=options.force)
        _print(staged, staged.divergence, options)
    return 0 if staged.as_planted else 1


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


def _print(staged: Staged, divergence: Divergence, options: argparse.Namespace) -> None:
    kept = options.keep is not None
    if options.json:
        print_json(
            {
                "format": FORMAT,
                "folder": str(options.keep) if kept else None,
                "as_planted": staged.as_planted,
                "verification": staged.verification.to_json(),
                "divergence": divergence.to_json(),
            }
        )
        return
    print(*_lines(staged, divergence), sep="\n")
    if kept:
        a, b = (options.keep / name for name in RECORDS)
        print(f"next: twice report {a} {b} -o {options.keep / 'report.html'}")
    else:
        print("next: twice demo --keep harbour")


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
