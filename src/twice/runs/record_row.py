"""What is listed of one record: a row of plain values, with the result of its newest statement.

It is the same row whether it is printed, or kept in a catalogue. Nothing is executed.

Invariant: a record that cannot be read has a row too, with its damage and otherwise what its folder says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from twice.errors import RecordForeign, TwiceError, UsageError
from twice.foundation.record_url import RecordUrl
from twice.recorder.record.object_store import list_objects
from twice.recorder.record_form import describe_ending, describe_parent, reading
from twice.recorder.runrecord import RunRecord
from twice.replayer.statement_file import read_statement

COLUMNS: Final[Mapping[str, type]] = {
    "record": str,  # path, with the folder as it was given
    "run_id": str,
    "program": str,
    "seed": str,  # decimal digits, up to 78
    "ticks": int,
    "ending": str,
    "complete": bool,
    "bytes": int,
    "parent": str,
    "damage": str,
    "points": int,
    "error": str,  # type that ended the run
    "place": str,  # file:line of the user's code that raised it
    "config": dict,
    "twice": str,  # version that recorded it
    "python": str,
    "digest": str,  # checksum of the last block, which depends on every byte before it
    "result": str,  # verdict of the newest statement beside it
    "verified_at": str,
}
"""The members of a row. All of them may be None but ``record``, ``ending``, ``complete`` and ``bytes``."""

_STATEMENT: Final = re.compile(r"(?s:(.+))\.verification-([0-9]{1,6})\.(json|md)")


class ListedFile(NamedTuple):
    """A file of a folder that may be a record."""

    name: str
    size_bytes: int
    statement: str  # name of the newest statement beside it; empty where there is none
    stamp: bytes  # size and times of both, then a slash and the name: while it is the same, so is the row


def list_files(folder: Path) -> list[ListedFile]:
    """List the files of a folder in the order of their names, statements with the records that they are about.

    Raises:
        UsageError: E-USE-001, when the folder cannot be listed. RecordUnreadable: E-RECORD-005, of an object store.
    """
    entries = list_objects(folder) if isinstance(folder, RecordUrl) else _scan_folder(folder)
    files: list[str] = []
    newest: dict[str, tuple[int, str]] = {}
    for name in entries:
        # Most names are no statements: the search for a word is the faster first question.
        found = ".verification-" in name and _STATEMENT.fullmatch(name)
        if not found:
            files.append(name)
        elif found[3] == "json" and int(found[2]) > newest.get(found[1], (0,))[0]:
            newest[found[1]] = (int(found[2]), name)
    listed = []
    for name in sorted(files):
        if status := _stat_file(entries[name]):
            size, mtime_ns = status
            statement, at = "", 0
            if name in newest and (written := _stat_file(entries[newest[name][1]])):
                statement, at = newest[name][1], written[1]
            stamp = os.fsencode(f"{size} {mtime_ns} {at} {statement}/{name}")
            listed.append(ListedFile(name, size, statement, stamp))
    return listed


def _scan_folder(folder: Path) -> dict[str, os.DirEntry[str]]:
    """Return the entries of a folder by name."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name: entry for entry in entries}
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be listed: {error.strerror}.",
            "Expected a folder that may be read.",
            "For example: twice ls runs",
            path=str(folder),
        ) from error


def _stat_file(entry: os.DirEntry[str] | tuple[int, int]) -> tuple[int, int] | None:
    """Return size and time in nanoseconds; None for what is no file, and for what went while it was listed."""
    if isinstance(entry, tuple):  # of an object, whose store has told it with the name
        return entry
    try:
        status = entry.stat() if entry.is_file() else None
    except OSError:
        return None
    return status and (status.st_size, status.st_mtime_ns)


def read_row(folder: Path, file: ListedFile) -> dict[str, Any]:
    """Read the row of a record, damaged or not.

    Returns:
        The members of `COLUMNS`.

    Raises:
        RecordForeign: E-RECORD-002, when the file is not a run record.
    """
    path = folder / file.name
    row = dict.fromkeys(COLUMNS) | {
        "record": str(path), "ending": "damaged", "complete": False, "bytes": file.size_bytes
    }  # fmt: skip
    try:
        with reading("something", path), RunRecord.open(path) as record:
            identity, exception = record.identity, (record.ending or {}).get("exception")
            last = ((exception and exception.get("frames")) or [None])[-1]
            row |= {
                "run_id": record.run_id,
                "program": str(record.setup.program),
                "seed": str(record.seed.value),
                "ticks": record.ticks,
                "ending": describe_ending(record.ending) if record.complete else "torn",
                "complete": record.complete,
                "parent": describe_parent(record.parent) or None,
                "points": len(record.reader.points),
                "error": exception["type"].removeprefix("builtins.") if exception else None,
                "place": f"{last['file']}:{last['line']}" if last else None,
                "config": dict(identity["setup"]["config"]),
                "twice": identity["environment"].get("libraries", {}).get("twice"),
                "python": identity["environment"].get("python", {}).get("version"),
                "digest": record.reader.checksum.hex(),
            }
    except RecordForeign:
        raise
    except TwiceError as error:
        # A row is kept, and its folder may move.
        return row | {"damage": f"{error.id} {error.happened.replace(str(path), file.name)}"}
    told = read_statement(folder / file.statement, str(row["run_id"])) if file.statement else None
    for name, member in (("result", "result"), ("verified_at", "issued_at")):
        if told is not None and isinstance(told.get(member), str):
            row[name] = told[member]
    return row
