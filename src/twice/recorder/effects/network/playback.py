"""The data behind a replayed connection: how far its record was played, or the world where a branch left its record.

Where several actors share connections (``exchanges.py``), what is played changes with every request: the events of one
exchange at a time, of whichever recorded connection it was on.

Invariant: nothing is given before the bytes that had gone out before it.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Sequence
from contextlib import suppress
from select import POLLIN, POLLOUT
from select import poll as make_poll
from socket import SHUT_RDWR
from socket import socket as make_socket
from typing import Any, NamedTuple

from twice.errors import EffectMismatch
from twice.foundation.digests import Algorithm
from twice.foundation.printable import pluralize
from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.events import Event
from twice.recorder.effects.network.exchanges import Exchange, Exchanges, is_request
from twice.recorder.effects.network.sent_bytes import (
    ROUNDS,
    Mark,
    SentBytes,
    read_mark,
    show_difference,
    show_part,
)
from twice.recorder.effects.network.turns import INCOMING
from twice.recorder.effects.outcomes import RETURNED, Outcome, raised

_CHUNK_BYTES = 1 << 16
_OTHER_BYTES = "sends other bytes than it did"
Difference = tuple[str, str, str]
"""What the program does, the record's value, and the program's."""


class _Request(NamedTuple):
    """A request that is being made, and what is taken for its answer."""

    exchange: Exchange
    sender: str
    address: object
    sent: bytearray


class Playback:
    """The record of one connection of this run.

    Attributes:
        at: index of the event that is taken next.
        end: index after the last event that is given before another exchange begins.
        is_shared: whether the connection is one of several that actors share.
        sent: what went out.
        has_moved: whether its last request is one that another actor made in the recorded run.
    """

    def __init__(
        self, key: str, events: Sequence[Event], exchanges: Exchanges, algorithm: Algorithm
    ) -> None:
        self.key, self.events = key, events
        self.at, self.end, self.is_shared = 0, len(events), False
        self.sent = SentBytes(algorithm)
        self.has_moved = False
        self._exchanges, self._algorithm = exchanges, algorithm
        self._boundary = 0
        self._request: _Request | None = None

    # -- which events -------------------------------------------------------------------------------

    def share(self, address: object) -> None:
        """Play requests as they are made, where actors share the connections to an address."""
        self.is_shared = self._exchanges.is_shared(address)
        if self.is_shared and self._exchanges.address(self.key) == address:
            self.end = self._find_start(0)
        elif self.is_shared:
            self.key = self._exchanges.sibling(address)
            self.events, self.end = self._exchanges.events[self.key], 1

    def _find_start(self, first: int) -> int:
        """Return the first event from there on that begins an exchange; the number of events, if none does."""
        starts = (at for at in range(first, len(self.events)) if self._exchanges.at(self.key, at))
        return next(starts, len(self.events))

    def begin(self, data: bytes, sender: str, address: object) -> range | None:
        """Find the recorded answer to bytes that are about to go out, and return the events that are passed over.

        None where the actor made no such request, and none like it did.
        """
        self._request = None
        if not is_request(data):
            mine = self._exchanges.at(self.key, self.end)
            self.end = self.end if mine is None else mine.end
            return range(0)
        key, passed = self.key, range(self.at, self.end)
        exchange = next(self._exchanges.candidates(sender, address), None)
        if exchange is None:
            self.has_moved = self._exchanges.was_made(data, sender, address)
            return None
        self._exchanges.give(exchange)
        self._turn_to(exchange)
        self.has_moved = exchange.sender != sender
        self._request = _Request(exchange, sender, address, bytearray())
        return passed if key == exchange.key else range(0)

    def _turn_to(self, exchange: Exchange) -> None:
        self.key, self.events = exchange.key, self._exchanges.events[exchange.key]
        self.at = self._boundary = exchange.start
        self.end = exchange.end
        self.sent = SentBytes(self._algorithm, exchange.before)

    # -- what goes out ------------------------------------------------------------------------------

    def send(self, data: bytes) -> Difference | None:
        """Compare bytes with the record; return the difference, if any."""
        difference, request = self._compare(data), self._request
        if request is None:
            return difference
        request.sent.extend(data)
        if difference is None:
            return None
        sent = bytes(request.sent)
        # Requests of one lineage often begin alike: another one may be this one.
        self._exchanges.take_back(request.exchange)
        for other in self._exchanges.candidates(request.sender, request.address):
            self._turn_to(other)
            if self._compare(sent) is None:
                self._exchanges.give(other)
                self._request = request._replace(exchange=other)
                self.has_moved = other.sender != request.sender
                return None
        self.has_moved = self._exchanges.was_made(sent, request.sender, request.address)
        self._exchanges.give(request.exchange)
        self._turn_to(request.exchange)
        return self._compare(sent)

    def _compare(self, data: bytes) -> Difference | None:
        left = memoryview(data)
        while left:
            mark = self.next_boundary()
            if mark is None:
                if self.ends:
                    what = f"sends more than the {pluralize(self.sent.count, 'recorded byte')}"
                    return what, "nothing more", show_part(bytes(left[:200]), 0)
                self.sent.add(left)
                return None
            step = left[: mark.sent - self.sent.count]
            self.sent.add(step)
            left = left[len(step) :]
            if self.sent.count == mark.sent:
                sent = self.sent.mark()
                if sent.digest != mark.digest:
                    return _OTHER_BYTES, *show_difference(mark.head, sent.head)
            elif not mark.head.startswith(head := self.sent.head[: len(mark.head)]):
                return _OTHER_BYTES, *show_difference(mark.head, head)
        return None

    def next_boundary(self) -> Mark | None:
        """Return the next recorded mark beyond the bytes that have gone out."""
        while self._boundary < self.end:
            number, value = self.event(self._boundary)
            if number != ops.CONNECT.number:
                mark = read_mark(value[0])
                if mark.sent > self.sent.count:
                    return mark
            self._boundary += 1
        return None

    @property
    def ends(self) -> bool:
        """Return whether the record has everything that went out."""
        closed = bool(self.events) and self.events[-1][0] == ops.CLOSED.number
        return closed or (self.is_shared and self.end < len(self.events))

    # -- what comes in ------------------------------------------------------------------------------

    def event(self, at: int) -> tuple[int, Any]:
        """Return the recorded event at a place."""
        number, value = self.events[at]
        return number, value

    def incoming(self, at: int) -> tuple[int, Any] | None:
        """Return the incoming event at a place; None where there is none, or another exchange begins."""
        is_incoming = at < self.end and self.event(at)[0] in INCOMING
        return self.event(at) if is_incoming else None

    def can_give(self, at: int) -> bool:
        """Return whether as much has gone out as at the time when an event came in."""
        return bool(self.event(at)[1][0][0] <= self.sent.count)

    def find_want(self) -> Difference:
        """Describe the reply that the program waits for in vain."""
        event, count = self.incoming(self.at), self.sent.count
        if event is None:
            return "waits for more than came in", "nothing more", "another reply"
        what = f"waits for a reply after {pluralize(count, 'byte')} went out"
        recorded = f"a reply after {pluralize(event[1][0][0], 'byte')}"
        return what, recorded, f"a reply after {count} bytes"

    # -- as a part of a snapshot --------------------------------------------------------------------

    def state(self) -> tuple[object, ...]:
        """Return the events so far and the bytes that went out."""
        return (self.at, *self.sent.state())

    def seek(self, at: int, mark: Mark, segment: bytes) -> None:
        """Continue after that many events, with so many bytes gone out."""
        self.at, self._boundary = at, 0
        self.sent = SentBytes(self._algorithm, mark, segment)
        if self.is_shared:
            exchange = self._exchanges.at(self.key, at)
            # Where bytes went out since the last mark, the exchange that begins here is under way.
            begun = exchange is not None and segment
            self.end = self._find_start(at + bool(begun))


class WorldPlayback:
    """Has the place of what a record holds of a connection, where a branch left its record.

    What the program sends goes out, on a connection of its own; what comes in is taken as recorded events are, in the
    order in which it came. Not for: time. An encrypted connection is encrypted anew, by the program's context.

    Args:
        key: of the connection.
        sent: what went out, and goes out from here on; whoever sends adds to it.
        arrived: called on a thread of its own for everything that comes in, with its operation and outcome; it
            calls ``add``.
        owned: descriptors that governed sources hold.
    """

    is_shared = has_moved = ends = is_connected = False

    def __init__(
        self,
        key: str,
        sent: SentBytes,
        arrived: Callable[[ops.Op, Outcome], None],
        owned: set[int],
    ) -> None:
        self.key, self.sent = f"{key} (live)", sent
        self.at = 0
        self.events: list[Event] = []
        self._arrived, self._owned = arrived, owned
        self._is_over = False
        self._sock: Any = None
        # One thread receives and another sends, and an object of OpenSSL is one thread's at a time: nobody waits inside.
        self._lock = allocate_lock()
        self._not_yet: tuple[type[OSError], ...] = (BlockingIOError,)

    def connect(self, asked: Any, tls: Any, *, is_tls: bool) -> None:
        """Connect to where the program connected, and begin to receive.

        ``tls`` is the program's object of OpenSSL, which was never used; with ``is_tls`` the program's socket only has
        the cipher.
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
        self.is_connected = True
        start_new_thread(self._receive, (ops.ENDED if is_tls else ops.RECEIVED,))

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
        mark = (*self.sent.mark()[:ROUNDS], None, 0, "")
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
        return (self.at, *self.sent.state())


def make_mismatch(key: str, position: int, what: str, recorded: str, asked: str) -> EffectMismatch:
    """Build the error for a connection that differs from its record."""
    return EffectMismatch(
        f"The connection {key} {what}: the record holds {recorded}, the program gave {asked}.",
        "Expected the same connections with the same bytes sent, in the same order.",
        "The program takes another path than it did: twice diagnose names where.",
        position=position,
        actor=key,
        recorded=recorded,
        asked=asked,
    )
