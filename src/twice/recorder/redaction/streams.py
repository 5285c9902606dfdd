"""Blank what comes piece by piece: a connection's bytes, or a growing file. Each piece is as long as it was.

A piece is looked through for values that are known, and, where it is text, for secrets by their
place. What is found by its place is looked for everywhere from then on. A secret that is cut by
the end of a piece is blanked in both.

Not covered: a secret of which fewer than six bytes stand in one of the pieces keeps those few.

Invariant: a piece that was blanked passes unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from twice.recorder.redaction.fields import PlacedSecret, find_fields, remove_scheme
from twice.recorder.redaction.mask import Mask, Span, blank_spans

Count = Callable[[list[Span], str], None]
_LOOKED_AT = 1024
_NAME_AND_MORE = 128
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a]")


class StreamRedactor:
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
        self._open: PlacedSecret | None = None
        self._partial = b""

    def next(self, data: bytes) -> bytes:
        """Return the next piece, with its secrets blanked."""
        if not data or not (self._rules or self._mask.active):
            return data
        known = len(self._before)
        whole = self._before + data if known else data
        spans: list[Span] = []
        if self._rules and not _BINARY.search(data, 0, _LOOKED_AT):
            spans = [*self._find_rest(data, known), *self._find_placed(whole)]
        spans += self._find_known(whole, known)
        # The end of the bytes that passed is kept, for secrets that it cuts.
        size = max(self._mask.longest - 1, _NAME_AND_MORE if self._rules else 0)
        self._before = whole[-size:] if size else b""
        self._began = self._began and len(whole) <= size
        spans = [(max(begin, known), end, rule) for begin, end, rule in spans if end > known]
        whole, spans = blank_spans(whole, spans)
        if not spans:
            return data
        self._count(spans, self._where)
        # Blanked once more by value alone: stars may complete a value that holds some.
        return self._mask.data(whole[known:])[0]

    def _find_known(self, whole: bytes, known: int) -> Iterator[Span]:
        mask = self._mask
        yield from mask.spans(whole)
        if known and (mask.patterns or mask.has_shapes):
            # What matches behind the cut must not hang on what is before it.
            for begin, end, rule in mask.spans(whole[known:]):
                yield begin + known, end + known, rule
        yield from mask.cut_spans(whole)

    def _find_placed(self, whole: bytes) -> Iterator[Span]:
        for found in find_fields(whole, given=self._given, line_start=self._began):
            if found.rule not in self._rules:
                continue
            if found.until is None:
                for value in found.values(whole):
                    self._mask.learn(value, found.rule, everywhere=False)
            else:
                self._open = found
                self._partial = whole[found.begin : found.end]
            yield found.begin, found.end, found.rule

    def _find_rest(self, data: bytes, known: int) -> Iterator[Span]:
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
            for value in dict.fromkeys((self._partial, remove_scheme(self._partial))):
                self._mask.learn(value, found.rule, everywhere=False)
            self._partial = b""
        yield known, known + at, found.rule


class ConnectionRedactor(NamedTuple):
    """Both directions of one connection.

    Attributes:
        sent: returns the bytes that the program sends, as they may be written down and compared.
        received: returns the bytes that the program receives, as they may be written down.
    """

    sent: Callable[[bytes], bytes]
    received: Callable[[bytes], bytes]
