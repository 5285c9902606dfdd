"""The file of a record under way: a chain of whole blocks that grows, and is closed by index and trailer.

A file that replaces an old one is written under a hidden name beside it until it is published. `migrate`
writes one with the proved blocks of another record.

Invariant: after every call the file is a chain of whole blocks, whatever failed, and only the
process that created it ever writes to it: a forked child cannot.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from twice.errors import OutputExists, OutputUnwritable, UsageError
from twice.recorder.record.block_file import BlockFile
from twice.recorder.record.layout import (
    ROW_BYTES,
    TRAILER_BYTES,
    Kind,
    Sealer,
    Trailer,
    encode_index,
    encode_row,
    unpack_row,
)
from twice.recorder.record.payloads import decode_json, encode_json
from twice.recorder.record.prefix import Prefix

# A record may hold the content of files that only its owner reads.
_PRIVATE = 0o600
_CHUNK_BYTES = 1 << 20
_TEAR_FIELDS = ("reason", "offset", "points", "damaged")
# Sessions govern the operating system's functions later on; the record needs the real ones.
_open, _write, _close, _truncate = os.open, os.write, os.close, os.ftruncate
_getpid, _lstat, _fstat = os.getpid, os.lstat, os.fstat
_realpath, _replace = os.path.realpath, os.replace
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_CREATE |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class BlockWriter:
    """Writes the blocks of one new file, behind its first bytes with the index rows of their blocks."""

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
        self.failure: OutputUnwritable | None = None  # of the disk; nothing is written after it
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
        block = self._sealer.seal(Kind.INDEX, encode_index(self._rows), b"")
        size = offset + len(block) + TRAILER_BYTES
        trailer = Trailer(offset, size, len(self._rows) // ROW_BYTES).pack()
        checksum = self._sealer.chain.link(self._sealer.checksum, trailer)
        self._append(block + trailer + checksum)

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
            self.failure = unwritable(self._path, error)
            raise self.failure from error
        self._offset += len(data)

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


def migrate(
    path: str | os.PathLike[str], out: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Write a closed record of the newest format with the content of another one.

    A record of the newest format, so far the only one, is copied byte for byte: its chain of checksums
    stays. A torn or damaged record keeps the blocks before the tear and gets the ending
    ``{"how": "torn", "reason": …, "offset": …, "points": …, "damaged": …}``. Where the run did end
    and only its index or trailer is missing or damaged, the ending stays its own.

    Args:
        path: the old record; it is only read.
        out: the new one.
        force: replace a file at ``out``.

    Raises:
        UsageError: E-USE-001, when both paths are one file.
        OutputExists: E-OUTPUT-001, when ``out`` exists and ``force`` is not given.
        OutputUnwritable: E-OUTPUT-002, when it cannot be written.
        RecordVersion: E-RECORD-001, when the record is newer than this version.
        RecordTorn: E-RECORD-003, when it ends before anything of the run.
    """
    with closing(BlockFile(path)) as file:
        if Path(out).exists() and Path(out).samefile(path):
            raise UsageError(
                f"{out} is the record that is read.",
                "Expected another path for the new record.",
                "Choose one with -o; the old record stays as it is.",
                path=str(out),
            )
        prefix = file.scan()
        with _copy_blocks(file, prefix, out, force=force) as blocks:
            if not prefix.ended:
                tear = {name: getattr(prefix.tear, name) for name in _TEAR_FIELDS}
                blocks.append(Kind.ENDING, b"", encode_json({"how": "torn", **tear}))
            blocks.finish()


def add_caveat(path: str | os.PathLike[str], caveat: str) -> None:
    """Add a caveat to the ending of a closed record of this process, which is replaced at once.

    Raises:
        OutputUnwritable: E-OUTPUT-002, when there is no room for a second copy; the record stays as it was.
    """
    with closing(BlockFile(path)) as file:
        prefix, last = file.prefix, file.blocks - 1
        ending = file.decode(last, decode_json)
        begin, _ = unpack_row(bytes(prefix.rows), last)
        before = Prefix(begin, file.read(last - 1).checksum, prefix.rows[: last * ROW_BYTES])
        with _copy_blocks(file, before, path, force=True, hold=True) as blocks:
            caveats: Any = ending["caveats"]
            changed = {**ending, "caveats": [*caveats, caveat]}
            blocks.append(Kind.ENDING, b"", encode_json(changed))
            blocks.finish()
            blocks.publish()


@contextmanager
def _copy_blocks(
    file: BlockFile, prefix: Prefix, out: str | os.PathLike[str], *, force: bool, hold: bool = False
) -> Iterator[BlockWriter]:
    """Begin a file with the first blocks of a record, as they are; after an error it goes."""
    chunks = (
        file.copy_bytes(begin, min(begin + _CHUNK_BYTES, prefix.end))
        for begin in range(0, prefix.end, _CHUNK_BYTES)
    )
    sealer = Sealer(file.chain, prefix.checksum)
    blocks = BlockWriter(out, chunks, sealer, bytes(prefix.rows), force=force, hold=hold)
    try:
        yield blocks
    except BaseException:
        blocks.withdraw()
        raise
    blocks.close()
