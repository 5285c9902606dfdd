"""List the run records in folders.

  twice ls
  twice ls runs archive -v
  twice ls s3://bucket/runs
  twice ls --json

Torn and damaged records are listed as such; other files are named with -v only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

from twice.cli.options import AsJson, Limit, argument, build_command, option
from twice.cli.output import align, limit_rows, print_beside, tell
from twice.errors import RecordForeign, TwiceError, UsageError
from twice.foundation.printable import printable
from twice.foundation.record_url import RecordUrl
from twice.recorder.record.object_store import list_objects
from twice.recorder.runrecord import RunRecord
from twice.report.overview import ending_text, parent_text

_HEAD: Final[tuple[str, ...]] = ("RECORD", "PROGRAM", "SEED", "TICKS", "ENDING", "BYTES", "PARENT")


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
    for folder in folders:
        try:
            files = list_files(folder)
        except OSError as error:
            raise UsageError(
                f"{folder} cannot be listed: {error.strerror}.",
                "Expected a folder that may be read.",
                "For example: twice ls runs",
                path=str(folder),
            ) from error
        for path, size in files:
            try:
                listed.append(_read_row(path, size))
            except RecordForeign:
                skipped.append(str(path))
    document: dict[str, Any] = {"format": "twice.records/1", "records": listed, "skipped": skipped}
    document = limit_rows(document, "records", limit)
    if not as_json and not listed:
        print_beside(f"no run record in {', '.join(map(printable, folders))}")
    rows = [_HEAD] if listed else []
    for row in document["records"]:
        names = ("record", "program", "seed", "ticks", "ending", "bytes")
        cells = ["-" if row[name] is None else row[name] for name in names]
        cells.append(row["damage"] or row["parent"] or "")
        rows.append(tuple(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells))
    code = tell(document, align(rows, indent=""), as_json=as_json)
    for name in skipped if verbose and not as_json else ():
        print_beside(f"skipped, not a run record: {printable(name)}")
    return code


def list_files(folder: Path) -> list[tuple[Path, int]]:
    """Return the files, or the objects, in a folder, by name, and their sizes in bytes."""
    if isinstance(folder, RecordUrl):
        return list_objects(folder)
    return sorted((path, path.stat().st_size) for path in folder.iterdir() if path.is_file())


def _read_row(path: Path, size: int) -> dict[str, Any]:
    """Read what is listed of a record, damaged or not."""
    row: dict[str, Any] = {
        "record": str(path), "run_id": None, "program": None, "seed": None, "ticks": None,
        "ending": "damaged", "complete": False, "bytes": size, "parent": None, "damage": None,
    }  # fmt: skip
    try:
        with RunRecord.open(path) as record:
            return row | {
                "run_id": record.run_id,
                "program": str(record.setup.program),
                "seed": str(record.seed.value),
                "ticks": record.ticks,
                "ending": ending_text(record) if record.complete else "torn",
                "complete": record.complete,
                "parent": parent_text(record) or None,
            }
    except RecordForeign:
        raise
    except TwiceError as error:
        return row | {"damage": f"{error.id} {error.happened}"}
