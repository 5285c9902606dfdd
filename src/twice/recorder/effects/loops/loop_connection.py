"""A connection of a recorded loop, whoever began it: each call on its socket is one event of its line in the record.

TLS is recorded as plain text, at the objects that encrypt. Of what is encrypted only sizes are: they say how much
waits to be sent, and the loop goes by that. In replay the buffers hold as many zeros.

Invariant: in replay nothing is sent, received or decrypted.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from twice.recorder.effects.loops.socket_line import CONNECT, RECEIVE, SocketReader, SocketWriter
from twice.recorder.effects.network.stand_in import StandIn
from twice.recorder.effects.outcomes import Outcome

if TYPE_CHECKING:
    import socket

    from twice.recorder.effects.loops.tape import LoopTape


class LoopConnection:
    """What a socket of a recorded loop holds.

    Args:
        tape: of its loop.
        key: its name in the record.

    Attributes:
        is_tls: whether a pair of TLS buffers has the data, and the socket only its cipher.
        outgoing: the buffer that TLS writes to.
    """

    def __init__(self, tape: LoopTape, key: str) -> None:
        self.key, self._tape, self._line = key, tape, tape.open_socket(key)
        self.is_replayed, self.is_tls = tape.is_replayed, False
        self.outgoing: Any = None
        self._descriptor = -1
        self._stand_in: StandIn | None = None
        self._is_over = False

    # -- making it ------------------------------------------------------------------------------

    def connect(self, asked: object, sock: socket.socket, connect: Callable[[], object]) -> object:
        """Connect; another address than the recorded is E-EFFECT-001."""
        self._line.claim("address", asked)
        self.own(sock)
        return self._line.call(CONNECT, connect)

    def connect_again(self, connect: Callable[[], object]) -> object:
        """Ask again for a connection that was asked for."""
        return self._line.call(CONNECT, connect)

    def own(self, sock: socket.socket) -> None:
        """Take charge of a socket's descriptor."""
        owned = self._tape.layer.owned_descriptors
        if isinstance(self._line, SocketReader):
            self._stand_in = StandIn(sock, owned)
        else:
            self._descriptor = sock.fileno()
            owned.add(self._descriptor)

    def read_error(self, error_number: Callable[[], int]) -> int:
        """Return the outcome of a connection that was not waited for: 0, or the number of an error."""
        return int(self._line.call("error", error_number))

    def about(
        self, what: object, live: Callable[[], Outcome], absent: Outcome | None = None
    ) -> Outcome:
        """Return a fact about the connection, such as its ends or the agreement of TLS."""
        del absent
        return self._line.call(("about", what), live)  # type: ignore[no-any-return]

    # -- data -----------------------------------------------------------------------------------

    def send(self, data: Any, send: Callable[[], int | None]) -> int:
        """Send bytes on the socket; None from ``send`` means all of them."""
        if not self.is_tls:
            return self._line.send(_to_bytes(data), send)
        size = memoryview(data).nbytes

        def live() -> tuple[int, bool]:
            count = send()
            return (size, True) if count is None else (count, count == size)

        count, is_whole = self._line.call("cipher out", live)
        return size if is_whole else min(count, size - 1)

    def receive(
        self, sock: socket.socket, size: int, receive: Callable[[], Any], *, peek: bool = False
    ) -> Any:
        """Receive on the socket, in the form that it gives; of a cipher, in replay, zeros."""
        del sock, size
        if not self.is_tls or peek:
            return self._line.call("peek" if peek else RECEIVE, receive)
        got = b""

        def live() -> int:
            nonlocal got
            got = receive()
            return len(got)

        count = self._line.call("cipher in", live)
        return got or bytes(count)

    def start_tls(self) -> None:
        """Let a pair of TLS buffers have the data from now on."""
        self.is_tls = True

    def write(self, data: Any, send: Callable[[], int | None]) -> int:
        """Send plain bytes: into TLS, or to an address."""
        try:
            return self._line.send(_to_bytes(data), send)
        finally:
            self._fill_outgoing()

    def read(self, sock: socket.socket | None, size: int, receive: Callable[[], Any]) -> Any:
        """Read plain bytes out of TLS."""
        del sock, size
        try:
            return self._line.call(RECEIVE, receive)
        finally:
            self._fill_outgoing()

    def step(self, what: str, act: Callable[[], object]) -> None:
        """Take a step of TLS."""

        def live() -> None:
            act()

        try:
            self._line.call(what, live)
        finally:
            self._fill_outgoing()

    def _fill_outgoing(self) -> None:
        """Note how much waits to be sent behind a step of TLS; in replay, let as much wait."""
        if self.outgoing is not None:
            pending = self.outgoing.pending
            count = self._line.claim("pending", None if self.is_replayed else pending)
            self.outgoing.write(bytes(max(0, count - pending)))

    # -- its end --------------------------------------------------------------------------------

    def close(self, sock: socket.socket | None, how: str = "") -> None:
        """End the connection: the program closed its socket."""
        del how
        if self._is_over:
            return
        self._is_over = True
        self._tape.layer.owned_descriptors.discard(self._descriptor)
        if isinstance(self._line, SocketWriter):
            self._line.claim("close", (sock is not None and is_readable(sock), self._tape.round))
        if self._stand_in is not None:
            self._stand_in.close()
            self._stand_in = None
        self.compare()

    def compare(self) -> None:
        """Compare what went out since the line's block began; other bytes than the recorded are E-EFFECT-001."""
        if isinstance(self._line, SocketReader):
            self._line.compare()

    def show(self) -> None:
        """Make a stand-in readable where the other side had closed, or sent what nobody read: pools look for that."""
        assert isinstance(self._line, SocketReader), "in replay"
        event = self._line.next
        if self._stand_in is not None and event is not None and event.what == "close":
            was_readable, at = event.value
            # A loop closes a socket a round after it was told to, and whoever told it may have looked before.
            self._stand_in.show(is_readable=was_readable and self._tape.round >= at - 1)

    def state(self) -> tuple[object, ...]:
        """Return nothing: a snapshot cannot put a loop back."""
        return ()


def is_readable(sock: socket.socket) -> bool:
    """Return whether the other side has closed, or sent data that nobody reads."""
    with suppress(OSError, ValueError):
        poll = select.poll()
        poll.register(sock.fileno(), select.POLLIN)
        return bool(poll.poll(0))
    return False


def _to_bytes(data: Any) -> bytes:
    if type(data) is bytes:
        return data
    with memoryview(data) as view, view.cast("B") as octets:
        return bytes(octets)
