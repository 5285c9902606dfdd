"""What a record holds of its connections, in numbers and first words, for people.

Invariant: nothing is decoded that is not told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twice.foundation.dataclass import dataclass
from twice.recorder.effects import ops
from twice.recorder.effects.events import Event
from twice.recorder.effects.network.outgoing import read_mark

_FIRST_WORDS_MAX = 60


@dataclass(frozen=True)
class Told:
    """One connection.

    Attributes:
        key: who made it, and which of theirs it is.
        to: what it was connected to, as text.
        sent: bytes that went out.
        received: bytes that came in.
        failed: why it was not made, or None.
        first: the first line that went out, at most 60 characters.
    """

    key: str
    to: str
    sent: int
    received: int
    failed: str | None
    first: str

    def to_json(self) -> dict[str, object]:
        """Return the form that ``twice show --json`` prints."""
        return {
            "connection": self.key,
            "to": self.to,
            "sent_bytes": self.sent,
            "received_bytes": self.received,
            "failed": self.failed,
            "first": self.first,
        }


def told(connections: Mapping[str, Sequence[Event]]) -> list[Told]:
    """Summarise every connection, in the order in which they were first written."""
    return [_one(key, events) for key, events in connections.items()]


def _one(key: str, events: Sequence[tuple[int, Any]]) -> Told:
    to, failed, sent, received, first = "", None, 0, 0, ""
    for number, value in events:
        if number == ops.CONNECT.number:
            (_, _, address), (_, (how, reason)) = value
            to = _address(address)
            failed = None if how == "returned" else f"{reason[1]}: {reason[2][-1]}"
            continue
        mark = read_mark(value[0])
        sent = mark.sent
        if not first and mark.head:
            line = mark.head.splitlines()[0] if mark.head.splitlines() else b""
            first = line[:_FIRST_WORDS_MAX].decode("utf-8", "replace")
        if number == ops.RECEIVED.number and value[1][0] == "returned":
            data = value[1][1]
            received += len(data[0] if isinstance(data, tuple) else data)
    return Told(key, to, sent, received, failed, first)


def _address(address: object) -> str:
    if isinstance(address, tuple):
        return ":".join(map(str, address[:2]))
    return "datagrams" if address is None else str(address)
