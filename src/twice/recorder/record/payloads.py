"""What blocks of points, frames, snapshots and JSON say: entries to bytes and back.

For the payload of each journal block. Pages and their tables are in `pagetables`, the frame around
a payload in `blocks`. Encoding returns two byte strings: the plain part, which stays readable in
place (compare-points, what an index needs), and the rest, which may be compressed.

Invariant: decoding what was encoded gives the same entries; a payload that no writer could have
made is refused, never guessed at.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from twice.errors import EncodingRefused
from twice.recorder.record.layout import (
    DIGEST_BYTES,
    HEAD_BYTES,
    POINT_BYTES,
    Head,
    Kind,
    unpack_head,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

TICK_MAX = 1 << 62
ACTOR_MAX = (1 << 32) - 1
KIND_BIT_MAX = 63


class MalformedError(ValueError):
    """A payload that no writer could have made; the reader turns it into E-RECORD-004."""


# A compare-point on its way to the file: shape, tick, root, chain, digests. A plain tuple, because
# making it is the hot path of a recording.
PointEntry = tuple[tuple[int, str], int, bytes, bytes, bytes]
# A journal frame: kind number, actor, tick, index of the next compare-point, payload.
FrameEntry = tuple[int, int, int, int, bytes]


class SnapshotEntry(NamedTuple):
    """Where a snapshot stands.

    Attributes:
        number: its number in the record, from 0.
        tick: tick before whose body it was taken.
        point: index of the next compare-point.
    """

    number: int
    tick: int
    point: int


def encode_points(
    first: int, entries: Sequence[PointEntry], shapes: Sequence[int]
) -> tuple[bytes, bytes]:
    """Compare-points, with the shape number of each beside them."""
    count = len(entries)
    _, ticks, roots, chains, digests = zip(*entries, strict=True)
    records = b"".join([part for pair in zip(roots, chains, strict=True) for part in pair])
    assert set(map(len, roots)) == set(map(len, chains)) == {DIGEST_BYTES}, (
        "a root and a chain are 16 bytes each"
    )
    low, high = min(ticks), max(ticks)
    assert -TICK_MAX < low <= high < TICK_MAX, "a tick lies within 62 bits"
    steps = [ticks[0], *[after - before for before, after in pairwise(ticks)]]
    plain = Head(first, count, Kind.POINTS, low, high).pack() + records
    columns = struct.pack(f"<{count}q{count}I", *steps, *shapes)
    return plain, columns + b"".join(digests)


class PointColumns(NamedTuple):
    """A points block as arrays.

    Attributes:
        head: first index, count, tick range.
        records: uint8, (count, 2, 16): root and chain.
        ticks: int64, (count,).
        shapes: uint32, (count,): shape number per point.
        digests: digest columns of all points, joined in order.
    """

    head: Head
    records: npt.NDArray[np.uint8]
    ticks: npt.NDArray[np.int64]
    shapes: npt.NDArray[np.uint32]
    digests: bytes


def decode_points(payload: bytes) -> PointColumns:
    """Decode a points block.

    Raises:
        MalformedError: when lengths and counts do not agree.
    """
    import numpy as np

    head = _head(payload, Kind.POINTS)
    n, start = head.count, HEAD_BYTES + POINT_BYTES * head.count
    middle, end = start + 8 * n, start + 12 * n
    if not n or len(payload) < end:
        raise MalformedError("a points block is shorter than its count")
    records = np.frombuffer(payload, np.uint8, POINT_BYTES * n, HEAD_BYTES)
    ticks = np.cumsum(np.frombuffer(payload, "<i8", n, start))
    shapes = np.frombuffer(payload, "<u4", n, middle)
    if (ticks.min(), ticks.max()) != (head.low, head.high):
        raise MalformedError("a points block names another range of ticks than it holds")
    return PointColumns(head, records.reshape(n, 2, DIGEST_BYTES), ticks, shapes, payload[end:])


def encode_frames(first: int, entries: Sequence[FrameEntry]) -> tuple[bytes, bytes]:
    """Encode journal frames as columns, payloads last."""
    count = len(entries)
    kinds, actors, ticks, points, payloads = zip(*entries, strict=True)
    bits = 0
    for kind in sorted(set(kinds)):
        bits |= 1 << min(kind, KIND_BIT_MAX)
    head = Head(first, count, Kind.FRAMES, min(points), max(points), bits).pack()
    columns = struct.pack(
        f"<{count}q{count}Q{count}I{count}I{count}H",
        *ticks,
        *points,
        *actors,
        *map(len, payloads),
        *kinds,
    )
    return head, columns + b"".join(payloads)


class FrameColumns(NamedTuple):
    """A frames block as columns, one entry per frame in the order they were written."""

    kinds: Sequence[int]
    actors: Sequence[int]
    ticks: Sequence[int]
    points: Sequence[int]
    payloads: Sequence[bytes]


def decode_frames(payload: bytes) -> FrameColumns:
    """Decode a frames block.

    Raises:
        MalformedError: when lengths and counts do not agree.
    """
    head = _head(payload, Kind.FRAMES)
    n = head.count
    start = HEAD_BYTES + 26 * n
    if not n or len(payload) < start:
        raise MalformedError("a frames block is shorter than its count")
    numbers = struct.unpack_from(f"<{n}q{n}Q{n}I{n}I{n}H", payload, HEAD_BYTES)
    ticks, points, actors = numbers[:n], numbers[n : 2 * n], numbers[2 * n : 3 * n]
    lengths, kinds = numbers[3 * n : 4 * n], numbers[4 * n :]
    if (min(points), max(points)) != (head.low, head.high):
        raise MalformedError("a frames block names another range of points than it holds")
    bodies = _cut(payload, start, lengths)
    return FrameColumns(kinds, actors, ticks, points, bodies)


def encode_snapshots(first: int, entries: Sequence[tuple[int, int, bytes]]) -> tuple[bytes, bytes]:
    """Encode snapshots given as tick, point and envelope."""
    count = len(entries)
    ticks, points, envelopes = zip(*entries, strict=True)
    head = Head(first, count, Kind.SNAPSHOTS, min(ticks), max(ticks)).pack()
    columns = struct.pack(f"<{count}q{count}Q{count}I", *ticks, *points, *map(len, envelopes))
    return head + columns, b"".join(envelopes)


def decode_snapshots(payload: bytes) -> tuple[list[SnapshotEntry], list[bytes]]:
    """Decode the snapshots of a block and their envelopes.

    Raises:
        MalformedError: when lengths and counts do not agree.
    """
    head = _head(payload, Kind.SNAPSHOTS)
    n = head.count
    start = HEAD_BYTES + 20 * n
    if not n or len(payload) < start:
        raise MalformedError("a snapshots block is shorter than its count")
    numbers = struct.unpack_from(f"<{n}q{n}Q{n}I", payload, HEAD_BYTES)
    entries = [SnapshotEntry(head.first + at, numbers[at], numbers[n + at]) for at in range(n)]
    return entries, _cut(payload, start, numbers[2 * n :])


def encode_json(document: Mapping[str, object]) -> bytes:
    """Encode a document in RFC 8785 form.

    Raises:
        EncodingRefused: E-ENCODE-001, when RFC 8785 has no form for a value in it.
    """
    import rfc8785

    try:
        return rfc8785.dumps(dict(document))  # type: ignore[arg-type]  # it refuses what it must
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise EncodingRefused(
            f"A document of the run record has no RFC 8785 form: {error}.",
            "Expected text, numbers up to 2**53 - 1, lists and maps with text as keys.",
            "Write large integers and other values as text.",
        ) from error


def decode_json(payload: bytes) -> dict[str, object]:
    """Decode the document in a block.

    Raises:
        MalformedError: when it is not a JSON object.
    """
    try:
        document = json.loads(payload)
        json.dumps(document, ensure_ascii=False).encode()  # a lone surrogate is refused here
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"a document is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise MalformedError("a document is not a JSON object")
    return document


def _head(payload: bytes, kind: Kind) -> Head:
    if len(payload) < HEAD_BYTES:
        raise MalformedError(f"a {kind.name.lower()} block is shorter than its head")
    head = unpack_head(payload)
    if head.kind != kind:
        raise MalformedError(f"a {kind.name.lower()} block names another kind in its head")
    return head


def _cut(payload: bytes, start: int, lengths: Sequence[int]) -> list[bytes]:
    bounds = list(accumulate(lengths, initial=start))
    if bounds[-1] != len(payload):
        raise MalformedError("the lengths in a block do not add up to its payload")
    return [payload[begin:end] for begin, end in pairwise(bounds)]
