"""The scan: files taken apart again and again, until there are texts; rules and known values tried on each.

Payload is not read as text. Everything else is, in windows, so that memory stays bounded whatever a file's size. In
bytes of no known kind, files are looked for by their first bytes.

Invariant: depth, parts and unpacked bytes are limited for each file, and what lies beyond a limit is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from twice.assets.containers.parts import Kind, Part
from twice.assets.containers.source import Source
from twice.assets.containers.unmarked import WAYS, unmarked
from twice.assets.containers.unpacking import Budget
from twice.assets.containers.walking import NO_BROTLI, is_container, walk
from twice.assets.leaks import rules, texts
from twice.assets.leaks.excerpts import excerpt
from twice.assets.leaks.findings import Finding, Unread
from twice.assets.leaks.known import NOTHING, Known
from twice.assets.leaks.rules import METADATA_WORDS, RULES, TEXT_WORDS, Rule
from twice.assets.media.sniff import HEAD, Damaged, Format, sniff
from twice.errors import ExtraMissing
from twice.foundation.severity import Severity

WINDOW: Final = 4 << 20
_OVERLAP: Final = 1 << 16
_LARGEST_ENCODED: Final = 96 << 20  # of one encoded run that goes on beyond a window
_CARVED: Final = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff[\xe0-\xee\xdb]|GIF8[79]a|RIFF....(?:WAVE|WEBP)|OggS\x00\x02"
    rb"|fLaC\x00\x00\x00\x22|ID3[\x02-\x04]\x00|PK\x03\x04|\x1f\x8b\x08[\x00-\x1f]|%PDF-1|glTF\x02\x00\x00\x00"
    rb"|\x28\xb5\x2f\xfd|\xfd7zXZ\x00|\x78[\x01\x5e\x9c\xda]|\x00\x00\x00[\x14-\x40]ftyp"
    rb"|BZh[1-9]1AY&SY|\x04\x22\x4d\x18|wOF[F2]|FORM....AIF[FC]|\x1a\x45\xdf\xa3"
    rb"|7z\xbc\xaf\x27\x1c|\x5d\x00\x00[\x00-\x80][\x00-\x08]|\x00\x00\x00\x0cJXL |UnityFS\x00",
    re.DOTALL,
)
_LZMA: Final = b"\x5d\0\0"
_NAME: Final = "file name"
_IN_NAMES: Final = frozenset({"L105", "L108", "L111", "L122", "L125"})
_AROUND: Final = 512  # bytes on each side of a telling word that are read of payload
_MOST_CARVED: Final = 2000
_READ_AGAIN: Final = 8  # times that bytes may be read to look into files within them
_READ_AT_LEAST: Final = 16 << 20
_MOST_ENCODINGS: Final = 5  # of text in each other, in one file
_PICTURES: Final = frozenset({Format.PNG, Format.WEBP, Format.TIFF, Format.BMP, Format.GIF})
_IN_PICTURES: Final = frozenset({"Exif", "eXIf", "EXIF"})  # blocks that have no pixels of their own


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost.

    Args:
        depth: how deep files may lie in each other.
        unpacked: bytes that may come out of compressed data.
        parts: how many parts are looked at.
    """

    depth: int = 12
    unpacked: int = 1 << 30
    parts: int = 200_000


