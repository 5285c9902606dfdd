"""The world behind a played connection of a branch that left its record there.

What the program sends goes out, on a connection of its own; what comes in is taken as recorded events are. The
request that the record does not hold is sent again from its beginning, so only what stands for itself can be sent: the
first words on a connection, or a request of HTTP/1.

Not for: time. Where the connection is encrypted, it is encrypted anew, by the context that the program gave.

Invariant: what came in is given in the order in which it came, and none of it twice.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from select import POLLIN, POLLOUT
from select import poll as make_poll
from socket import SHUT_RDWR
from socket import socket as make_socket
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.events import Event
from twice.recorder.effects.network.outgoing import ROUNDS, Outgoing
from twice.recorder.effects.outcomes import RETURNED, Outcome, raised

_CHUNK_BYTES = 1 << 16


class WorldPlayback:
    """Has the place of what a record holds of a connection.

    Args:
        key: of the connection.
        outgoing: what went out, and goes out from here on; whoever sends adds to it.
        arrived: called on a thread of its own for everything that comes in, with its operation and outcome; it
            calls ``add``.
        owned: descriptors that governed sources hold.

    Attributes:
        at: index of the event that is taken next.
    """

    is_shared = has_moved = ends = False

    def __init__(
        self,
        key: str,
        outgoing: Outgoing,
        arrived: Callable[[ops.Op, Outcome], None],
        owned: set[int],
    ) -> None:
        self.key, self.outgoing = f"{key} (live)", outgoing
        self.at = 0
        self.events: list[Event] = []
        self._arrived, self._owned = arrived, owned
        self._is_over = False
        self._sock: Any = None
        # One thread receives and another sends, and an object of OpenSSL is one thread's at a time: nobody waits inside.
        self._lock = allocate_lock()
        self._not_yet: tuple[type[OSError], ...] = (BlockingIOError,)

    def connect(self, asked: Any, tls: Any, *, veiled: bool) -> None:
        """Connect to where the program connected, and begin to receive.

        Args:
            asked: family, kind and address.
            tls: OpenSSL's object of the program's, which was never used; None without one.
            veiled: whether the program's socket only has the cipher.

        Raises:
            OSError: as connecting does.
        """
        family, kind, address = asked
        self._sock = outside(make_socket, family, kind)
        outside(self._sock.connect, address)
        if tls is not None:
            import ssl

            wrap = tls.context.wrap_socket
            self._sock = outside(wrap, self._sock, server_hostname=tls.server_hostname)
            self._not_yet = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
        outside(self._sock.setblocking, False)
        self._owned.add(self._sock.fileno())
        start_new_thread(self._receive, (ops.ENDED if veiled else ops.RECEIVED,))

    def _receive(self, last: ops.Op) -> None:
        while not self._is_over:
            try:
                with self._lock:
                    data = outside(self._sock.recv, _CHUNK_BYTES)
            except self._not_yet:
                self._wait_for(POLLIN)
            except OSError as error:
                self._is_over = True
                self._arrived(ops.RECEIVED, raised(error))
            else:
                self._is_over = not data
                self._arrived(ops.RECEIVED if data else last, (RETURNED, data))

    def _wait_for(self, events: int) -> None:
        with suppress(OSError, ValueError):  # it was closed meanwhile
            ready = make_poll()
            ready.register(self._sock.fileno(), events)
            outside(ready.poll)

    def add(self, op: ops.Op, outcome: Outcome) -> None:
        """Add an event that came in after the bytes that have gone out by now."""
        mark = (*self.outgoing.mark()[:ROUNDS], None, 0, "")
        self.events.append((op.number, (mark, outcome)))

    def send(self, data: bytes) -> None:
        """Send bytes to the world."""
        left = memoryview(data)
        while left:
            try:
                with self._lock:
                    left = left[outside(self._sock.send, left) :]
            except self._not_yet:
                self._wait_for(POLLOUT)

    def event(self, at: int) -> tuple[int, Any]:
        """Return the event of that number; the last one repeats for ever."""
        number, value = self.events[min(at, len(self.events) - 1)]
        return number, value

    @property
    def end(self) -> int:
        """After the last event that came."""
        return len(self.events)

    def incoming(self, at: int) -> tuple[int, Any] | None:
        """Return the event at a place, if it has come in by now."""
        return self.event(at) if at < len(self.events) or (self._is_over and self.events) else None

    def can_give(self, at: int) -> bool:
        """Return True: data that came in may be taken."""
        del at
        return True

    def find_want(self) -> tuple[str, str, str]:
        """Describe what is waited for: the world may always send more."""
        return "waits", "the world", "another reply"

    def close(self) -> None:
        """Close the program's end."""
        self._is_over = True
        self._owned.discard(self._sock.fileno())
        with self._lock:
            with suppress(OSError):
                outside(self._sock.shutdown, SHUT_RDWR)  # which ends the receiving thread's waiting
            outside(self._sock.close)

    def state(self) -> tuple[object, ...]:
        """Return the position; nothing of a connection to the world can be put back."""
        return (self.at, *self.outgoing.state())
