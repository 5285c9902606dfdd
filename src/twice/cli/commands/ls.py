"""List the run records in folders.

  twice ls
  twice ls runs archive -v
  twice ls --json

Torn and damaged records are listed as such; other files are named with -v only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from twice.cli.options import AsJson, Limit, argument, build_command, option
from twice.cli.output import align, limit_rows, tell
from twice.errors import RecordForeign, TwiceError, UsageError
from twice.foundation.printable import printable
from twice.recording.runrecord import RunRecord
from twice.report.overview import ending_text, parent_text


@build_command
def command(
    folders: Annotated[tuple[Path, ...], argument(metavar="[FOLDER]...")],
    verbose: Annotated[bool, option("-v, --verbose", "name the files skipped")],
    limit: Limit,
    as_json: AsJson,
) -> int:
    """List, in the order of names."""
    folders = folders or (Path(),)
    listed: list[dict[str, Any]] = []
    skipped: list[str] = []
    for path in _files(folders):
        try:
            listed.append(_entry(path))
        except RecordForeign:
            skipped.append(str(path))
        except TwiceError as error:
            listed.append(_damaged(path, error))
    document: dict[str, Any] = {"format": "twice.records/1", "records": listed, "skipped": skipped}
    document = limit_rows(document, "records", limit)
    if not as_json and not listed:
        print(f"no run record in {', '.join(map(str, folders))}", file=sys.stderr)
    rows = align([_HEAD, *map(_row, document["records"])], indent="") if listed else []
    code = tell(document, rows, as_json=as_json)
    for name in skipped if verbose and not as_json else ():
        print(f"skipped, not a run record: {printable(name)}", file=sys.stderr)
    return code


def _files(folders: Sequence[Path]) -> Iterator[Path]:
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
