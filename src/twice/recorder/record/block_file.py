"""A record as a file of blocks that are opened one at a time, each proved when it is read.

It finds the blocks by the index, or by scanning where there is none.

Invariant: nothing is believed about a file before its header's checksum stands, no payload leaves
here unproved, and nothing that was returned keeps the file mapped, or the copy of an object.
"""

from __future__ import annotations

import mmap
import os
import stat
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence, Sized
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from twice.errors import (
    RecordCorrupt,
    RecordForeign,
    RecordOutOfRange,
    RecordTorn,
    RecordUnreadable,
    RecordVersion,
    SessionMisuse,
)
from twice.foundation.digests import Algorithm
from twice.foundation.printable import pluralize
from twice.foundation.record_url import RecordUrl, to_path
from twice.recorder.record import layout
from twice.recorder.record.layout import ByteSource, Chain, Header, Kind, StoredBlock, find_block
from twice.recorder.record.object_store import AHEAD_BYTES, PART_BYTES, ObjectBytes
from twice.recorder.record.prefix import Prefix, Progress, Visit, read_closed, scan

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_CACHE_BYTES = 32 << 20
_Decoded = TypeVar("_Decoded")
_Entries = TypeVar("_Entries", bound=Sized)
# Sessions govern the operating system's functions later on; the record needs the real ones.
_open, _close, _fstat = os.open, os.close, os.fstat
# Without O_NONBLOCK a named pipe at the path would make the reader wait for ever.
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_BINARY", "O_NONBLOCK"))


