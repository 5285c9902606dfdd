"""What passed one socket of a recorded loop, in order: each call of the loop on it, with how that ended.

An event is what was called, how it ended, and its value: ``returned``, ``raised`` with an outcome's exception, or
``again`` for a call that would have blocked.

Invariant: the secrets of what passed are blanked before it is written down.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from twice.foundation.digests import Algorithm, short_digest
from twice.recorder.effects.network.sent_bytes import HEAD_BYTES_MAX, show_difference
from twice.recorder.effects.outcomes import RAISED, RETURNED, exception, raised
from twice.recorder.redaction.mask import STAR

if TYPE_CHECKING:
    from twice.recorder.effects.loops.tape import LoopTape

AGAIN = "again"
CONNECT, RECEIVE, SEND = "connect", "receive", "send"
_AGAIN = ("SSLWantReadError", "SSLWantWriteError")
_KEPT_BYTES_MAX = 1 << 14
"""Of more bytes that went out at once, their digest is kept and how they begin."""


class SocketEvent(NamedTuple):
    """A call on a socket, as the record has it."""

    what: object
    how: str
    value: Any


class Sent(NamedTuple):
    """Bytes that went out.

    Attributes:
        size: how many.
        is_whole: whether these are all that were to go out.
        data: the bytes, or the first of them.
        digest: of all of them, where they are more; else empty.
    """

    size: int
    is_whole: bool
    data: bytes
    digest: bytes

    @classmethod
    def from_bytes(cls, data: bytes, algorithm: Algorithm, *, is_whole: bool) -> Sent:
        """Make it from the bytes without their secrets."""
        if len(data) <= _KEPT_BYTES_MAX:
            return cls(len(data), is_whole, data, b"")
        return cls(len(data), is_whole, data[:HEAD_BYTES_MAX], short_digest(algorithm)(data))


class SocketWriter:
    """Calls a socket, and writes down how it answers.

    Args:
        tape: of its loop.
        key: of the socket in the record.
    """

    def __init__(self, tape: LoopTape, key: str) -> None:
        self.key, self._tape = key, tape
        self._wire = tape.layer.redaction.stream()
        self._events: list[tuple[object, str, Any]] = []

    def call(self, what: object, live: Callable[[], Any]) -> Any:
        """Call it, and note how that ended."""
        try:
            value = live()
        except OSError as error:
            self._add_error(what, error)
            raise
        self._add(what, RETURNED, value)
        return value

    def send(self, data: bytes, live: Callable[[], int | None]) -> int:
        """Send bytes, and note those that went out."""
        try:
            count = live()
        except OSError as error:
            self._add_error(SEND, error)
            raise
        size = len(data)
        sent = size if count is None else count
        self._add(SEND, RETURNED, (data if sent == size else data[:sent], sent == size))
        return sent

    def claim(self, what: object, value: Any) -> Any:
        """Note a value, and return it."""
        self._add(what, RETURNED, value)
        return value

    def _add_error(self, what: object, error: OSError) -> None:
        if isinstance(error, BlockingIOError) or type(error).__name__ in _AGAIN:
            self._add(what, AGAIN, None)
        else:
            self._add(what, RAISED, raised(error)[1])

    def _add(self, what: object, how: str, value: object) -> None:
        if not self._events:
            self._tape.gathering.append(self)
        self._events.append((what, how, value))

    def take(self) -> list[tuple[object, str, Any]]:
        """Take the events since the last call, without secrets: looked for in all of them together."""
        events, self._events = self._events, []
        sent = [value[0] for what, how, value in events if what == SEND and how == RETURNED]
        received = [
            value[0] if type(value) is tuple else value
            for what, how, value in events
            if what == RECEIVE and how == RETURNED
        ]
        clean = iter(_cut(self._wire.sent(b"".join(sent)), sent))
        got = iter(_cut(self._wire.received(b"".join(received)), received))
        algorithm = self._tape.layer.algorithm
        for at, (what, how, value) in enumerate(events):
            if how != RETURNED:
                continue
            if what == SEND:
                one = Sent.from_bytes(next(clean), algorithm, is_whole=value[1])
                events[at] = (what, how, tuple(one))
            elif what == RECEIVE:
                piece = next(got)
                events[at] = (what, how, (piece, *value[1:]) if type(value) is tuple else piece)
        return events


def _cut(whole: bytes, pieces: list[bytes]) -> Iterator[bytes]:
    """Cut bytes into pieces as long as others."""
    at = 0
    for piece in pieces:
        yield whole[at : at + len(piece)]
        at += len(piece)


class SocketReader:
    """Gives what passed one socket while it was recorded.

    Args:
        tape: of its loop.
        key: of the socket in the record.
        blocks: of its events, as they were written.
    """

    def __init__(self, tape: LoopTape, key: str, blocks: Iterator[Any]) -> None:
        self.key, self._tape, self._blocks = key, tape, blocks
        self._wire = tape.layer.redaction.stream()
        self._events: deque[SocketEvent] = deque()
        # What the program sent since the block began, and what it had sent then.
        self._sent: list[tuple[bytes, Sent]] = []

    @property
    def next(self) -> SocketEvent | None:
        """The event that comes next; None at the end of the record."""
        if not self._events:
            self.compare()
            self._events.extend(SocketEvent(*each) for each in next(self._blocks, ()))
        return self._events[0] if self._events else None

    def call(self, what: object, live: Callable[[], Any]) -> Any:
        """Answer a call without making it; another one than the recorded is E-EFFECT-001."""
        del live
        event = self._take(what)
        if event.how == AGAIN:
            number = errno.EINPROGRESS if what == CONNECT else errno.EAGAIN
            raise BlockingIOError(number, os.strerror(number))
        if event.how == RAISED:
            raise exception(*event.value)
        return event.value

    def send(self, data: bytes, live: Callable[[], int | None]) -> int:
        """Compare bytes with those that went out, and return how many did; others are E-EFFECT-001."""
        sent = Sent(*self.call(SEND, live))
        own = data if sent.is_whole else data[: sent.size]
        self._sent.append((own, sent))
        # Secrets are blanked in all that a block has together, so what is blank can be compared only then.
        if len(own) != sent.size or any(
            mine != theirs != STAR[0] for mine, theirs in zip(own, sent.data, strict=False)
        ):
            self.compare()
        return len(own)

    def compare(self) -> None:
        """Compare what the program sent since the block began; other bytes than the recorded are E-EFFECT-001."""
        pieces = [own for own, _ in self._sent]
        plain = _cut(self._wire.sent(b"".join(pieces)), pieces)
        compared, self._sent = self._sent, []
        for piece, (_, sent) in zip(plain, compared, strict=True):
            own = Sent.from_bytes(piece, self._tape.layer.algorithm, is_whole=sent.is_whole)
            if own.data != sent.data:
                self.refuse(*show_difference(sent.data, own.data))
            if own != sent:
                self.refuse(
                    f"{sent.size} bytes sent", f"{own.size}, or others behind the first ones"
                )

    def claim(self, what: object, value: Any) -> Any:
        """Return the recorded value; for what the program gave, another one is E-EFFECT-001."""
        recorded = self._take(what).value
        if value is not None and recorded != value:
            self.refuse(str(recorded), str(value))
        return recorded

    def _take(self, what: object) -> SocketEvent:
        event = self.next
        if event is None or event.what != what:
            self.refuse("nothing more" if event is None else str(event.what), str(what))
        return self._events.popleft()

    def refuse(self, recorded: str, asked: str) -> NoReturn:
        """Report a program that does otherwise, and raise E-EFFECT-001."""
        raise self._tape.make_mismatch(recorded, asked, f"the socket {self.key}")
