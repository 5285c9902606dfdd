"""The file a record is written to: one descriptor, whole blocks, this process only.

For creating the file and appending blocks to it so that what stands is always a valid prefix: a
block that cannot be written whole is cut off again. A file that replaces an old one is written under
a hidden name beside it until it is published. It knows nothing of what blocks mean.

Invariant: only the process that created the sink ever writes to it; a forked child cannot.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from twice.errors import OutputExists, OutputUnwritable

_PRIVATE = 0o600
"""A record may hold what stood in files that only its owner reads."""

# Sessions govern the operating system's functions later on; the record needs the real ones.
_open, _write, _close, _fsync, _truncate = os.open, os.write, os.close, os.fsync, os.ftruncate
_getpid, _lstat, _fstat, _unlink, _realpath, _replace = (
    os.getpid,
    os.lstat,
    os.fstat,
    os.unlink,
    os.path.realpath,
    os.replace,
)
_CREATE = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


class Sink:
    """An append-only file.

    Args:
        descriptor: open for writing, at its start.
        path: for messages.
        file: where the file stands.
        replaces: the old file whose place it takes when it is published, or None.
    """

    def __init__(
        self, descriptor: int, path: Path, file: Path, *, replaces: Path | None = None
    ) -> None:
        self.path = path
        self.offset = 0
        self._file = file
        self._replaces = replaces
        self._may_withdraw = True
        self._descriptor = descriptor
        self._owner = _getpid()
        self._open = True
        self._identity = self._file_identity()

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, force: bool) -> Sink:
        """Create a file; with ``force`` an old one at the path stays until ``publish``.

        It is never truncated in place: whoever has the old record open keeps reading it.

        Raises:
            OutputExists: E-OUTPUT-001, when the file is there and ``force`` is not given.
            OutputUnwritable: E-OUTPUT-002, when it cannot be created.
        """
        try:
            target = Path(_realpath(path))
            if force and _stands(target):
                hidden = hidden_beside(target, _getpid())
                hidden.unlink(missing_ok=True)
                return cls(_open(hidden, _CREATE, _PRIVATE), Path(path), hidden, replaces=target)
            return cls(_open(target, _CREATE, _PRIVATE), Path(path), target)
        except FileExistsError as error:
            raise OutputExists(
                f"{path} exists already.",
                "Expected a path where nothing stands yet.",
                "Choose another path, or add --force to replace it.",
                path=str(path),
            ) from error
        except (OSError, ValueError) as error:
            raise unwritable(path, error) from error

    @property
    def usable(self) -> bool:
        """Return whether this process may still write."""
        return self._open and _getpid() == self._owner

    def append(self, data: bytes) -> None:
        """Write all of this, or leave the file as it was.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the disk is full or fails.
        """
        assert self.usable, "only the process that created a record writes to it"
        try:
            self._still_ours()
            rest = memoryview(data)
            while rest:
                rest = rest[_write(self._descriptor, rest) :]
        except OSError as error:
            self._cut_back()
            raise unwritable(self.path, error) from error
        self.offset += len(data)

    def publish(self) -> None:
        """Take the place of the old file, at once; nothing where there was none.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the folder does not take it.
        """
        if self._replaces is None or _getpid() != self._owner:
            return
        try:
            _replace(self._file, self._replaces)
        except OSError as error:
            raise unwritable(self.path, error) from error
        self._file, self._replaces, self._may_withdraw = self._replaces, None, False

    def withdraw(self) -> None:
        """Close, and take the file away again, unless it has taken the place of an old one."""
        self.close()
        if self._may_withdraw and _getpid() == self._owner:
            with suppress(OSError):
                self._file.unlink()

    def sync(self) -> None:
        """Wait until everything appended is on the disk.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the disk fails.
        """
        try:
            _fsync(self._descriptor)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def close(self) -> None:
        """Close the descriptor; nothing is written."""
        if self._open:
            self._open = False
            if self._file_identity() == self._identity:
                _close(self._descriptor)

    def _file_identity(self) -> tuple[int, int] | None:
        try:
            status = _fstat(self._descriptor)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _still_ours(self) -> None:
        """Check that the descriptor is still the record's: a program may have closed it and reused it."""
        if self._file_identity() != self._identity:
            raise OSError("the program closed the descriptor of the record")

    def _cut_back(self) -> None:
        if self._file_identity() != self._identity:
            return
        try:
            _truncate(self._descriptor, self.offset)
        except OSError:
            return  # the bytes stay as a torn tail, which the chain of checksums refuses


def hidden_beside(target: Path, process: int) -> Path:
    """Return the path at which a process writes the replacement of a file."""
    return target.with_name(f".{target.name}.{process}.partial")


def discard_hidden(path: str | os.PathLike[str], process: int) -> None:
    """Remove the unpublished file of a process that is gone."""
    with suppress(OSError):
        hidden_beside(Path(_realpath(path)), process).unlink()


def _stands(target: Path) -> bool:
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