class BlockFile:
    """The blocks of one record, read-only, of a file or of an object in a store."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = to_path(path)
        self._cache: OrderedDict[int, bytes] = OrderedDict()
        self._cached_bytes = 0
        self._lock = RLock()  # a replay reads on the threads of its program
        self._expander = layout.Expander()
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._map: mmap.mmap | ObjectBytes
        self._data: ByteSource
        if isinstance(self.path, RecordUrl):
            self._map = self._data = ObjectBytes(self.path)
        else:
            self._map = _map_file(self.path)
            self._data = memoryview(self._map)
        self.size_bytes = len(self._data)
        try:
            start = bytes(self._data[: layout.HEADER_BYTES])
            self.header = _read_header(self.path, start)
            self.chain = Chain(self.header.algorithm, start)
            # The blocks that stand, and the tear behind them if there is one; how many, without the index.
            self.prefix = read_closed(self._data, self.chain) or scan(self._data, self.chain)
            self.blocks = self.prefix.blocks
            if not self.blocks:
                raise self._nothing()  # noqa: TRY301
        except BaseException:
            self.close()
            raise
        self._rows = bytes(self.prefix.rows)

    @cached_property
    def table(self) -> npt.NDArray[np.void]:
        """The index as a structured array, one element per block (`ROW_FIELDS`)."""
        import numpy as np

        return np.frombuffer(self._rows, np.dtype(layout.ROW_FIELDS))

    def read(self, number: int) -> StoredBlock:
        """Return a block as it is in the file, after a check of its checksum."""
        self._require_open()
        offset, kind = layout.unpack_row(self._rows, number)
        at = layout.unpack_row(self._rows, number - 1)[0] if number else offset
        if isinstance(self._data, ObjectBytes):
            # The block with the checksum before it: one request, not one for each of its parts.
            self._data[max(at, offset - PART_BYTES) : self._end(number)]
        block = find_block(self._data, offset)
        if isinstance(block, str):
            raise self.corrupt(number, block)
        if block.header.kind != kind:
            raise self.corrupt(number, "it is of another kind than the index says")
        before = self.chain.start
        if number:
            before = bytes(self._data[at + 16 : at + layout.BLOCK_HEADER_BYTES])
        if not block.follows(self.chain, before):
            raise self.corrupt(number, "its checksum does not follow from what stands before it")
        return block

    def prefetch(self, numbers: Iterable[int]) -> None:
        """Fetch blocks of an object that are to be read, in the order given, neighbours at once."""
        if not isinstance(self._data, ObjectBytes):
            return
        begin = end = 0
        for number in numbers:
            offset, _ = layout.unpack_row(self._rows, number)
            if offset > end + PART_BYTES or self._end(number) - begin > AHEAD_BYTES:
                self._data[begin:end]
                begin = offset
            end = self._end(number)
        self._data[begin:end]

    def _end(self, number: int) -> int:
        """Return where the block after this one starts."""
        if number + 1 == self.blocks:
            return self.prefix.end
        return layout.unpack_row(self._rows, number + 1)[0]

    def payload(self, number: int) -> bytes:
        """Return the expanded payload of a block; the last ones used are cached."""
        with self._lock:
            cached = self._cache.get(number)
            if cached is not None:
                self._cache.move_to_end(number)
                return cached
            try:
                payload = self._expander.expand(self.read(number))
            except layout.MalformedError as error:
                raise self.corrupt(number, str(error)) from error
            self._cache[number] = payload
            self._cached_bytes += len(payload)
            while self._cached_bytes > _CACHE_BYTES and len(self._cache) > 1:
                _, dropped = self._cache.popitem(last=False)
                self._cached_bytes -= len(dropped)
            return payload

    def decode(self, number: int, decode: Callable[[bytes], _Decoded]) -> _Decoded:
        """Return a block's payload through a decoder."""
        try:
            return decode(self.payload(number))
        except layout.MalformedError as error:
            raise self.corrupt(number, str(error)) from error

    def scan(self, progress: Progress | None = None, visit: Visit | None = None) -> Prefix:
        """Prove the whole file from its start."""
        self._require_open()
        return scan(self._data, self.chain, progress, visit)

    def copy_bytes(self, begin: int, end: int) -> bytes:
        """Return bytes of the file as they are; nothing is proved here."""
        self._require_open()
        return bytes(self._data[begin:end])

    def kind_at(self, offset: int) -> str:
        """Return the kind that the bytes at an offset claim; for messages only."""
        block = find_block(self._data, offset)
        return "unknown" if isinstance(block, str) else Kind(block.header.kind).name.lower()

    def corrupt(self, number: int, why: str) -> RecordCorrupt:
        """Build the refusal for a block of this record."""
        offset, found = layout.unpack_row(self._rows, number)
        # An index that lies may name a kind that there is not.
        kind = Kind(found).name.lower() if found in Kind._value2member_map_ else "unknown"
        return RecordCorrupt(
            f"{self.path}: block {number} ({kind}), at byte {offset}, was changed: {why}.",
            "Expected the bytes that were written when the run was recorded.",
            "Take another copy of the file; `twice show` tells what still stands before it.",
            path=str(self.path),
            block=number,
            offset=offset,
            kind=kind,
        )

    def fetch(self) -> Path:
        """Return the path of the file on this machine; an object is copied once, and read from its copy from here on.

        The copy is private to this account, and goes when the file is closed.

        Raises:
            RecordUnreadable: E-RECORD-005. OutputUnwritable: E-OUTPUT-002, without room for the copy.
        """
        self._require_open()
        if isinstance(self._data, ObjectBytes):
            self._copy = tempfile.TemporaryDirectory(prefix="twice-record-")
            self._data.copy_to(Path(self._copy.name) / self.path.name)
            self._data.close()
            self._map = _map_file(Path(self._copy.name) / self.path.name)
            self._data = memoryview(self._map)
        return self.path if self._copy is None else Path(self._copy.name) / self.path.name

    def close(self) -> None:
        """Unmap the file; payloads that were returned stay."""
        self._cache.clear()
        if isinstance(self._data, memoryview):
            self._data.release()
        self._map.close()
        if self._copy is not None:
            self._copy.cleanup()

    def _require_open(self) -> None:
        if self._map.closed:
            raise SessionMisuse(
                f"{self.path} was closed.",
                "Expected an open record.",
                "Read from it inside the `with` block, or open it again.",
                path=str(self.path),
            )

    def _nothing(self) -> RecordCorrupt | RecordTorn:
        """Build the refusal for a record of which no block stands."""
        tear = self.prefix.tear
        assert tear is not None, "a prefix without blocks has a tear"
        return (RecordCorrupt if tear.damaged else RecordTorn)(
            f"{self.path}: its first block, at byte {tear.offset}, does not stand: {tear.reason}.",
            "Expected the identity of the run there.",
            "Nothing of the run can be read; take another copy, or record it again.",
            path=str(self.path),
            offset=tear.offset,
            block=0,
            kind="identity",
        )

    def out_of_range(
        self, noun: str, number: int, count: int, /, **fields: int
    ) -> RecordOutOfRange:
        """Build the refusal for an entry that is not in this record."""
        return RecordOutOfRange(
            f"{noun.capitalize()} {number} was asked for.",
            f"{self.path} holds {pluralize(count, noun)}, from 0.",
            "Ask for one of those.",
            **fields,
        )


