"""The bytes that a program sent on a connection, as their number and a digest that grows with them.

Whatever comes in on a connection is recorded with a mark of what had gone out by then: so many bytes, their digest, and
how the newest of them begin. In replay the same bytes lead to the same marks, however the program cuts them into calls.

Invariant: the digest of a mark depends on the bytes and on the marks before it, on nothing else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from twice.foundation.digests import Algorithm, new_hasher

HEAD_BYTES_MAX = 1024
"""How much of what went out between two marks is kept to be read by people."""
SEGMENT_BYTES_MAX = 1 << 16
"""How much is remembered, so that a snapshot can be taken between two marks."""
ROUNDS, TIMERS, SENDER = 3, 4, 5
"""Places in a recorded mark: the turn of what came in, and who sent what had gone out before."""


class Mark(NamedTuple):
    """What had gone out at a moment.

    Attributes:
        sent: bytes since the connection began.
        digest: of those bytes, 16 bytes; of the marks before it too.
        head: the first bytes since the mark before, at most ``HEAD_BYTES_MAX``; empty when none.
        sender: the key of the actor that sent the first of them; empty where it is not known.
    """

    sent: int
    digest: bytes
    head: bytes
    sender: str = ""


NOTHING = Mark(0, b"", b"")


class SentBytes:
    """Counts and digests the bytes that go out, on from a mark and the segment that went out since."""

    def __init__(self, algorithm: Algorithm, mark: Mark = NOTHING, segment: bytes = b"") -> None:
        self.count = mark.sent
        self._algorithm, self._last = algorithm, mark
        self._segment = bytearray()
        self._hasher = new_hasher(algorithm)
        self._hasher.update(mark.digest)
        self.add(segment)

    @property
    def is_marked(self) -> bool:
        """Return whether nothing went out since the last mark."""
        return self.count == self._last.sent

    @property
    def head(self) -> bytes:
        """Return the first bytes since the last mark."""
        return bytes(self._segment[:HEAD_BYTES_MAX])

    def add(self, data: bytes | memoryview) -> None:
        """Add bytes that went out."""
        self.count += len(data)
        self._hasher.update(data)
        room = SEGMENT_BYTES_MAX - len(self._segment)
        if room > 0:
            self._segment += data[:room]

    def mark(self) -> Mark:
        """Mark the bytes that have gone out by now; a second mark at the same place has no head."""
        if self.is_marked:
            return self._last._replace(head=b"")
        digest = self._hasher.digest()[:16]
        self._last = Mark(self.count, digest, self.head)
        self._segment.clear()
        self._hasher = new_hasher(self._algorithm)
        self._hasher.update(digest)
        return self._last

    def state(self) -> tuple[int, bytes, bytes | None]:
        """Return the last mark's count and digest, and the bytes since then; None if not all are kept."""
        since = self.count - self._last.sent
        segment = bytes(self._segment) if since == len(self._segment) else None
        return (self._last.sent, self._last.digest, segment)


def read_mark(plain: object) -> Mark:
    """Read a mark from its recorded form."""
    assert isinstance(plain, tuple), "a mark is a tuple"
    return Mark(*plain[:3], *plain[SENDER:])


def read_turn(plain: Any) -> tuple[int | None, int, bool] | None:
    """Return the turn of an event by its mark; None where an older version's mark does not say.

    A turn is the busy rounds of its event loop, None without one; timers that ended; whether the loop waited.
    """
    if len(plain) <= ROUNDS:
        return None
    rounds, timers = plain[ROUNDS], plain[TIMERS] if len(plain) > TIMERS else 0
    waited = rounds is not None and rounds < 0
    return (~rounds if waited else rounds), timers, waited


def show_difference(one: bytes, other: bytes) -> tuple[str, str]:
    """Return the text around the first difference of the heads of two marks, for messages."""
    shorter = min(len(one), len(other))
    at = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    return show_part(one, at), show_part(other, at)


def show_part(data: bytes, at: int) -> str:
    """Return the text around a place, for messages."""
    start = max(0, at - 24)
    part = data[start : at + 56]
    return f"{'...' if start else ''}{part!r}{'...' if at + 56 < len(data) else ''}"
