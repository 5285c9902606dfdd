"""What is listed of one record: a row of plain values, with the result of its newest statement.

It is the same row whether it is printed, or kept in a catalogue. Nothing is executed.

Invariant: a record that cannot be read has a row too, with its damage and otherwise what its folder says.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from twice.errors import RecordForeign, RecordUnreadable, TwiceError, UsageError
from twice.foundation.record_url import RecordUrl
from twice.recorder.record.object_store import ObjectBytes, list_objects
from twice.recorder.record_form import describe_ending, describe_parent, reading
from twice.recorder.runrecord import RunRecord

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

_STATEMENT: Final = re.compile(r"(?s:(.+))\.verification-([0-9]{1,6})\.(?:json|md)")


class ListedFile(NamedTuple):
    """A file of a folder that may be a record, and its newest statement; what says whether a row is still right."""

    name: str
    size_bytes: int
    mtime_ns: int
    statement: str = ""  # name
    statement_mtime_ns: int = 0


def list_files(folder: Path) -> list[ListedFile]:
    """List the files of a folder in the order of their names, statements with the records that they are about.

    Raises:
        UsageError: E-USE-001, when the folder cannot be listed. RecordUnreadable: E-RECORD-005, of an object store.
    """
    entries = _scan_objects(folder) if isinstance(folder, RecordUrl) else _scan_folder(folder)
    files: list[str] = []
    newest: dict[str, tuple[int, str]] = {}
    for name in entries:
        # Most names are no statements: the search for a word is the faster first question.
        found = ".verification-" in name and _STATEMENT.fullmatch(name)
        if not found:
            files.append(name)
        elif name.endswith(".json"):
            number = int(found[2])
            if number > newest.get(found[1], (0,))[0]:
                newest[found[1]] = (number, name)
    listed = []
    for name in sorted(files):
        sizes = entries[name]()
        if sizes is None:
            continue
        listed.append(ListedFile(name, *sizes))
        _, statement = newest.get(name, (0, ""))
        if statement and (status := entries[statement]()):
            listed[-1] = ListedFile(name, *sizes, statement, status[1])
    return listed


_Status = Callable[[], tuple[int, int] | None]
"""Gives size and time of a file; None for anything else, and for what went while it was listed."""


def _scan_folder(folder: Path) -> dict[str, _Status]:
    """Return the names in a folder, each with its status: most statements are not asked for theirs."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name: partial(_stat_file, entry) for entry in entries}
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be listed: {error.strerror}.",
            "Expected a folder that may be read.",
            "For example: twice ls runs",
            path=str(folder),
        ) from error


def _stat_file(entry: os.DirEntry[str]) -> tuple[int, int] | None:
    try:
        status = entry.stat() if entry.is_file() else None
    except OSError:
        return None
    return status and (status.st_size, status.st_mtime_ns)


def _scan_objects(folder: RecordUrl) -> dict[str, _Status]:
    """Return the names of the objects in a folder, each with its status."""

    def tell(sizes: tuple[int, int]) -> _Status:
        return lambda: sizes

    return {name: tell(sizes) for name, sizes in list_objects(folder).items()}


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
            row |= _describe(record)
    except RecordForeign:
        raise
    except TwiceError as error:
        # A row is kept, and its folder may move.
        return row | {"damage": f"{error.id} {error.happened.replace(str(path), file.name)}"}
    if file.statement:
        # One that is being written, or is about another run that had this name, says nothing.
        with suppress(OSError, ValueError, RecordUnreadable):
            statement = folder / file.statement
            if isinstance(statement, RecordUrl):
                told = json.loads(bytes(ObjectBytes(statement)[:]))
            else:
                told = json.loads(statement.read_bytes())
            if isinstance(told, dict) and told.get("run_id") == row["run_id"]:
                for name, member in (("result", "result"), ("verified_at", "issued_at")):
                    row[name] = told[member] if isinstance(told.get(member), str) else None
    return row


def _describe(record: RunRecord) -> dict[str, Any]:
    """Describe a record that opened."""
    reader, identity = record.reader, record.identity
    environment, exception = identity["environment"], (record.ending or {}).get("exception") or {}
    python, libraries = environment.get("python") or {}, environment.get("libraries") or {}
    frames = exception.get("frames") or [{}]
    return {
        "run_id": record.run_id,
        "program": str(record.setup.program),
        "seed": str(record.seed.value),
        "ticks": record.ticks,
        "ending": describe_ending(record.ending) if record.complete else "torn",
        "complete": record.complete,
        "parent": describe_parent(record.parent) or None,
        "points": len(reader.points),
        "error": exception["type"].removeprefix("builtins.") if exception else None,
        "place": f"{frames[-1]['file']}:{frames[-1]['line']}" if frames[-1] else None,
        "config": dict(identity["setup"]["config"]),
        "twice": libraries.get("twice"),
        "python": python.get("version"),
        "digest": reader.checksum.hex(),
    }
