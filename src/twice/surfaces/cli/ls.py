"""List the run records in folders.

  twice ls
  twice ls runs archive -v
  twice ls --json

Torn and damaged records are listed as such; other files are named with -v only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from twice.errors import RecordForeign, TwiceError, UsageError
from twice.foundation.printable import printable
from twice.recording.runrecord import RunRecord
from twice.surfaces.cli.showing import add_json, aligned, print_json
from twice.surfaces.overview import ending_text, parent_text

FORMAT = "twice.records/1"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folders", nargs="*", type=Path, default=[Path()], metavar="FOLDER")
    parser.add_argument("-v", "--verbose", action="store_true", help="name the files skipped")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """List, in the order of names."""
    listed: list[dict[str, Any]] = []
    skipped: list[str] = []
    for path in _files(options.folders):
        try:
            listed.append(_entry(path))
        except RecordForeign:
            skipped.append(str(path))
        except TwiceError as error:
            listed.append(_damaged(path, error))
    if options.json:
        print_json({"format": FORMAT, "records": listed, "skipped": skipped})
        return 0
    for row in aligned([_HEAD, *map(_row, listed)], indent="") if listed else ():
        print(row)
    if not listed:
        folders = ", ".join(map(str, options.folders))
        print(f"no run record in {folders}", file=sys.stderr)
    if options.verbose:
        for name in skipped:
            print(f"skipped, not a run record: {printable(name)}", file=sys.stderr)
    return 0


def _files(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        try:
            yield from sorted(path for path in folder.iterdir() if path.is_file())
        except OSError as error:
            raise UsageError(
                f"{folder} cannot be listed: {error.strerror}.",
                "Expected a folder that may be read.",
                "For example: twice ls runs",
                path=str(folder),
            ) from error


def _entry(path: Path) -> dict[str, Any]:
    with RunRecord.open(path) as record:
        return {
            "record": str(path),
            "run_id": record.run_id,
            "program": str(record.setup.program),
            "seed": str(record.seed.value),
            "ticks": record.ticks,
            "ending": ending_text(record) if record.complete else "torn",
            "complete": record.complete,
            "bytes": path.stat().st_size,
            "parent": parent_text(record) or None,
            "damage": None,
        }


def _damaged(path: Path, error: TwiceError) -> dict[str, Any]:
    return {
        "record": str(path),
        "run_id": None,
        "program": None,
        "seed": None,
        "ticks": None,
        "ending": "damaged",
        "complete": False,
        "bytes": path.stat().st_size,
        "parent": None,
        "damage": f"{error.id} {error.happened}",
    }


_HEAD = ("RECORD", "PROGRAM", "SEED", "TICKS", "ENDING", "BYTES", "PARENT")


def _row(entry: dict[str, Any]) -> list[str]:
    if entry["damage"] is not None:
        said = (entry["record"], "-", "-", "-", entry["ending"], entry["bytes"], entry["damage"])
    else:
        names = ("record", "program", "seed", "ticks", "ending", "bytes")
        said = (*(entry[name] for name in names), entry["parent"] or "")
    return [printable(f"{cell:,}" if isinstance(cell, int) else cell) for cell in said]
