"""The connections of a record, in numbers and first words, for people.

Invariant: nothing is decoded that is not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twice.foundation.dataclass import dataclass
from twice.recorder.effects import ops
from twice.recorder.effects.events import Event
from twice.recorder.effects.network.sent_bytes import read_mark
from twice.recorder.effects.outcomes import RETURNED

_FIRST_WORDS_MAX = 60


@dataclass(frozen=True)
class ConnectionSummary:
    """One connection.

    Attributes:
        key: who made it, and which of theirs it is.
        to: its other end, as text.
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


def summarize_connections(
    connections: Mapping[str, Sequence[Event]],
) -> list[ConnectionSummary]:
    """Summarise every connection, in the order in which they were first written."""
    return [_summarize(key, events) for key, events in connections.items()]


def _summarize(key: str, events: Sequence[Any]) -> ConnectionSummary:
    to, failed, sent, received, first = "", None, 0, 0, ""
    for number, value in events:
        if number == ops.CONNECT.number:
            (_, _, address), (_, (how, reason)) = value
            to = "datagrams" if address is None else str(address)
            if isinstance(address, tuple):
                to = ":".join(map(str, address[:2]))
            failed = None if how == RETURNED else f"{reason[1]}: {reason[2][-1]}"
            continue
        mark = read_mark(value[0])
        sent = mark.sent
        if not first and (lines := mark.head.splitlines()):
            first = lines[0][:_FIRST_WORDS_MAX].decode("utf-8", "replace")
        if number == ops.RECEIVED.number and value[1][0] == RETURNED:
            data = value[1][1]
            received += len(data[0] if isinstance(data, tuple) else data)
    return ConnectionSummary(key, to, sent, received, failed, first)
