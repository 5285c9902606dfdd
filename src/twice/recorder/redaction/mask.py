"""Secret values known so far, where they stand in bytes, and the stars that are put in their place.

A secret is blanked by as many ``*`` as it has bytes, so lengths and positions stay true. Two secrets
of one length look alike: blanked values are not compared. Shorter values than ``LEARN_MIN`` are not
looked for, because they stand in innocent text.

What comes piece by piece, of a connection or a growing file, is looked through for secrets by their place as well, where it
is text. Those are looked for everywhere from then on. A secret that is cut by the end of a piece is blanked in both.

Not for: compressed or encrypted bytes, digests, a value that is spread over several places, a secret of which fewer than
six bytes stand in one of the pieces: it keeps those few.

Invariant: blanked bytes hold no known value in any of its forms, are as long as before, and pass unchanged.
"""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from threading import Lock
from typing import Final
from urllib.parse import quote_from_bytes, quote_plus

from twice.recorder.redaction.fields import PlacedSecret, find_fields, remove_scheme
from twice.recorder.redaction.shapes import BYTES_MIN, WINDOW, find_shapes

STAR: Final = b"*"
LEARN_MIN: Final = 6
_CORE_MIN = 7  # fewer characters of base64 stand in innocent text by chance
_AS_TEXT = frozenset({"as it is", "JSON-escaped", "URL-quoted"})
"""Forms that text takes on its way through headers, queries and documents."""
_COMMON = frozenset(
    b"default disabled enabled false localhost password postgres production required undefined"
    b" unknown username changeme development testing".split()
)
"""Values that stand in innocent text, and protect nothing."""
_LOOKED_AT = 1024
_NAME_AND_MORE = 128
_CLEAN_TEXTS_MAX = 4096
_CLEAN_LENGTH_MAX = 256
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a]")

Span = tuple[int, int, str]
"""First byte, byte after the last, the rule that says so."""


class Mask:
    """What is blanked wherever it stands.

    Args:
        patterns: rule name and pattern over bytes; of a pattern with groups, what the groups hold.
        has_shapes: whether secrets are known by their shape too.

    Attributes:
        longest: bytes that have to be kept of what passed before, to find what was cut.
        shortest: fewest bytes in which there is anything to find.
    """

    def __init__(
        self, patterns: Sequence[tuple[str, re.Pattern[bytes]]] = (), *, has_shapes: bool = False
    ) -> None:
        self.patterns = tuple(patterns)
        self.has_shapes = has_shapes
        self.longest = WINDOW if has_shapes else 0
        self.shortest = BYTES_MIN if has_shapes and not patterns else 0
        self._needles: tuple[tuple[bytes, str], ...] = ()
        self._edges: tuple[re.Pattern[bytes], dict[bytes, list[tuple[bytes, str]]]] | None = None
        self._known: dict[bytes, None] = {}
        self._clean: dict[str, None] = {}  # short texts in which nothing was found
        self._lock = Lock()

    @property
    def active(self) -> bool:
        """Return whether there is anything to look for."""
        return bool(self._needles or self.patterns or self.has_shapes)

    def learn(self, value: bytes, rule: str, *, everywhere: bool = True) -> bool:
        """Look for a value from now on; False when it is known, short, common, or blanked already.

        Args:
            value: the secret.
            rule: what says so.
            everywhere: in all of its forms; else as it is and escaped, which costs less.
        """
        if not is_worth_finding(value):
            return False
        with self._lock:
            if value in self._known:
                return False
            self._known[value] = None
            looked_for = {needle for needle, _ in self._needles}
            new = [
                (form, rule)
                for form, name in list_forms(value).items()
                if form not in looked_for
                and len(form.replace(STAR, b"")) >= LEARN_MIN
                and (everywhere or name in _AS_TEXT)
            ]
            edges = self._edges[1] if self._edges else {}
            beginning = value[:LEARN_MIN]
            edges = {**edges, beginning: [*edges.get(beginning, ()), (value, rule)]}
            # Replaced as a whole: another thread may be looking through the old ones.
            self._needles = tuple(sorted((*self._needles, *new), key=lambda one: len(one[0])))
            self._edges = re.compile(b"|".join(map(re.escape, edges))), edges
            self._clean = {}  # after the needles: whoever took it searched with the new ones
            self.longest = max(self.longest, len(self._needles[-1][0]))
            shortest = min(len(self._needles[0][0]), BYTES_MIN if self.has_shapes else sys.maxsize)
            self.shortest = 0 if self.patterns else shortest
        return True

    def spans(self, data: bytes) -> list[Span]:
        """Return the spans of secrets; they may overlap."""
        found = self.known_spans(data)
        if self.has_shapes:
            found += [span for span in find_shapes(data) if not is_blank(data, span)]
        return found

    def known_spans(self, data: bytes) -> list[Span]:
        """Return the spans of known values, and of matches of the user's patterns."""
        found: list[Span] = []
        size = len(data)
        for needle, rule in self._needles:
            if len(needle) > size:
                break  # the shortest come first
            if needle in data:
                at = data.find(needle)
                while at >= 0:
                    found.append((at, at + len(needle), rule))
                    at = data.find(needle, at + 1)
        for rule, pattern in self.patterns:
            groups = range(1, pattern.groups + 1) or (0,)
            for match in pattern.finditer(data):
                found += [(*match.span(at), rule) for at in groups if match.start(at) >= 0]
        return [span for span in found if not is_blank(data, span)] if found else found

    def cut_spans(self, data: bytes) -> Iterator[Span]:
        """Yield values that begin at the end of the data, where a later piece may go on."""
        if self._edges is None:
            return
        pattern, values = self._edges
        for match in pattern.finditer(data, max(0, len(data) - self.longest)):
            begin = match.start()
            for value, rule in values[match[0]]:
                if len(value) > len(data) - begin and value.startswith(data[begin:]):
                    yield begin, len(data), rule

    def data(self, data: bytes, *, is_text: bool = False) -> tuple[bytes, list[Span]]:
        """Return bytes with every secret blanked, and the spans; of text, no letter of UTF-8 is cut."""
        every: list[Span] = []
        while spans := self.spans(data):
            # Once more: what is blanked may complete a value that holds stars itself.
            wide = [_widen(data, span) for span in spans] if is_text else spans
            data, spans = blank_spans(data, wide)
            every += spans
        return data, every

    def text(self, text: str) -> tuple[str, list[Span]]:
        """Return a text with every secret blanked, and the spans; what was found clean is not searched again."""
        clean = self._clean
        if text in clean:
            return text, []
        raw, spans = self.data(text.encode("utf-8", "surrogatepass"), is_text=True)
        if spans:
            return raw.decode("utf-8", "surrogatepass"), spans
        if len(text) <= _CLEAN_LENGTH_MAX:
            if len(clean) >= _CLEAN_TEXTS_MAX:
                clean.clear()
            clean[text] = None
        return text, []


