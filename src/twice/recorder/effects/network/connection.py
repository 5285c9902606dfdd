"""One connection while the world answers: everything that comes in is noted with the bytes that had gone out by then.

A connection is a line of its own in the record, named after the actor that made it, because libraries read on behalf of
many: a reply may be read by an event loop, a pool's thread or the program itself.

Not for: readiness. That a socket would have blocked is not noted; when data came is.

Invariant: what is noted in order is what a reader of this connection was given in order, with secrets blanked.
"""

from __future__ import annotations

import errno
import select
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

from twice.recorder.effects import ops
from twice.recorder.effects.network.sent_bytes import ROUNDS, SentBytes
from twice.recorder.effects.network.turns import INCOMING, Turns
from twice.recorder.effects.outcomes import RETURNED, Outcome, given, outcome_of, raised

if TYPE_CHECKING:
    import socket

    from twice.recorder.effects.layer import EffectLayer

CLOSED, LEFT = "closed", "left"
"""How a connection ended: by the program, or with it."""
_OK: Outcome = (RETURNED, None)
_AGAIN = ("SSLWantReadError", "SSLWantWriteError")


class Connection:
    """A connection of the run, on a line of its own in the record.

    Args:
        layer: the layer that governs.
        key: its name in the record.
        turns: when replies came, or come.

    Attributes:
        is_tls: whether a pair of TLS buffers has the data, and the socket only its cipher.
    """

    is_replayed = False

    def __init__(self, layer: EffectLayer, key: str, turns: Turns) -> None:
        self.layer, self.key = layer, key
        self.is_tls = self._is_over = False
        self._turns, self._wire, self._line = turns, layer.redaction.stream(), layer.line(key)

    def about(
        self, what: object, live: Callable[[], Outcome], absent: Outcome | None = _OK
    ) -> Outcome:
        """Return a fact about the connection, such as its ends or the agreement of TLS."""
        raise NotImplementedError

    def connect_again(self, connect: Callable[[], object]) -> object:
        """Ask again for a connection that was asked for."""
        return given(self.about("connect", lambda: outcome_of(connect)))

    def send(self, data: Any, send: Callable[[], int | None]) -> int:
        """Send bytes on the socket; None from ``send`` means all of them."""
        return self._send_cipher(data, send) if self.is_tls else self.write(data, send)

    def _send_cipher(self, data: Any, send: Callable[[], int | None]) -> int:
        raise NotImplementedError

    def write(self, data: Any, send: Callable[[], int | None]) -> int:
        """Send bytes, plain ones where TLS encrypts."""
        raise NotImplementedError


