"""A growing chain of blocks in a file: appended one by one, closed by an index and a trailer.

For the writer, which decides what goes into a block and when. Here a block is sealed, written, and
given its row in the index; the first failure of the disk stops everything after it.

Invariant: after every call the file is a chain of whole blocks, whatever failed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from twice.errors import OutputUnwritable
from twice.recorder.record.blocks import Sealer
from twice.recorder.record.chain import Chain
from twice.recorder.record.index import encode_index, row_of
from twice.recorder.record.layout import ROW_BYTES, TRAILER_BYTES, Header, Kind, Trailer
from twice.recorder.record.scan import Prefix
from twice.recorder.record.sink import Sink


class BlockLog:
    """The blocks of one file.

    Args:
        sink: a file of this process that ends in a whole block.
        chain: of the file.
        rows: index rows of the blocks in it.
        previous: checksum of the last of them.

    Attributes:
        failure: the first error of the disk; nothing is written after it.
    """

    def __init__(self, sink: Sink, chain: Chain, rows: list[bytes], previous: bytes) -> None:
        self.failure: OutputUnwritable | None = None
        self._sink = sink
        self._chain = chain
        self._sealer = Sealer(chain, previous)
        self._rows = rows

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        header: Header,
        identity: bytes,
        *,
        force: bool,
        hold: bool = False,
    ) -> BlockLog:
        """Create a file with its header and identity; leave none if they cannot be written.

        Args:
            path: the file.
            header: what it starts with.
            identity: the first block, as RFC 8785.
            force: replace an old file.
            hold: leave the old file there until ``publish``.

        Raises:
            OutputExists: E-OUTPUT-001, when the file is there and ``force`` is not given.
            OutputUnwritable: E-OUTPUT-002, when it cannot be written.
        """
        packed = header.pack()
        chain = Chain(header.algorithm, packed)
        block, checksum = Sealer(chain, chain.start).seal(Kind.IDENTITY, b"", identity)
        row = row_of(len(packed), Kind.IDENTITY, b"")
        sink = _started(path, [packed + block], force=force, hold=hold)
        return cls(sink, chain, [row], checksum)

    @classmethod
    def copy(
        cls,
        path: str | os.PathLike[str],
        chain: Chain,
        chunks: Iterable[bytes],
        prefix: Prefix,
        *,
        force: bool,
    ) -> BlockLog:
        """Create a file that continues behind the intact part of another one.

        Args:
            path: the file.
            chain: of both.
            chunks: the bytes of the intact part, its header included.
            prefix: what they are.
            force: replace an old file.

        Raises:
            OutputExists: E-OUTPUT-001, when the file is there and ``force`` is not given.
            OutputUnwritable: E-OUTPUT-002, when it cannot be written.
        """
        sink = _started(path, chunks, force=force)
        return cls(sink, chain, [bytes(prefix.rows)], prefix.checksum)

    @property
    def usable(self) -> bool:
        """Return whether a block can still be appended, here, by this process."""
        return self.failure is None and self._sink.usable

    def append(self, kind: Kind, plain: bytes, rest: bytes) -> None:
        """Seal a block and write it.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the disk is full or fails.
        """
        block, checksum = self._sealer.seal(kind, plain, rest)
        offset = self._sink.offset
        self._written(block)
        self._rows.append(row_of(offset, kind, plain))
        self._sealer.advance(checksum)

    def finish(self) -> None:
        """Write the index and the trailer.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the disk is full or fails.
        """
        offset, rows = self._sink.offset, b"".join(self._rows)
        block, checksum = self._sealer.seal(Kind.INDEX, encode_index(rows), b"")
        size = offset + len(block) + TRAILER_BYTES
        trailer = Trailer(offset, size, len(rows) // ROW_BYTES).pack()
        self._written(block + trailer + self._chain.after(checksum, trailer))

    def sync(self) -> None:
        """Wait until the disk has everything.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the disk fails.
        """
        try:
            self._sink.sync()
        except OutputUnwritable as error:
            self.failure = error
            raise

    def publish(self) -> None:
        """Take the place of the old file, where one was to be replaced.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the folder does not take it.
        """
        self._sink.publish()

    def withdraw(self) -> None:
        """Close the file and take it away, unless it has taken the place of an old one."""
        self._sink.withdraw()

    def close(self) -> None:
        """Close the file without writing."""
        self._sink.close()

    def _written(self, data: bytes) -> None:
        try:
            self._sink.append(data)
        except OutputUnwritable as error:
            self.failure = error
            raise


def _started(
    path: str | os.PathLike[str], chunks: Iterable[bytes], *, force: bool, hold: bool = False
) -> Sink:
    """Create a file with these bytes; on failure leave no new file, and keep the old one."""
    sink = Sink.create(path, force=force)
    try:
        for chunk in chunks:
            sink.append(chunk)
        if not hold:
            sink.publish()
    except BaseException:
        sink.withdraw()
        raise
    return sink
