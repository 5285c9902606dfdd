"""Messages between ranks, the processes of one distributed program that each write a record of their own.

Each message is a compare-point of the rank that sent or took it, and a frame right before that with what a reader of
two folders of ranks needs: who sent it, its number, and a short text. Digests are compared, texts are shown.

A value without a canonical form is not compared, and the record says so among its caveats. References to results are
no values: which message a reference stands for is found when the folders are read.

Invariant: a frame of a message stands before the compare-point of its kind, with the same tick.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, field
from typing import Any, Final, Literal

from twice.errors import EncodingRefused
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import short_digest
from twice.foundation.encoding import decode, encode
from twice.foundation.printable import printable
from twice.recorder.record_form import reading
from twice.recorder.run import Run
from twice.recorder.runrecord import RunRecord

MESSAGE: Final = "message"
"""Kind of the journal's frames with messages."""
_TEXT_MAX: Final = 300

Kind = Literal["received", "sent", "got", "waited", "put", "state", "result"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a rank, or the state that it left.

    Attributes:
        kind: a call that was ``received`` or ``sent``, results that were ``got`` or ``waited`` for, a value that was
            ``put`` aside, the ``state`` after a call, or its ``result``.
        peer: the sender of what was received or is answered, the receiver of what was sent.
        number: how many messages its sender sent before.
        method: the method or function that is called.
        text: arguments, result or values, short.
        takes: identities of the references among its values, in order; they hold within one folder.
        gives: identities of the references that stand for its result.
        parts: of a state, the digest and the text of each attribute.
        refused: values that are not compared, because they have no canonical form.
    """

    kind: Kind
    peer: str = ""
    number: int = 0
    method: str = ""
    text: str = ""
    takes: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    parts: Mapping[str, tuple[bytes, str]] = field(default_factory=dict)
    refused: tuple[str, ...] = ()


class ValueReader:
    """Reads values as a message compares and shows them.

    Args:
        replace: for an object that stands for a reference, its identity; for one that stands for another rank, the
            rank after ``@``; else None.
    """

    def __init__(self, replace: Callable[[object], str | None]) -> None:
        self._replace = replace
        self._digest = short_digest()
        self.takes: list[str] = []
        self.refused: list[str] = []

    def read(self, name: str, value: object) -> bytes:
        """Return 16 bytes for a value; references are noted as taken, and a value without a canonical form as refused."""
        try:
            return self._digest(encode(self._plain(value)))
        except EncodingRefused:
            self.refused.append(f"{name} ({type(value).__name__})")
            return b""

    def _plain(self, value: object) -> object:
        found = self._replace(value)
        if found is not None:
            # The identity of a reference is another one in each run; that of a rank is not.
            if not found.startswith("@"):
                self.takes.append(found)
                found = "(reference)"
            return found
        if type(value) in (list, tuple):
            return [self._plain(each) for each in value]  # type: ignore[attr-defined]
        if type(value) is dict:
            return {key: self._plain(each) for key, each in value.items()}
        return value


def shorten(value: object) -> str:
    """Return a value as short text on one line."""
    return printable(reprlib.repr(value))[:_TEXT_MAX]


def write_message(run: Run, message: Message, compared: object) -> None:
    """Write a message into a rank's record, and take its compare-point."""
    session = run._session
    fields = session.wiring.layer.redaction.value(list(astuple(message)), MESSAGE)
    session.frame(MESSAGE, encode(fields))
    run.compare(message.kind, compared)


def read_messages(record: RunRecord) -> Iterator[tuple[int, int, Message]]:
    """Yield the messages of a record in order, each with its compare-point and its tick.

    Raises:
        RecordForeign: E-RECORD-002, for a frame that twice does not write.
    """
    with reading("a message", record.path):
        for frame in record.reader.frames(kinds=[MESSAGE]):
            fields: Any = decode(frame.payload)
            kind, peer, number, method, text, takes, gives, parts, refused = fields
            parts = {
                str(name): (bytes(digest), str(said)) for name, (digest, said) in parts.items()
            }
            calls = (tuple(takes), tuple(gives))
            message = Message(kind, peer, int(number), method, text, *calls, parts, tuple(refused))
            yield frame.point, frame.tick, message