Found = Finding | Unread


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the scan is: the steps, how deep, whether a field of metadata, and whether what follows an end counts."""

    path: tuple[str, ...]
    depth: int = 0
    key: str = ""
    is_metadata: bool = False
    is_carved: bool = False
    encodings: int = 0

    def step(self, name: str) -> _Place:
        """One step further in."""
        return replace(self, path=(*self.path, name), depth=self.depth + 1)


class Scan:
    """The scan of one file.

    Args:
        known: a project's own values.
        limits: what it may cost.
    """

    def __init__(self, known: Known = NOTHING, limits: Limits | None = None) -> None:
        self._known = known
        self._limits = limits or Limits()
        self._budget = Budget(self._limits.unpacked, self._limits.parts)
        self._seen: dict[tuple[str, str], None] = {}

    def file(self, source: Source, name: str) -> Iterator[Found]:
        """Everything that is found in a file, and what could not be looked into.

        Args:
            source: its bytes.
            name: what to call it; the first step of every path.
        """
        yield from self._name(name.rpartition("/")[2], _Place((name,)))
        yield from self._source(source, _Place((name,)))

    def _source(self, source: Source, place: _Place) -> Iterator[Found]:
        """Scan a file, at whatever depth."""
        if place.depth > self._limits.depth:
            yield Unread(place.path, None, f"files lie more than {self._limits.depth} deep")
            return
        kind = sniff(source.read(0, HEAD))
        if kind in _PICTURES and place.key not in _IN_PICTURES:
            yield from self._pixels(source, place)
        if is_container(kind):
            for part in walk(source, kind, self._budget):
                if part.kind is Kind.TRAILING and part.source.size == source.size:
                    yield from self._text(source, place)  # Nothing of it was a container.
                else:
                    yield from self._part(part, place)
            return
        if kind is Format.BMP:
            end = source.number(2, 4)
            if 54 <= end < source.size:
                yield from self._source(source.sub(end), place.step("after the end"))
            return
        if kind is Format.BINARY and not place.is_carved:
            yield from self._unmarked(source, place)
        yield from self._text(source, place)

    def _part(self, part: Part, place: _Place) -> Iterator[Found]:
        named = part.kind is Kind.METADATA or part.key in _IN_PICTURES
        inner = replace(place.step(part.name), key=part.key if named else "", is_metadata=False)
        if part.key == "name":
            yield from self._name(part.name, place)
        match part.kind:
            case Kind.UNREAD:
                if not place.is_carved:
                    yield Unread(inner.path, part.offset, part.why)
            case Kind.PAYLOAD | Kind.STRUCTURE:
                yield from self._payload(part.source, inner)
            case Kind.FILE:
                yield from self._source(part.source, replace(inner, is_carved=False))
            case Kind.TRAILING:
                if place.is_carved:
                    return
                before = len(self._seen)
                yield from self._source(part.source, inner)
                if len(self._seen) == before:
                    yield self._found(
                        rules.TRAILING, inner, part.offset, part.source.read(0, 96), 0
                    )
            case Kind.METADATA:
                yield from self._metadata(part, replace(inner, is_metadata=True))
            case Kind.TEXT | Kind.CODE:
                if not (place.is_carved and part.name.startswith("unreadable")):
                    yield from self._text(part.source, inner, part.offset or 0)

    def _metadata(self, part: Part, place: _Place) -> Iterator[Found]:
        source = part.source
        head = source.read(0, 256)
        if source.size <= 256 and not head.strip(b"\0 "):
            return
        if rules.is_telling_key(part.key):
            yield self._found(rules.KEY, place, part.offset, head, 0)
        elif head[4:8] == b"jumb":
            yield self._found(rules.SIGNED, place, part.offset, b"C2PA", 0)
        else:
            yield self._found(rules.FIELD, place, part.offset, head, 0)
        kind = sniff(source.read(0, HEAD))
        unsure = {Format.FONT, Format.AAC, Format.MPEG}
        if kind is Format.ZLIB and not _inflates(source):
            unsure.add(kind)
        if is_container(kind) and kind not in unsure:
            yield from self._source(source, place)
        else:
            yield from self._text(source, place, part.offset or 0)

    def _name(self, name: str, place: _Place) -> Iterator[Found]:
        """Scan the name of a file, which is public too."""
        text = name.encode("utf-8", "replace")
        window = texts.Window.of(text)
        for found in self._ruled(window, replace(place, key=_NAME), 0):
            if isinstance(found, Finding) and found.rule in _IN_NAMES:
                # What a file is called says nothing of what it holds.
                is_mere = found.rule == "L111"
                yield replace(found, severity=Severity.LOW) if is_mere else found

    def _pixels(self, source: Source, place: _Place) -> Iterator[Found]:
        from twice.assets.leaks.stealth import hidden

        try:
            for where, text in hidden(source):
                yield self._found(rules.STEALTH, place.step(where), None, text, 0)
                yield from self._window(text, place.step(where), 0)
        except ExtraMissing:
            why = "pixels were not looked into: install it with pip install 'twice[assets]'"
            yield Unread(place.path, None, why)
        except Damaged as damage:
            if not place.is_carved:
                yield Unread(place.path, None, f"pixels were not looked into: {damage.why}")

    def _text(self, source: Source, place: _Place, base: int = 0) -> Iterator[Found]:
        """Text or bytes, in windows that overlap."""
        if source.read(0, 2) in {b"\xff\xfe", b"\xfe\xff"} and source.size <= WINDOW:
            text = source.read().decode("utf-16", "replace").encode("utf-8", "replace")
            yield from self._window(text, place.step("UTF-16"), 0)
            return
        yield from self._carved(source, place, base)
        step = WINDOW - _OVERLAP
        for offset in range(0, max(source.size, 1), step):
            window = source.read(offset, WINDOW)
            yield from self._window(window, place, base + offset, source, offset)
            if offset + WINDOW >= source.size:
                return

    def _carved(self, source: Source, place: _Place, base: int) -> Iterator[Found]:
        """Files inside bytes of no known kind."""
        count = 0
        allowed = [_READ_AGAIN * source.size + _READ_AT_LEAST]
        metered = source.metered(allowed)
        for offset in range(0, source.size, WINDOW):
            window = source.read(offset, WINDOW + 32)
            if not texts.has_controls(window):
                continue
            for found in _CARVED.finditer(window):
                start = offset + found.start()
                if not start or found.start() >= WINDOW:
                    continue
                body = metered.sub(start)
                if found[0][:3] == _LZMA:
                    yield from self._unmarked(body, place, ("LZMA",), base + start)
                    continue
                kind = sniff(body.read(0, HEAD))
                if not is_container(kind) or (kind is Format.ZLIB and not _inflates(body)):
                    continue
                count += 1
                if count > _MOST_CARVED or allowed[0] <= 0:
                    yield Unread(place.path, base + start, "files inside cost more than the limit")
                    return
                name = f"{kind.rpartition('/')[2]} at {base + start}"
                inner = replace(place.step(name), is_carved=True, is_metadata=False)
                yield from self._source(body, inner)

    def _unmarked(
        self, source: Source, place: _Place, among: tuple[str, ...] = WAYS, at: int | None = None
    ) -> Iterator[Found]:
        """Scan bytes with an unknown compression."""
        try:
            for part in unmarked(source, self._budget, among):
                inner = place.step(part.name if at is None else f"{part.name} at {at}")
                if part.kind is Kind.FILE:
                    yield from self._source(part.source, replace(inner, is_metadata=False))
                elif at is None:
                    yield Unread(inner.path, part.offset, part.why)
        except ExtraMissing:
            if place.path[-1].endswith(".br"):
                yield Unread(place.path, at, NO_BROTLI)

    def _payload(self, source: Source, place: _Place) -> Iterator[Found]:
        """Scan a payload's plain letters, such as subtitles, without unpacking anything."""
        for offset in range(0, source.size, WINDOW - _OVERLAP):
            data = source.read(offset, WINDOW)
            places = rules.TEXT_WORDS.places(data.lower())
            for start, end in texts.joined(
                (at - _AROUND, at + _AROUND) for each in places.values() for at in each
            ):
                window = texts.Window.of(data[start:end])
                yield from self._ruled(window, place, offset + start)

    def _window(
        self, data: bytes, place: _Place, base: int, source: Source | None = None, at: int = 0
    ) -> Iterator[Found]:
        """One window: rules, then what is encoded in it."""
        window = texts.Window.of(data)
        yield from self._ruled(window, place, base)
        if place.depth > self._limits.depth:
            yield Unread(place.path, base, f"encodings lie more than {self._limits.depth} deep")
            return
        if place.encodings >= _MOST_ENCODINGS:
            return
        for layer in texts.layers(window):
            if self._budget.take(len(layer.data)) < len(layer.data):
                yield Unread(place.path, base, "decoding comes to more than the limit")
                return
            inner = place.step(f"{layer.name} at {base + layer.offset}")
            deeper = _MOST_ENCODINGS if layer.is_last else place.encodings + 1
            inner = replace(inner, encodings=deeper)
            if layer.is_file:
                whole = layer.data
                if source is not None and _goes_on(data, layer):
                    whole = _continued(source, at + layer.offset)
                yield from self._source(Source.of_bytes(whole), replace(inner, is_metadata=False))
            else:
                yield from self._window(layer.data, inner, 0)

    def _ruled(self, window: texts.Window, place: _Place, base: int) -> Iterator[Found]:
        data = window.data
        places = TEXT_WORDS.places(window.lowered)
        if place.is_metadata:
            places |= METADATA_WORDS.places(window.lowered)
        for rule in RULES:
            if rule.metadata_only and not place.is_metadata:
                continue
            for found in rule.matches(window, places):
                offset = base + window.offset(found.start())
                finding = self._once(rule, place, offset, data, found.span())
                if finding is not None:
                    yield finding
        for start, value, what in self._known.matches(window.lowered):
            span = (start, start + len(value))
            offset = base + window.offset(start)
            finding = self._once(rules.OWN, place, offset, data, span, what)
            if finding is not None:
                yield finding

    def _once(
        self,
        rule: Rule,
        place: _Place,
        offset: int,
        data: bytes,
        span: tuple[int, int],
        what: str = "",
    ) -> Finding | None:
        """Return a finding, unless this file had one with the same words."""
        words = data[span[0] : span[1]][:200].decode("latin-1").lower()
        key = (rule.id, f"{words} in a name" if place.key == _NAME else words)
        if key in self._seen:
            return None
        self._seen[key] = None
        finding = self._found(rule, place, offset, data, span[0], span[1])
        return replace(finding, message=f"{finding.message[:-1]}: {what}.") if what else finding

    def _found(
        self, rule: Rule, place: _Place, offset: int | None, data: bytes, start: int, end: int = 0
    ) -> Finding:
        if rule.severity >= Severity.HIGH:
            self._seen.setdefault((rule.id, "/".join(place.path)), None)
        said = excerpt(data, start, end or len(data), secret=rule.secret)
        what = f"{rule.title} in {place.key}" if place.key else rule.title
        message = f"{what[:1].upper()}{what[1:]}."
        remedy = rules.SCRUB if place.is_metadata else rule.remedy
        return Finding(rule.id, rule.severity, place.path, offset, place.key, said, message, remedy)


def _inflates(source: Source) -> bool:
    """Whether two bytes that look like zlib are the beginning of it."""
    import zlib

    try:
        return len(zlib.decompressobj().decompress(source.read(0, 512), 64)) >= 16
    except zlib.error:
        return False


def _goes_on(data: bytes, layer: texts.Layer) -> bool:
    return (
        layer.name.startswith(("base64", "data URI"))
        and len(data) == WINDOW
        and (layer.offset + len(layer.data) * 4 // 3 + 8 >= WINDOW)
    )


def _continued(source: Source, offset: int) -> bytes:
    """Decode an encoded run that a window cut, from its beginning to its end."""
    run = re.match(rb"[A-Za-z0-9+/\s\\n]*+", source.read(offset, _LARGEST_ENCODED))
    return texts.from_base64(re.sub(rb"\\n|\s", b"", run[0] if run else b""))
