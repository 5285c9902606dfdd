"""One connection in replay: what came in comes in again once as much has gone out as had then.

The socket's descriptor is one end of a pair that nobody else holds; it is readable exactly while something
can be received, so that ``select``, ``poll`` and event loops wait for it as they did. What the program
sends is held against the record at once and goes nowhere.

Not for: time. A reply is there as soon as the request is out.

Invariant: nothing is given before the bytes that had gone out before it, and none of it twice.
"""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from twice.errors import EffectMismatch
from twice.recording.effects import ops
from twice.recording.effects.events import Event
from twice.recording.effects.network.connection import CLOSED
from twice.recording.effects.network.outgoing import Mark, Outgoing, around, read_mark, told_apart
from twice.recording.effects.network.turns import INCOMING, Turns
from twice.recording.effects.outcomes import RETURNED, Outcome, given, outcome_of

if TYPE_CHECKING:
    from twice.recording.effects.layer import EffectLayer

_PATIENCE_SECONDS = 20.0
"""How long a blocked reader waits for another thread to send what its reply needs."""
_pair = socket.socketpair


class PlayedConnection:
    """A connection that the record answers.

    Args:
        layer: the layer that governs.
        key: its name in the record.
        events: what the record holds of it.
        turns: when its replies become readable, among others'.
    """

    def __init__(self, layer: EffectLayer, key: str, events: Sequence[Event], turns: Turns) -> None:
        self.layer, self.key, self.thread = layer, key, threading.get_ident()
        self.veiled = self._greeted = self._over = False
        self._outgoing, self._wire = Outgoing(layer.algorithm), layer.redaction.stream()
        self._events: Sequence[tuple[int, Any]] = events
        self._at = self._boundary = self._uncovered = 0
        self._deferred: Outcome | None = None
        self._turns = turns
        self._more = threading.Condition(self._turns.lock)
        self._line = layer.line(key)
        self._far: socket.socket | None = None
        self._near = -1
        self._lit = False
        self._rest: bytes | None = None

    # -- making it ------------------------------------------------------------------------------

    def connect(self, asked: object, sock: socket.socket, connect: Callable[[], object]) -> None:
        """Connect as it was recorded.

        Raises:
            EffectMismatch: E-EFFECT-001, when the record holds another address.
        """
        del connect
        event = self._events[0] if self._events else None
        if event is None or event[0] != ops.CONNECT.number or event[1][0] != asked:
            was = "no such connection" if event is None else str(event[1][0])
            self._refuse(f"connects to {asked}", was, str(asked))
        _, (_, (deferred, outcome)) = event
        self._take(ops.CONNECT, event[1])
        if outcome[0] == RETURNED or deferred:
            self._stand_in(sock)
        if deferred and sock.gettimeout() == 0:
            self._deferred = outcome
            raise BlockingIOError(errno.EINPROGRESS, os.strerror(errno.EINPROGRESS))
        given(outcome)

    def connect_again(self, connect: Callable[[], object]) -> object:
        """Ask again for a connection that was asked for."""
        return given(self.about("connect", lambda: outcome_of(connect)))

    def connected(self, error_number: Callable[[], int]) -> int:
        """How a connection that was not waited for went: 0, or the number of an error."""
        del error_number
        outcome, self._deferred = self._deferred, None
        return 0 if outcome is None or outcome[0] == RETURNED else int(outcome[1][2][0])

    def _stand_in(self, sock: socket.socket) -> None:
        """Let the socket's descriptor be one end of a pair."""
        near, self._far = _pair()
        with near:
            os.dup2(near.fileno(), sock.fileno(), inheritable=False)
        self._near = sock.fileno()
        self.layer.owned_descriptors.update((self._near, self._far.fileno()))
        with self._more:
            self.show()
            self._turns.join(self)

    # -- what goes out ----------------------------------------------------------------------------

    def send(self, data: Any, send: Callable[[], int | None]) -> int:
        """Bytes go out on the socket; a veiled one's are nobody's."""
        if self.veiled:
            with memoryview(data) as view:
                return view.nbytes
        return self.write(data, send)

    def write(self, data: Any, send: Callable[[], int | None]) -> int:
        """Bytes go out: they must be those of the record.

        Raises:
            EffectMismatch: E-EFFECT-001, when they are not, or are more.
        """
        del send
        with memoryview(data) as view, view.cast("B") as octets, self._more:
            self._fail_if_it_failed()
            left = memoryview(self._wire.sent(bytes(octets)))
            while left:
                mark = self._next_boundary()
                if mark is None:
                    if self._ends:
                        self._refuse(
                            f"sends more than the {self._outgoing.count} bytes it did",
                            "nothing more",
                            around(bytes(left[:200]), 0),
                        )
                    self._outgoing.add(left)
                    break
                step = left[: mark.sent - self._outgoing.count]
                self._outgoing.add(step)
                left = left[len(step) :]
                if self._outgoing.count == mark.sent:
                    self._compare(mark)
            self.show()
            self._turns.move()
            self._more.notify_all()
            return len(octets)

    def greet(self) -> None:
        """A pair of TLS buffers sends its first bytes: let the answer to them be there."""
        with self._more:
            self.veiled = self._greeted = True
            self._uncovered = self._at
            self.show()

    def _next_boundary(self) -> Mark | None:
        """The next recorded mark that lies ahead of what has gone out."""
        while self._boundary < len(self._events):
            number, value = self._events[self._boundary]
            if number != ops.CONNECT.number:
                mark = read_mark(value[0])
                if mark.sent > self._outgoing.count:
                    return mark
            self._boundary += 1
        return None

    @property
    def _ends(self) -> bool:
        return bool(self._events) and self._events[-1][0] == ops.CLOSED.number

    def _compare(self, recorded: Mark) -> None:
        sent = self._outgoing.mark()
        if sent.digest != recorded.digest:
            self._refuse("sends other bytes than it did", *told_apart(recorded, sent))

    def _fail_if_it_failed(self) -> None:
        event = self._events[self._at] if self._at < len(self._events) else None
        if event is not None and event[0] == ops.SEND_FAILED.number:
            mark, outcome = event[1]
            if mark[0] == self._outgoing.count:
                self._take(ops.SEND_FAILED, event[1])
                given(outcome)

    # -- what comes in ------------------------------------------------------------------------------

    def receive(
        self, sock: socket.socket, size: int, receive: Callable[[], Any], *, peek: bool = False
    ) -> Any:
        """What came in on the socket: bytes, or bytes and who sent them."""
        del receive
        with self._more:
            if self.veiled:
                return self._tokens(sock.gettimeout())
            return self._part(sock.gettimeout(), size, peek=peek)

    def receive_into(
        self, sock: socket.socket, buffer: Any, size: int, receive: Callable[[], int]
    ) -> int:
        """The same into a buffer."""
        return _put(self.receive(sock, size, receive), buffer)

    def read(self, sock: socket.socket | None, size: int, receive: Callable[[], Any]) -> Any:
        """What came in, plain; what a veiled socket let through by now, for a pair of buffers."""
        del receive
        with self._more:
            if sock is None and self._rest is None and self._at >= self._uncovered:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            return self._part(0 if sock is None else sock.gettimeout(), size)

    def read_into(
        self, sock: socket.socket | None, buffer: Any, size: int, receive: Callable[[], int]
    ) -> int:
        """The same into a buffer."""
        return _put(self.read(sock, size, receive), buffer)

    def _part(self, timeout: float | None, size: int, *, peek: bool = False) -> Any:
        """As much of what came in as is asked for; the rest is next."""
        if self._rest is None:
            event = self._wait(timeout, self._at)
            if not peek:
                self._take(ops.OPS[event[0]], event[1])
            result = given(event[1][1])
        else:
            result = self._rest
        if isinstance(result, bytes):
            result, rest = result[:size], result[size:]
            if not peek:
                self._rest = rest or None
        self.show()
        return result

    def _tokens(self, timeout: float | None) -> bytes:
        """What a veiled socket gives: one byte for each thing that its TLS object may take."""
        if self._greeted:
            self._greeted = False
            self.show()
            return b"\0"
        event = self._wait(timeout, self._uncovered)
        if event[0] == ops.ENDED.number and self._uncovered == self._at:
            self._take(ops.ENDED, event[1])
            self._uncovered = self._at
            self.show()
            return given(event[1][1])  # type: ignore[no-any-return]
        before = self._uncovered
        while (event_then := self._ready(self._uncovered)) is not None:
            if event_then[0] == ops.ENDED.number:
                break
            self._uncovered += 1
        self.show()
        return b"\0" * (self._uncovered - before)

    def _ready(self, at: int) -> tuple[int, Any] | None:
        """What is recorded at a place, if it can be received by now."""
        event = self._events[at] if at < len(self._events) else None
        if event is None or event[0] not in INCOMING:
            return None
        return event if self.can_give(at) and self._turns.is_up(self.key, at) else None

    def _wait(self, timeout: float | None, at: int) -> tuple[int, Any]:
        """What is recorded at a place, once another thread sent what it needs."""
        while True:
            event = self._ready(at)
            if event is not None:
                return event
            if timeout == 0:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            if threading.current_thread().daemon:
                self._more.wait()
            elif threading.active_count() == 1 or not self._more.wait(_PATIENCE_SECONDS):
                self._waits_in_vain()

    def _waits_in_vain(self) -> NoReturn:
        event = self._events[self._at] if self._at < len(self._events) else None
        if event is None or event[0] not in INCOMING:
            self._refuse("waits for more than came in", "nothing more", "another reply")
        self._refuse(
            f"waits for a reply after {self._outgoing.count} bytes went out",
            f"a reply after {event[1][0][0]} bytes",
            f"a reply after {self._outgoing.count} bytes",
        )

    def _take(self, op: ops.Op, value: object) -> None:
        self._at += 1
        self.layer.note_line(self._line, op, value)
        if op.number in INCOMING:
            self._turns.arrived()
        self._turns.move()

    def taken(self) -> int:
        """How many of its events were taken."""
        return self._at

    def is_held_back(self) -> bool:
        """Whether something could be received, if it were its turn."""
        event = self._events[self._at] if self._at < len(self._events) else None
        came = event is not None and event[0] in INCOMING and not self._lit
        return came and self.can_give(self._at)

    def can_give(self, number: int) -> bool:
        """Whether as much has gone out as had when an event came in."""
        return bool(self._events[number][1][0][0] <= self._outgoing.count)

    def show(self) -> None:
        """Make the descriptor readable while something can be received."""
        if self._far is None:
            return
        at = self._uncovered if self.veiled else self._at
        ready = self._greeted or self._rest is not None or self._ready(at) is not None
        if ready and not self._lit:
            self._far.send(b"\0")
        elif self._lit and not ready:
            os.read(self._near, 1)
        self._lit = ready

    # -- the rest -------------------------------------------------------------------------------------

    def about(
        self, what: object, live: Callable[[], Outcome], absent: Outcome | None = (RETURNED, None)
    ) -> Outcome:
        """A recorded fact about the connection; ``absent`` when nobody asked while recording.

        Raises:
            EffectMismatch: E-EFFECT-001, when it was not recorded and ``absent`` is None.
        """
        del live
        arguments = (self.key, what)
        outcome: Any = self.layer.source.fact(
            ops.ABOUT, arguments, lambda: absent, needed=absent is None
        )
        self.layer.note_line(self._line, ops.ABOUT, (arguments, outcome), fact=True)
        return outcome  # type: ignore[no-any-return]

    def step(self, what: str, act: Callable[[], object]) -> None:
        """A step of TLS, as it ended when it was recorded."""
        del act
        with self._more:
            if self._greeted:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        given(self.about(what, lambda: (RETURNED, None)))

    def close(self, sock: socket.socket | None, how: str = CLOSED) -> None:
        """The program closed it, or ended: it must have sent all that it did.

        Raises:
            EffectMismatch: E-EFFECT-001, when it sent less.
        """
        del sock, how
        if self._over:
            return
        self._over = True
        with self._more:
            self._turns.leave(self.key)
        if self._far is not None:
            self.layer.owned_descriptors.difference_update((self._near, self._far.fileno()))
            self._far.close()
            self._far = None
        if not self._ends:
            return
        mark = read_mark(self._events[-1][1][0])
        if self._outgoing.count < mark.sent:
            self._refuse(
                f"sent {self._outgoing.count} bytes in all",
                f"{mark.sent} bytes",
                f"{self._outgoing.count} bytes",
            )
        self.layer.note_line(self._line, ops.CLOSED, self._events[-1][1])

    def state(self) -> tuple[object, ...]:
        """Where it stands, for a snapshot: events so far and what went out."""
        return (self._at, *self._outgoing.state())

    def seek(self, state: Sequence[Any]) -> None:
        """Stand where a snapshot says."""
        self._at, count, digest, segment = state
        if segment is None:
            self._refuse("is in the middle of sending much", "its bytes", "not kept")
        self._outgoing = Outgoing(self.layer.algorithm, Mark(count, digest, b""), segment)
        self._boundary, self._uncovered = 0, max(self._at, self._uncovered)
        with self._more:
            self._turns.move()
            self.show()

    def _refuse(self, what: str, recorded: str, asked: str) -> NoReturn:
        error = EffectMismatch(
            f"The connection {self.key} {what}: the record holds {recorded}, the program gave {asked}.",
            "Expected the same connections with the same bytes sent, in the same order.",
            "The program takes another path than it did: twice diagnose names where.",
            position=self._at,
            actor=self.key,
            recorded=recorded,
            asked=asked,
        )
        self.layer.source.unfit(error)
        raise error


def _put(data: bytes, buffer: Any) -> int:
    with memoryview(buffer) as view, view.cast("B") as octets:
        octets[: len(data)] = data
    return len(data)