class EntryIndex:
    """The blocks of one kind, and which entries, counted over the whole file, each of them holds."""

    def __init__(self, file: BlockFile, kind: Kind) -> None:
        self._file, self._kind = file, kind

    @cached_property
    def blocks(self) -> npt.NDArray[np.intp]:
        """The numbers of the blocks in the file."""
        of_kind: npt.NDArray[np.intp] = (self._file.table["kind"] == self._kind).nonzero()[0]
        return of_kind

    @cached_property
    def firsts(self) -> npt.NDArray[np.int64]:
        """The number of the first entry of each block, and behind the last block the count."""
        import numpy as np

        counts = self._file.table["count"][self.blocks]
        return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))

    @cached_property
    def count(self) -> int:
        """How many entries all blocks hold."""
        return int(self.firsts[-1])

    def position(self, entry: int) -> int:
        """Return the place of an entry's block among these blocks."""
        return int(self.firsts.searchsorted(entry, "right")) - 1

    def find(self, entry: int) -> int:
        """Return the number, in the file, of an entry's block."""
        return int(self.blocks[self.position(entry)])

    def prefetch(self, entries: Sequence[int]) -> None:
        """Fetch the blocks of entries in an object store, in the order of the file."""
        import numpy as np

        if isinstance(self._file.path, RecordUrl) and len(entries):
            at = np.unique(self.firsts.searchsorted(np.array(entries), "right") - 1)
            self._file.prefetch(self.blocks[at[at < len(self.blocks)]].tolist())

    def decode(self, entry: int, decode: Callable[[bytes], _Entries]) -> tuple[int, _Entries]:
        """Return the entries of an entry's block, proved and decoded, and the number of the first."""
        at = self.position(entry)
        number, first, end = int(self.blocks[at]), int(self.firsts[at]), int(self.firsts[at + 1])
        entries = self._file.decode(number, decode)
        if len(entries) != end - first:
            raise self._file.corrupt(
                number, "it holds another number of entries than the index says"
            )
        return first, entries


def _map_file(path: Path) -> mmap.mmap:
    """Map the file into memory, read-only."""
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


def _read_header(path: Path, start: bytes) -> Header:
    """Read the header of a record in a format that this version knows."""
    if not start.startswith(layout.MAGIC[: len(start)]):
        zeros = not any(start)
        raise _foreign(path, "it starts with zeros" if zeros else f"it starts with {start[:8]!r}")
    if len(start) < layout.HEADER_BYTES:
        raise RecordTorn(
            f"{path} ends after {pluralize(len(start), 'byte')}, inside its header; nothing of the run is in it.",
            f"Expected a header of {layout.HEADER_BYTES} bytes and blocks behind it.",
            "Record the run again.",
            path=str(path),
            offset=len(start),
        )
    fields = layout.unpack_header(start)
    if fields is None:
        raise RecordCorrupt(
            f"{path}: the file header, bytes 0 to {layout.HEADER_BYTES}, was changed.",
            "Expected a header whose checksum stands.",
            "Take another copy of the file.",
            path=str(path),
            offset=0,
            kind="header",
        )
    number, run_id, label, written_by = fields
    if number != layout.FORMAT:
        raise _other_version(path, f"record format {number}", written_by)
    try:
        algorithm = Algorithm(label.decode("ascii", "replace"))
    except ValueError as error:
        raise _other_version(path, f"digested with {label!r}", written_by) from error
    return Header(number, run_id, algorithm, written_by)


def _foreign(path: Path, why: str) -> RecordForeign:
    return RecordForeign(
        f"{path} is not a run record: {why}.",
        f"Expected a file that starts with {layout.MAGIC!r}.",
        "Give the path of a file that `twice record` wrote.",
        path=str(path),
    )


def _other_version(path: Path, what: str, written_by: str) -> RecordVersion:
    writer = f"twice {written_by}" if written_by else "a version of twice it does not name"
    newer = f"'twice>={written_by}'" if written_by else "--upgrade twice"
    return RecordVersion(
        f"{path} is {what}; this version reads record format {layout.FORMAT}.",
        f"It was written by {writer}.",
        f"Install that version or newer: pip install {newer}",
        path=str(path),
        written_by=written_by,
    )