class LiveConnection(Connection):
    """A connection to the world."""

    def __init__(self, layer: EffectLayer, key: str, turns: Turns) -> None:
        super().__init__(layer, key, turns)
        self._is_in_turn = False
        self._sent = SentBytes(layer.algorithm)
        self._noted, self._sender = 0, ""
        self._connecting: object = None
        self._descriptor = -1
        self._lock = Lock()

    # -- making it ------------------------------------------------------------------------------

    def connect(self, asked: object, sock: socket.socket, connect: Callable[[], object]) -> object:
        """Connect, and note how it went; a socket that does not wait is noted when it is known."""
        self._descriptor = sock.fileno()
        self.layer.owned_descriptors.add(self._descriptor)
        try:
            result = connect()
        except BlockingIOError:
            # It does not wait, so a loop does: its replies come in rounds of that loop.
            self._connecting, self._is_in_turn = asked, True
            raise
        except OSError as error:
            self._note(ops.CONNECT, (asked, (False, raised(error))))
            raise
        self._note(ops.CONNECT, (asked, (False, _OK)))
        return result

    def read_error(self, error_number: Callable[[], int]) -> int:
        """Return the outcome of a connection that was not waited for: 0, or the number of an error."""
        number = error_number()
        with self._lock:
            self._settle(raised(OSError(number, "")) if number else _OK)
        return number

    def _settle(self, outcome: Outcome = _OK) -> None:
        if self._connecting is not None:
            asked, self._connecting = self._connecting, None
            self._note(ops.CONNECT, (asked, (True, outcome)))

    def start_tls(self) -> None:
        """Let a pair of TLS buffers have the data from now on."""
        self.is_tls = True

    # -- data -----------------------------------------------------------------------------------

    def _send_cipher(self, data: Any, send: Callable[[], int | None]) -> int:
        return _size(data, send())

    def write(self, data: Any, send: Callable[[], int | None]) -> int:
        """Send bytes, and note them."""
        try:
            count = send()
        except OSError as error:
            if not _would_block(error):
                self._note_marked(ops.SEND_FAILED, raised(error))
            raise
        with memoryview(data) as view, view.cast("B") as octets, self._lock:
            self._settle()
            if self._sent.is_marked:  # nothing is on its way: a request begins
                actor = self.layer.actor()
                self._sender = "" if actor is None else actor.key
            self._sent.add(self._wire.sent(bytes(octets if count is None else octets[:count])))
        return _size(data, count)

    def receive(
        self, sock: socket.socket, size: int, receive: Callable[[], Any], *, peek: bool = False
    ) -> Any:
        """Receive data on the socket, in the form that the socket gives."""
        if peek:
            return receive()
        if not self.is_tls:
            return self.read(sock, size, receive)
        result = self._call(receive, ops.ENDED)
        if not result:
            self._note_marked(ops.ENDED, (RETURNED, b""))
        return result

    def read(self, sock: socket.socket | None, size: int, receive: Callable[[], Any]) -> Any:
        """Read plain data: bytes, or bytes and their sender."""
        del sock, size
        result = self._call(receive, ops.RECEIVED)
        data, *sender = result if isinstance(result, tuple) else (result,)
        noted = self._wire.received(data)
        self._note_marked(ops.RECEIVED, (RETURNED, (noted, *sender) if sender else noted))
        return result

    def _call(self, receive: Callable[[], Any], op: ops.Op) -> Any:
        try:
            return receive()
        except OSError as error:
            if not _would_block(error):
                self._note_marked(op, raised(error))
            raise

    # -- the rest -------------------------------------------------------------------------------

    def about(
        self, what: object, live: Callable[[], Outcome], absent: Outcome | None = None
    ) -> Outcome:
        """Note a fact about the connection."""
        del absent
        outcome = live()
        self.layer.note_line(self._line, ops.ABOUT, ((self.key, what), outcome), fact=True)
        return outcome

    def step(self, what: str, act: Callable[[], object]) -> None:
        """Do a step of TLS and note how it ended; that it must be tried again is no end."""
        try:
            act()
        except OSError as error:
            if not _would_block(error):
                outcome = raised(error)
                self.about(what, lambda: outcome)
            raise
        self.about(what, lambda: _OK)

    def close(self, sock: socket.socket | None, how: str = CLOSED) -> None:
        """End the connection: the program closed it, or ended."""
        if self._is_over:
            return
        self._is_over = True
        self.layer.owned_descriptors.discard(self._descriptor)
        with self._lock:  # given up before anybody asked how connecting ended
            self._settle(raised(OSError(errno.EINPROGRESS, "")))
        if sock is not None and _is_readable(sock):
            self._note_marked(ops.ENDED, (RETURNED, b""), taken=False)
        self._note_marked(ops.CLOSED, how)

    def state(self) -> tuple[object, ...]:
        """Return the position for a snapshot: events so far and the bytes that went out."""
        return (self._noted, *self._sent.state())

    def _note_marked(self, op: ops.Op, outcome: object, *, taken: bool = True) -> None:
        with self._lock:
            self._settle()
            sender = "" if self._sent.is_marked else self._sender
            rounds: int | None = None
            timers = 0
            if op.number in INCOMING:
                if self._is_in_turn:  # what nobody read came as well after a deadline, or before it
                    rounds, timers = self._turns.take_turn() if taken else self._turns.peek_turn()
                elif taken:
                    timers = self._turns.take_thread_turn()
            mark = self._sent.mark()
            self._note(op, ((*mark[:ROUNDS], rounds, timers, sender), outcome))

    def _note(self, op: ops.Op, value: object) -> None:
        self._noted += 1
        self.layer.note_line(self._line, op, value)


def _would_block(error: OSError) -> bool:
    """Return whether a socket only reported that it has no data yet."""
    return isinstance(error, BlockingIOError) or type(error).__name__ in _AGAIN


def _size(data: Any, count: int | None) -> int:
    if count is not None:
        return count
    with memoryview(data) as view:
        return view.nbytes


def _is_readable(sock: socket.socket) -> bool:
    """Return whether the other side has closed, or sent data that nobody reads: pools check that."""
    try:
        poll = select.poll()
        poll.register(sock.fileno(), select.POLLIN)
        return bool(poll.poll(0))
    except (OSError, ValueError):
        return False
