"""The first look at a file: is it a run record, of which format, and can it be read at all.

For the reader. Every way in which a path can turn out not to be a readable record has its answer
here, in words for a person.

Invariant: nothing is believed about a file before its header's checksum stands.
"""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path

from twice.errors import (
    RecordCorrupt,
    RecordForeign,
    RecordTorn,
    RecordUnreadable,
    RecordVersion,
)
from twice.foundation.digests import Algorithm
from twice.foundation.printable import pluralize
from twice.recorder.record.layout import FORMAT, HEADER_BYTES, MAGIC, Header, unpack_header

# Sessions govern the operating system's functions later on; the record needs the real ones.
_open, _close, _fstat = os.open, os.close, os.fstat
# Without O_NONBLOCK a named pipe at the path would make the reader wait for ever.
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_BINARY", "O_NONBLOCK"))
READABLE = (FORMAT,)


def map_file(path: Path) -> mmap.mmap:
    """Map the file into memory, read-only.

    Raises:
        RecordUnreadable: E-RECORD-005, when it is missing, a folder, or not permitted.
        RecordForeign: E-RECORD-002, when it is empty.
    """
    try:
        descriptor = _open(path, _READ)
        try:
            status = _fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
                raise OSError(f"it is {kind}")
            if status.st_size == 0:
                raise _foreign(path, "it is empty")
            return mmap.mmap(descriptor, status.st_size, access=mmap.ACCESS_READ)
        finally:
            _close(descriptor)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RecordUnreadable(
            f"{path} cannot be opened: {reason}.",
            "Expected the path of a run record that may be read.",
            "Check the path; `twice ls` lists the records in a folder.",
            path=str(path),
        ) from error


def read_header(path: Path, data: memoryview) -> Header:
    """Read the header of a record in a format that this version knows.

    Raises:
        RecordForeign: E-RECORD-002, when the file is something else.
        RecordTorn: E-RECORD-003, when it ends inside its header.
        RecordCorrupt: E-RECORD-004, when the header was changed.
        RecordVersion: E-RECORD-001, when its format or digest is not one of ours.
    """
    start = bytes(data[:HEADER_BYTES])
    if not start.startswith(MAGIC[: len(start)]):
        zeros = not any(start)
        raise _foreign(path, "it starts with zeros" if zeros else f"it starts with {start[:8]!r}")
    if len(start) < HEADER_BYTES:
        raise RecordTorn(
            f"{path} ends after {pluralize(len(start), 'byte')}, inside its header; nothing of the run is in it.",
            f"Expected a header of {HEADER_BYTES} bytes and blocks behind it.",
            "Record the run again.",
            path=str(path),
            offset=len(start),
        )
    found = unpack_header(start)
    if found is None:
        raise RecordCorrupt(
            f"{path}: the file header, bytes 0 to {HEADER_BYTES}, was changed.",
            "Expected a header whose checksum stands.",
            "Take another copy of the file.",
            path=str(path),
            offset=0,
            kind="header",
        )
    if found.format not in READABLE:
        raise _version(path, f"record format {found.format}", found.written_by)
    try:
        algorithm = Algorithm(found.label.decode("ascii", "replace"))
    except ValueError as error:
        raise _version(path, f"digested with {found.label!r}", found.written_by) from error
    return Header(found.format, found.run_id, algorithm, found.written_by)


def _foreign(path: Path, why: str) -> RecordForeign:
    return RecordForeign(
        f"{path} is not a run record: {why}.",
        f"Expected a file that starts with {MAGIC!r}.",
        "Give the path of a file that `twice record` wrote.",
        path=str(path),
    )


def _version(path: Path, what: str, written_by: str) -> RecordVersion:
    reads = " to ".join(str(number) for number in sorted({min(READABLE), max(READABLE)}))
    writer = f"twice {written_by}" if written_by else "a version of twice it does not name"
    newer = f"'twice>={written_by}'" if written_by else "--upgrade twice"
    return RecordVersion(
        f"{path} is {what}; this version reads record format {reads}.",
        f"It was written by {writer}.",
        f"Install that version or newer: pip install {newer}",
        path=str(path),
        written_by=written_by,
    )
