"""Requests and their replies, by who made the request: which connection carried it is a pool's business.

A client that keeps connections open gives out whichever is idle. Of several threads, jobs or tasks, which one gets
which connection is a matter of timing; who asks for what is not. So in replay a request of HTTP is answered with what
the same actor was answered, in that actor's order, on whatever connection it goes out. Of threads that take jobs from
a queue, which one asks is a matter of timing too: what one of them did not ask, but another like it did, is its answer.

Only where more than one actor made requests of HTTP/1 to an address: elsewhere a connection is played as it was.

Invariant: an exchange is given once, to the actor that made it or to another of its lineage.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from twice.recorder.effects import ops
from twice.recorder.effects.events import Event
from twice.recorder.effects.network.sent_bytes import HEAD_BYTES_MAX, NOTHING, Mark, read_mark
from twice.recorder.effects.ops import find_lineage

_REQUEST = re.compile(rb"[A-Z]{3,10} [^\r\n]{1,1000} HTTP/1\.[01]\r\n")


class Exchange(NamedTuple):
    """The bytes that went out between two marks, and those that came in before more went out.

    Attributes:
        key: of the connection in the record.
        start: index of the first event that has the later mark.
        end: index after the last one.
        before: the earlier mark.
        sender: the key of the actor that began to send; empty where none is known.
        is_request: whether it begins as a request of HTTP/1 does.
    """

    key: str
    start: int
    end: int
    before: Mark
    sender: str
    is_request: bool


class Exchanges:
    """The exchanges that are still to be given, by who made them.

    Args:
        order: keys of connections, one for each event, in the order of the record.
        events: those of each connection.
    """

    def __init__(self, order: Sequence[str], events: Mapping[str, Sequence[Event]]) -> None:
        self.events = events
        self._addresses: dict[str, object] = {}
        self._at: dict[tuple[str, int], Exchange] = {}
        requests = []
        senders = defaultdict(set)
        self._heads: defaultdict[object, set[bytes]] = defaultdict(set)
        self._senders: defaultdict[object, set[str]] = defaultdict(set)
        for key, of in events.items():
            first: Any = of[0]
            self._addresses[key] = first[1][0] if first[0] == ops.CONNECT.number else None
            for one in _split(key, of):
                self._at[key, one.start] = one
                event: Any = of[one.start]
                self._heads[self._addresses[key]].add(read_mark(event[1][0]).head)
                self._senders[self._addresses[key]].add(one.sender)
                if one.is_request:
                    requests.append(one)
        for one in requests:
            senders[self._addresses[one.key]].add(one.sender)
        self._shared = {address for address, found in senders.items() if len(found - {""}) > 1}
        places = defaultdict(list)
        for place, key in enumerate(order):
            places[key].append(place)
        self._requests = sorted(requests, key=lambda one: places[one.key][one.start])
        self._waiting: dict[tuple[object, str], list[Exchange]] = {}
        self.resume({})

    def resume(self, begun: Mapping[str, int]) -> None:
        """Continue at given positions: by key, the index before which every exchange has begun."""
        self._waiting = defaultdict(list)
        for one in self._requests:
            if one.start >= begun.get(one.key, 0):
                self._waiting[self._addresses[one.key], one.sender].append(one)

    def address(self, key: str) -> object:
        """Return the address of a recorded connection."""
        return self._addresses.get(key)

    def is_shared(self, address: object) -> bool:
        """Return whether several actors made requests to an address."""
        return address in self._shared

    def candidates(self, sender: str, address: object) -> Iterator[Exchange]:
        """Yield the possible answers to a request: the actor's next one, then those of its lineage."""
        yield from self._waiting.get((address, sender), ())[:1]
        lineage = find_lineage(sender)
        for (place, other), waiting in list(self._waiting.items()):
            if place == address and other != sender and find_lineage(other) == lineage:
                yield from list(waiting)

    def was_made(self, data: bytes, sender: str, address: object) -> bool:
        """Return whether another actor of the lineage made a request that begins like this."""
        lineage = find_lineage(sender)
        for one in self._requests:
            if self._addresses[one.key] == address and find_lineage(one.sender) == lineage:
                event: Any = self.events[one.key][one.start]
                head = read_mark(event[1][0]).head
                if one.sender != sender and (head.startswith(data) or data.startswith(head)):
                    return True
        return False

    def was_sent(self, data: bytes, address: object) -> bool:
        """Return whether the actors that share connections to an address sent bytes that begin like this."""
        if len(self._senders[address] - {""}) < 2:
            return False
        heads = self._heads[address]
        return data[:HEAD_BYTES_MAX] in heads or any(each.startswith(data) for each in heads)

    def give(self, exchange: Exchange) -> None:
        """Take an exchange from the waiting ones: it answers a request."""
        self._waiting[self._addresses[exchange.key], exchange.sender].remove(exchange)

    def take_back(self, exchange: Exchange) -> None:
        """Put an exchange back: it does not answer the request."""
        self._waiting[self._addresses[exchange.key], exchange.sender].insert(0, exchange)

    def at(self, key: str, start: int) -> Exchange | None:
        """Return the exchange that begins at an event of a recorded connection."""
        return self._at.get((key, start))

    def sibling(self, address: object) -> str:
        """Return the key of the first recorded connection to an address."""
        return next(key for key, its in self._addresses.items() if its == address)

    def missing(self) -> Iterator[Exchange]:
        """Yield the recorded requests to shared addresses that nobody made."""
        for (address, _), waiting in self._waiting.items():
            if address in self._shared:
                yield from waiting


def is_request(data: bytes) -> bool:
    """Return whether bytes begin as a request of HTTP/1 does."""
    return _REQUEST.match(data) is not None


def _split(key: str, events: Sequence[Any]) -> Iterator[Exchange]:
    before = last = NOTHING
    start, sender = 0, ""
    for index, (number, value) in enumerate(events):
        if number == ops.CONNECT.number:
            continue
        mark = read_mark(value[0])
        if mark.sent > last.sent:
            if start:
                yield Exchange(key, start, index, before, sender, is_request(last.head))
            before, last, start, sender = last, mark, index, mark.sender
    if start:
        yield Exchange(key, start, len(events), before, sender, is_request(last.head))
