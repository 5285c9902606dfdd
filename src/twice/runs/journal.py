"""Entries about records, written as they come: what is done is kept when the command that does it is killed.

A file of JSON lines, the first one a head that says what the entries are answers to. A line that was not written
whole is dropped. An entry of a record that has changed since (size, time or inode) is made again.

Not for: two commands at once: the second one is refused. Objects in a store are always made again.

Invariant: an entry that was written is read back as it was, or not at all.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from twice.errors import OutputUnwritable, UsageError
from twice.foundation.version import VERSION
from twice.foundation.with_blocks import Closing

_FORMAT: Final = "twice.journal/1"


class Journal(Closing):
    """The entries of one command, by the path of their record; a context manager.

    Args:
        path: of the file, which is made or gone on with; None for one that is gone at the end.
        head: what the entries depend on, in plain data.

    Raises:
        UsageError: E-USE-001, when the file is another thing, has another head, or is in use.
        OutputUnwritable: E-OUTPUT-002.
    """

    def __init__(self, path: Path | None, head: Mapping[str, Any]) -> None:
        self._path, self._places = path, dict[str, int]()
        mine = {"format": _FORMAT, "twice": VERSION, **head}
        if path is None:
            self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
            return
        try:
            self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        except OSError as error:
            raise _unwritable(path, error) from error
        try:
            if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
                raise _refuse_foreign(path)  # noqa: TRY301  (closed below)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read_back(path, mine)
        except BlockingIOError as error:
            self.close()
            raise _refuse(
                path, "is in use by another command", "one command for each journal"
            ) from error
        except BaseException:
            self.close()
            raise

    def _read_back(self, path: Path, mine: Mapping[str, Any]) -> None:
        """Find the entries that the file has, and cut off a line that was not written whole."""
        first = self._file.readline()
        if not first.endswith(b"\n"):  # new, or killed over its head
            if first and not json.dumps(mine).encode().startswith(first):
                raise _refuse_foreign(path)
            self._file.truncate(0)
            self._append(mine)
            return
        at = self._file.tell()
        try:
            theirs = json.loads(first)
            if theirs["format"] != _FORMAT:
                raise KeyError(_FORMAT)  # noqa: TRY301  (the same refusal as for a line without it)
            if theirs == mine:
                at = self._find_entries(at)
        except (ValueError, KeyError, TypeError) as error:
            raise _refuse_foreign(path) from error
        if theirs != mine:
            names = sorted(name for name in {*theirs, *mine} if theirs.get(name) != mine.get(name))
            what = ", ".join(
                f"{name} was {theirs.get(name)!r} and is {mine.get(name)!r}" for name in names
            )
            raise _refuse(
                path, f"is of another command: {what}", "the options that it was begun with"
            )
        self._file.truncate(at)

    def _find_entries(self, at: int) -> int:
        """Find the entries of records that have not changed since; return where the last whole line ends."""
        for line in self._file:
            if not line.endswith(b"\n"):
                break
            entry = json.loads(line)
            # What could not be done is tried again: the reason may be gone.
            if (
                entry["entry"]["statement"]
                and entry["stamp"] == stamp_record(entry["key"]) is not None
            ):
                self._places[entry["key"]] = at
            at += len(line)
        return at

    def has(self, path: Path) -> bool:
        """Return whether there is an entry of this record."""
        return str(path) in self._places

    def forget(self, path: Path) -> None:
        """Take the entry of a record for none."""
        del self._places[str(path)]

    def write(self, path: Path, entry: Mapping[str, Any], stamp: Sequence[int] | None) -> None:
        """Keep an entry of a record, and its stamp from before it was opened; E-OUTPUT-002 when it cannot be written."""
        line = {"key": str(path), "stamp": stamp, "entry": entry}
        self._places[str(path)] = self._append(line)

    def read(self, path: Path) -> dict[str, Any]:
        """Return the entry of a record."""
        self._file.seek(self._places[str(path)])
        entry: dict[str, Any] = json.loads(self._file.readline())["entry"]
        return entry

    def _append(self, line: Mapping[str, Any]) -> int:
        try:
            at = self._file.seek(0, os.SEEK_END)
            self._file.write(json.dumps(line).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise _unwritable(self._path or Path(tempfile.gettempdir()), error) from error
        return at

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # of a full disk, which was said already
            self._file.close()


def stamp_record(path: str) -> list[int] | None:
    """Return what tells a record from a later one at its path; None where nothing does, as of an object in a store."""
    try:
        found = os.stat(path)  # noqa: PTH116  (a URL is no path)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def _refuse(path: Path, what: str, expected: str) -> UsageError:
    return UsageError(
        f"{path} {what}.",
        f"Expected {expected}.",
        "Give another path: --journal FILE",
        path=str(path),
    )


def _refuse_foreign(path: Path) -> UsageError:
    return _refuse(path, "is not a journal of twice", "a journal, or a path where nothing stands")


def _unwritable(path: Path, error: OSError) -> OutputUnwritable:
    return OutputUnwritable(
        f"The journal {path} cannot be written: {error.strerror}.",
        "Expected a folder that takes files, and room on the disk.",
        "Choose another path; what it holds already is kept.",
        path=str(path),
    )
