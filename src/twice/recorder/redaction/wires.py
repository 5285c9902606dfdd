"""What passes a connection, as it may be written down: piece by piece, each as long as it was.

A piece is looked through for values that are known, and, where it is text, for secrets by their
place. What is found by its place is looked for everywhere from then on. A secret that is cut by
the end of a piece is blanked in both.

Not covered: a secret of which fewer than six bytes stand in one of the pieces keeps those few.

Invariant: a piece that was blanked passes unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from twice.recorder.redaction.mask import Mask, Span, blanked
from twice.recorder.redaction.places import Found, also_known, places, without_scheme

Count = Callable[[list[Span], str], None]
_LOOKED_AT = 1024
_NAME_AND_MORE = 128


class Flow:
    """One direction of a connection, or one growing file.

    Args:
        mask: values that are known.
        count: told the spans that were blanked, and where.
        where: what to tell it.
        rules: rules by place that hold here.
        given: whether the program is given what passes, and not what it sends itself.
    """

    def __init__(
        self,
        mask: Mask,
        count: Count,
        where: str,
        *,
        rules: frozenset[str] = frozenset(),
        given: bool = False,
    ) -> None:
        self._mask, self._count, self._where = mask, count, where
        self._rules, self._given = rules, given
        self._before = b""
        self._began = True
        self._open: Found | None = None
        self._partial = b""

    def next(self, data: bytes) -> bytes:
        """Return the next piece, with its secrets blanked."""
        if not data or not (self._rules or self._mask.active):
            return data
        known = len(self._before)
        whole = self._before + data if known else data
        by_place = bool(self._rules) and is_text(data)
        spans = [*self._continued(data, known), *self._by_place(whole)] if by_place else []
        spans += self._by_value(whole, known)
        self._keep(whole)
        spans = [(max(begin, known), end, rule) for begin, end, rule in spans if end > known]
        whole, spans = blanked(whole, spans)
        if spans:
            self._count(spans, self._where)
            data = whole[known:]
        # Blanked once more by value alone: stars may complete a value that holds some.
        return self._mask.data(data)[0] if spans else data

    def _by_value(self, whole: bytes, known: int) -> Iterator[Span]:
        mask = self._mask
        yield from mask.spans(whole)
        if known and (
            mask.patterns or mask.has_shapes
        ):  # What matches behind the cut must not hang on what is before it.
            yield from (
                (begin + known, end + known, rule) for begin, end, rule in mask.spans(whole[known:])
            )
        yield from mask.cut(whole)

    def _by_place(self, whole: bytes) -> Iterator[Span]:
        for found in places(whole, given=self._given, line_start=self._began):
            if found.rule not in self._rules:
                continue
            if found.until is None:
                for value in also_known(whole, found):
                    self._mask.learn(value, found.rule, everywhere=False)
            else:
                self._open = found
                self._partial = whole[found.begin : found.end]
            yield found.begin, found.end, found.rule

    def _continued(self, data: bytes, known: int) -> Iterator[Span]:
        """Yield the rest of a secret that began in the piece before and was found by its place."""
        found, self._open = self._open, None
        if found is None or found.until is None:
            return
        end = found.until.search(data)
        at = end.start() if end else len(data)
        self._partial += data[:at]
        if end is None:
            self._open = found
        else:
            for value in {self._partial: None, without_scheme(self._partial): None}:
                self._mask.learn(value, found.rule, everywhere=False)
            self._partial = b""
        yield known, known + at, found.rule

    def _keep(self, whole: bytes) -> None:
        """Keep the end of the bytes that passed, for secrets that it cuts."""
        size = max(self._mask.longest - 1, _NAME_AND_MORE if self._rules else 0)
        self._before = whole[-size:] if size else b""
        self._began = self._began and len(whole) <= size


class Stream:
    """Both directions of one connection."""

    def __init__(self, sent: Flow, received: Flow) -> None:
        self._sent, self._received = sent, received

    def sent(self, data: bytes) -> bytes:
        """Return the bytes that the program sends, as they may be written down and compared."""
        return self._sent.next(data)

    def received(self, data: bytes) -> bytes:
        """Return the bytes that the program receives, as they may be written down."""
        return self._received.next(data)


_BINARY = bytes([*range(9), *range(14, 27)])


def is_text(data: bytes) -> bool:
    """Return whether the beginning of a piece looks like text."""
    beginning = data[:_LOOKED_AT]
    return len(beginning.translate(None, _BINARY)) == len(beginning)