class StreamRedactor:
    """One direction of a connection, or one growing file.

    Args:
        mask: values that are known.
        count: called with the spans that were blanked, and ``where``.
        where: what the bytes are.
        rules: rules by place that hold here.
        given: whether the program is given what passes, and not what it sends itself.
    """

    def __init__(
        self,
        mask: Mask,
        count: Callable[[list[Span], str], None],
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


def is_worth_finding(value: bytes) -> bool:
    """Return whether a value is long and uncommon enough to be looked for everywhere."""
    told = value.replace(STAR, b"").strip()
    return len(told) >= LEARN_MIN and value.lower() not in _COMMON


def blank_spans(data: bytes, spans: Iterable[Span]) -> tuple[bytes, list[Span]]:
    """Put stars into the spans; return the bytes, and the spans that changed something."""
    changed = bytearray(data)
    counted = []
    for span in spans:
        if not is_blank(changed, span):
            begin, end, _ = span
            changed[begin:end] = STAR * (end - begin)
            counted.append(span)
    return bytes(changed), counted


def is_blank(data: bytes | bytearray, span: Span) -> bool:
    """Return whether a span contains nothing but stars."""
    begin, end, _ = span
    return data.count(STAR, begin, end) == end - begin


def list_forms(value: bytes) -> dict[bytes, str]:
    """Return byte strings that give a value away, each with the name of its form; the value is first.

    ``twice show --secrets`` searches for the same ones, so that the proof looks for no less than was kept out.
    """
    forms: list[tuple[str, bytes]] = [("as it is", value)]
    with suppress(UnicodeDecodeError):
        text = value.decode("utf-8")
        forms += [
            ("JSON-escaped", json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8")),
            ("JSON-escaped", json.dumps(text)[1:-1].encode("utf-8")),
            ("as Python writes it", repr(text)[1:-1].encode("utf-8", "backslashreplace")),
            ("URL-quoted", quote_plus(text).encode()),
            # Without its last byte the little-endian form stands in the big-endian one as well.
            ("UTF-16", text.encode("utf-16-le")[:-1]),
        ]
    quoted = quote_from_bytes(value, safe="").encode()
    forms += [
        ("URL-quoted", quoted),
        ("URL-quoted", re.sub(rb"%..", lambda escape: escape[0].lower(), quoted)),
        ("as Python writes it", repr(value)[2:-1].encode()),
        ("hexadecimal", value.hex().encode()),
        ("hexadecimal", value.hex().upper().encode()),
    ]
    for before in range(3):
        # The characters that the value alone decides, for each of its three possible offsets.
        first, last = -(-8 * before // 6), 8 * (before + len(value)) // 6
        core = b64encode(bytes(before) + value)[first:last]
        if len(core) >= _CORE_MIN:
            forms += [("base64", core), ("base64", core.replace(b"+", b"-").replace(b"/", b"_"))]
    found: dict[bytes, str] = {}
    for name, form in forms:
        if form:
            found.setdefault(form, name)
    return found


def _widen(data: bytes, span: Span) -> Span:
    """Widen a span so that it cuts no letter of UTF-8."""
    begin, end, rule = span
    while begin > 0 and data[begin] & 0xC0 == 0x80:
        begin -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return begin, end, rule
