"""The file of a record under way: a chain of whole blocks that grows, and is closed by index and trailer.

A file that replaces an old one is written under a hidden name beside it until it is published.

Invariant: after every call the file is a chain of whole blocks, whatever failed, and only the
process that created it ever writes to it: a forked child cannot.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from twice.errors import OutputExists, OutputUnwritable
from twice.recorder.record.layout import (
    ROW_BYTES,
    TRAILER_BYTES,
    Kind,
    Sealer,
    Trailer,
    encode_index,
    encode_row,
)

# A record may hold the content of files that only its owner reads.
_PRIVATE = 0o600
# Sessions govern the operating system's functions later on; the record needs the real ones.
_open, _write, _close, _fsync, _truncate = os.open, os.write, os.close, os.fsync, os.ftruncate
_getpid, _lstat, _fstat = os.getpid, os.lstat, os.fstat
_realpath, _replace = os.path.realpath, os.replace
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_CREATE |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class BlockWriter:
    """Writes the blocks of one new file, behind its first bytes with the index rows of their blocks.

    Attributes:
        failure: the first error of the disk; nothing is written after it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        start: Iterable[bytes],
        sealer: Sealer,
        rows: bytes,
        *,
        force: bool,
        hold: bool = False,
    ) -> None:
        self.failure: OutputUnwritable | None = None
        self._path = path
        self._sealer = sealer
        self._rows = bytearray(rows)
        self._offset = 0
        self._owner = _getpid()
        self._file = Path(path)
        self._replaces: Path | None = None
        self._descriptor = self._create_file(force=force)
        self._is_open = self._may_withdraw = True
        self._identity = self._identify()
        try:
            for chunk in start:
                self._append(chunk)
            if not hold:
                self.publish()
        except BaseException:
            self.withdraw()
            raise

    @property
    def is_usable(self) -> bool:
        """Return whether a block can still be appended, here, by this process."""
        return self.failure is None and self._is_open and _getpid() == self._owner

    def append(self, kind: Kind, plain: bytes, rest: bytes) -> None:
        """Seal a block and write it."""
        row = encode_row(self._offset, kind, plain)
        self._append(self._sealer.seal(kind, plain, rest))
        self._rows += row

    def finish(self) -> None:
        """Write the index and the trailer."""
        offset = self._offset
        block = self._sealer.seal(Kind.INDEX, encode_index(bytes(self._rows)), b"")
        size = offset + len(block) + TRAILER_BYTES
        trailer = Trailer(offset, size, len(self._rows) // ROW_BYTES).pack()
        checksum = self._sealer.chain.link(self._sealer.checksum, trailer)
        self._append(block + trailer + checksum)

    def sync(self) -> None:
        """Wait until everything appended is on the disk."""
        try:
            _fsync(self._descriptor)
        except OSError as error:
            self._fail(error)

    def publish(self) -> None:
        """Take the place of the old file, at once; do nothing where there was none."""
        if self._replaces is None or _getpid() != self._owner:
            return
        try:
            _replace(self._file, self._replaces)
        except OSError as error:
            raise unwritable(self._path, error) from error
        self._file, self._replaces, self._may_withdraw = self._replaces, None, False

    def withdraw(self) -> None:
        """Close the file and take it away, unless it has taken the place of an old one."""
        self.close()
        if self._may_withdraw and _getpid() == self._owner:
            with suppress(OSError):
                self._file.unlink()

    def close(self) -> None:
        """Close the descriptor without writing."""
        if self._is_open:
            self._is_open = False
            if self._identify() == self._identity:
                _close(self._descriptor)

    def _create_file(self, *, force: bool) -> int:
        try:
            self._file = target = Path(_realpath(self._path))
            # The old file is never truncated: whoever has it open keeps reading it.
            if force and _is_regular_file(target):
                self._file, self._replaces = hidden_beside(target, _getpid()), target
                self._file.unlink(missing_ok=True)
            return _open(self._file, _CREATE, _PRIVATE)
        except FileExistsError as error:
            raise OutputExists(
                f"{self._path} exists already.",
                "Expected a path where nothing stands yet.",
                "Choose another path, or add --force to replace it.",
                path=str(self._path),
            ) from error
        except (OSError, ValueError) as error:
            raise unwritable(self._path, error) from error

    def _append(self, data: bytes) -> None:
        """Write all of this, or leave the file as it was."""
        assert self.is_usable, "only the process that created a record writes to it"
        try:
            # A program may have closed the descriptor, and opened a file of its own under it.
            if self._identify() != self._identity:
                raise OSError("the program closed the descriptor of the record")  # noqa: TRY301
            rest = memoryview(data)
            while rest:
                rest = rest[_write(self._descriptor, rest) :]
        except OSError as error:
            if self._identify() == self._identity:
                # Where even that fails, a torn tail stays, which the chain of checksums refuses.
                with suppress(OSError):
                    _truncate(self._descriptor, self._offset)
            self._fail(error)
        self._offset += len(data)

    def _fail(self, error: OSError) -> NoReturn:
        self.failure = unwritable(self._path, error)
        raise self.failure from error

    def _identify(self) -> tuple[int, int] | None:
        try:
            status = _fstat(self._descriptor)
        except OSError:
            return None
        return status.st_dev, status.st_ino


def hidden_beside(target: Path, process: int) -> Path:
    """Return the path at which a process writes the replacement of a file."""
    return target.with_name(f".{target.name}.{process}.partial")


def discard_hidden(path: str | os.PathLike[str], process: int) -> None:
    """Remove the unpublished file of a process that is gone."""
    with suppress(OSError):
        hidden_beside(Path(_realpath(path)), process).unlink()


def _is_regular_file(target: Path) -> bool:
    """Return whether a regular file is there; refuse anything else, which is never replaced."""
    try:
        mode = _lstat(target).st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(mode):
        raise OSError(f"{target} is not a regular file")
    return True


def unwritable(path: str | os.PathLike[str], error: Exception) -> OutputUnwritable:
    """Build the refusal for a path that cannot be written."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return OutputUnwritable(
        f"{path} cannot be written: {reason}.",
        "Expected a folder that is there and writable, and room on the disk.",
        "Choose another path with -o, or make room; what was sealed before stays readable.",
        path=str(path),
    )
