"""The scan: files taken apart again and again, until there are texts; rules and known values tried on each.

Of every file its name and its bytes are read, in windows, so that memory stays bounded whatever its size. Archives and
compressed streams are opened. What libraries read out of pictures, sound, film, fonts and PDFs is read as metadata. In
bytes that are no text, files and compressed streams are looked for by their first bytes.

Invariant: depth, members and unpacked bytes are limited for each file, and what lies beyond a limit is reported.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from twice.assets.leaks import rules
from twice.assets.leaks.decode import WORDS, decode_layers
from twice.assets.leaks.known import NOTHING, KnownValues
from twice.assets.leaks.report import LeakFinding, NotOpened, to_excerpt
from twice.assets.leaks.rules import LeakRule
from twice.assets.leaks.signatures import find_inside, guess_codec, is_zlib
from twice.assets.leaks.text import TextWindow, merge_spans
from twice.assets.media import archives
from twice.assets.media.archives import ArchiveMember, ByteRange, read_at, size_of
from twice.assets.media.documents import MetadataField, read_parts
from twice.assets.media.pixel_text import extract_pixel_text
from twice.assets.media.sniff import HEAD, Damaged, Format, sniff
from twice.errors import ExtraMissing
from twice.foundation.severity import Severity

_WINDOW: Final = 4 << 20
_OVERLAP: Final = 1 << 16
_AROUND: Final = 512  # bytes on each side of a word that are read where nothing is decoded
_ENDS: Final = 8 << 20  # bytes at both ends of a recording that are read like any others
_INSIDE_MAX: Final = 2000  # files and streams that are looked for within one
# Times that bytes may be read to look for files in them, and bytes besides.
_READ_INSIDE: Final = (2, 2 << 20)
_READ_LIBRARY: Final = (8, 32 << 20)  # the same for a library that reads the whole file
_ENCODINGS_MAX: Final = 5  # of text in each other
_IN_NAMES: Final = frozenset({"L105", "L108", "L111", "L122", "L125"})
_NAME: Final = "file name"

_ARCHIVES: Final = {Format.ZIP: "zip", Format.TAR: "tar", Format.SEVEN_ZIP: "7z"}
_CODECS: Final = {
    Format.GZIP: "gzip", Format.ZLIB: "zlib", Format.BZIP2: "bzip2", Format.XZ: "xz", Format.ZSTD: "zstd",
    Format.LZ4: "LZ4",
}  # fmt: skip
_LOSSLESS: Final = frozenset({Format.PNG, Format.WEBP, Format.TIFF, Format.BMP, Format.GIF})
_RECORDINGS: Final = frozenset(
    {Format.WAV, Format.AIFF, Format.FLAC, Format.OGG, Format.MPEG, Format.AAC, Format.MP4, Format.MATROSKA}
)  # fmt: skip
_READERS: Final = {
    **dict.fromkeys((*_LOSSLESS, Format.JPEG, Format.AVIF), "picture"), **dict.fromkeys(_RECORDINGS, "recording"),
    Format.FONT: "font", Format.COLLECTION: "font", Format.WOFF2: "woff2", Format.PDF: "pdf",
}  # fmt: skip
_CLOSED: Final = {
    Format.RAR: "RAR", Format.CABINET: "cabinet", Format.CHM: "CHM", Format.WIM: "WIM", Format.UNITY: "Unity",
    Format.PALM: "Mobipocket",
}  # fmt: skip
_READ_CHUNKS: Final = frozenset(  # of PNG, by Pillow
    {"IHDR", "PLTE", "IDAT", "fdAT", "tRNS", "tEXt", "zTXt", "iTXt", "eXIf", "iCCP", "gAMA", "cHRM", "sRGB", "pHYs"}
    | {"bKGD", "sBIT", "hIST", "acTL", "fcTL", "cICP", "tIME"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """What one file may cost.

    Args:
        depth: how deep files may lie in each other.
        unpacked: bytes that may come out of compressed data.
        parts: how many members are looked at.
    """

    depth: int = 12
    unpacked: int = 1 << 30
    parts: int = 200_000


ScanResult = LeakFinding | NotOpened


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the scan is: the steps, how deep, the field of metadata, and whether it was found by its first bytes."""

    path: tuple[str, ...]
    depth: int = 0
    key: str = ""
    is_inside: bool = False
    encodings: int = 0

    def step(self, name: str) -> _Place:
        return replace(self, path=(*self.path, name), depth=self.depth + 1, key="")


class FileScan:
    """The scan of one file.

    Args:
        known: a project's own values.
        limits: what it may cost.
    """

    def __init__(self, known: KnownValues = NOTHING, limits: ScanLimits | None = None) -> None:
        self._known = known
        self._limits = limits or ScanLimits()
        self._budget = archives.UnpackBudget(self._limits.unpacked, self._limits.parts)
        self._seen: set[tuple[str, str]] = set()

    def scan(self, file: BinaryIO, name: str) -> Iterator[ScanResult]:
        """Yield everything that is found in a file, and what could not be looked into.

        Args:
            file: its bytes.
            name: what to call it; the first step of every path.
        """
        yield from self._scan_name(name.rpartition("/")[2], _Place((name,)))
        yield from self._scan_file(file, _Place((name,)))

    def _scan_name(self, name: str, place: _Place) -> Iterator[ScanResult]:
        """Scan the name of a file, which is public too; it says nothing of what the file holds."""
        for found in self._match(
            TextWindow(name.encode("utf-8", "replace")), replace(place, key=_NAME)
        ):
            if found.rule in _IN_NAMES:
                yield replace(found, severity=Severity.LOW) if found.rule == "L111" else found

    def _scan_file(self, file: BinaryIO, place: _Place) -> Iterator[ScanResult]:
        if place.depth > self._limits.depth:
            yield NotOpened(place.path, None, f"files lie more than {self._limits.depth} deep")
            return
        head = read_at(file, 0, HEAD)
        kind = sniff(head)
        codec = "" if kind is Format.ZLIB and not is_zlib(head) else _CODECS.get(kind, "")
        is_packed = bool(codec) or kind in _ARCHIVES
        if kind is Format.BINARY and not place.is_inside:
            codec = guess_codec(head, is_brotli=place.path[-1].endswith(".br"))
        if kind in _CLOSED and not place.is_inside:
            why = f"{_CLOSED[kind]} files are not opened; publish a zip, or scan before packing"
            yield NotOpened(place.path, None, why)
        elif kind in _ARCHIVES:
            for member in archives.open_archive(_ARCHIVES[kind], file, self._budget):
                is_packed &= member.name != archives.UNREADABLE
                yield from self._scan_name(member.name, place)
                yield from self._scan_member(member, place)
        elif codec:
            file.seek(0)
            member = archives.unpack(codec, archives.decompress(codec, file), self._budget)
            at, size = file.tell(), size_of(file)
            yield from self._scan_member(member, place)
            if not member.why and at < size:
                rest = io.BufferedReader(ByteRange(file, at, size - at))
                yield from self._scan_file(rest, place.step("after the end"))
        elif kind in _READERS:
            yield from self._scan_parts(file, kind, place)
        if not place.is_inside:
            if kind is Format.PNG:
                yield from self._scan_chunks(file, place)
            yield from self._scan_bytes(file, place, kind, is_packed=is_packed)

    def _scan_member(self, member: ArchiveMember, place: _Place) -> Iterator[ScanResult]:
        inner = place.step(member.name)
        if member.file is not None:
            yield from self._scan_file(member.file, replace(inner, is_inside=False))
        if member.why and not place.is_inside:
            yield NotOpened(inner.path, None, member.why)

    def _scan_parts(self, file: BinaryIO, kind: Format, place: _Place) -> Iterator[ScanResult]:
        """Scan what a library reads out of a file, and the text in the pixels of a picture that it reads."""
        size, is_read = size_of(file), True
        allowed = [_READ_LIBRARY[0] * size + _READ_LIBRARY[1]]
        metered = io.BufferedReader(ByteRange(file, 0, size, allowed))
        for part in read_parts(_READERS[kind], metered, self._budget):
            if isinstance(part, MetadataField):
                yield from self._scan_field(part, place)
            elif part.file is not None or kind is not Format.AVIF:  # Pillow does not know HEIC.
                yield from self._scan_member(part, place)
                is_read &= part.file is not None
        if kind not in _LOSSLESS or not is_read:
            return
        try:
            for where, text in extract_pixel_text(file):
                yield self._report(rules.HIDDEN, place.step(where), None, text, 0)
                yield from self._scan_text(text, place.step(where))
        except (ExtraMissing, Damaged) as error:
            if not place.is_inside:
                yield NotOpened(place.path, None, f"pixels were not looked into: {error}")

    def _scan_field(self, field: MetadataField, place: _Place) -> Iterator[ScanResult]:
        place = replace(place.step(field.key), key=field.key)
        if rules.is_telling_key(field.key):
            rule, said = rules.KEY, field.value[:256]
        elif b"jumb" in field.value[:32]:
            rule, said = rules.SIGNED, b"C2PA"
        else:
            rule, said = rules.FIELD, field.value[:256]
        yield self._report(rule, place, None, said, 0)
        yield from self._scan_text(field.value, place)

    def _scan_chunks(self, file: BinaryIO, place: _Place) -> Iterator[ScanResult]:
        """Scan the chunks of a PNG that Pillow passes over: their name would be taken for a part of their text."""
        at, size, name = 8, size_of(file), ""
        while at + 12 <= size and name != "IEND":
            head = read_at(file, at, 8)
            length, name = int.from_bytes(head[:4], "big"), head[4:].decode("latin-1")
            if name not in _READ_CHUNKS and length:
                data = read_at(file, at + 8, min(length, _WINDOW))
                yield from self._scan_field(MetadataField(name, data), place)
            at += 12 + length
        rest = read_at(file, at, 96) if name == "IEND" else b""
        if rest.strip(b"\0\r\n "):
            yield self._report(rules.TRAILING, place.step("after the end"), at, rest, 0)

    def _scan_bytes(
        self, file: BinaryIO, place: _Place, kind: Format, *, is_packed: bool
    ) -> Iterator[ScanResult]:
        """Scan the bytes of a file as they are, in windows that overlap."""
        size, inside = size_of(file), 0
        allowed = [_READ_INSIDE[0] * size + _READ_INSIDE[1]]
        for offset in range(0, max(size - _OVERLAP, 1), _WINDOW - _OVERLAP):
            data = read_at(file, offset, _WINDOW)
            if not data.strip(b"\0"):
                continue
            if is_packed or (kind in _RECORDINGS and _ENDS <= offset < size - _ENDS):
                for found in self._scan_words(data, place, offset):
                    # The names of members are looked at as names.
                    if not (kind in _ARCHIVES and found.rule in _IN_NAMES):
                        yield found
                continue
            window = TextWindow(data)
            yield from self._scan_window(window, place, offset)
            for start, codec in (
                find_inside(data) if kind is not Format.TEXT or window.controls else ()
            ):
                at = offset + start
                if at == 0 and not codec:
                    continue
                inside += 1
                if inside > _INSIDE_MAX or allowed[0] <= 0:
                    yield NotOpened(place.path, at, "files inside cost more than the limit")
                    return
                # Brotli does not say where it ends; its box does.
                box = int.from_bytes(data[max(start - 12, 0) : start - 8], "big") - 12
                length = box if codec == "Brotli" else size - at
                body = io.BufferedReader(ByteRange(file, at, length, allowed))
                yield from self._scan_inside(body, codec, at, place)

    def _scan_inside(
        self, body: BinaryIO, codec: str, at: int, place: _Place
    ) -> Iterator[ScanResult]:
        """Scan what begins among other bytes; what is not whole there is no surprise."""
        if not codec:
            kind = sniff(read_at(body, 0, HEAD))
            if kind in _READERS:
                inner = place.step(f"{kind.rpartition('/')[2]} at {at}")
                yield from self._scan_file(body, replace(inner, is_inside=True))
            return
        name = f"{codec} at {at}"
        if codec == "zip":
            head = body.read(30)
            name = (
                body.read(int.from_bytes(head[26:28], "little")).decode("utf-8", "replace") or name
            )
            body.read(int.from_bytes(head[28:30], "little"))
            codec = "deflate"
            if head[6:7] and head[6] & 1:
                yield NotOpened(place.step(name).path, at, "it is encrypted")
                return
            yield from self._scan_name(name, place)
        member = archives.unpack(name, archives.decompress(codec, body), self._budget)
        why = member.why if "limit" in member.why else ""
        yield from self._scan_member(replace(member, why=why), place)

    def _scan_words(self, data: bytes, place: _Place, base: int) -> Iterator[LeakFinding]:
        """Scan a payload's plain letters, such as subtitles, without decoding anything."""
        places = WORDS.find(data.lower())
        at = (each for word in rules.TEXT_WORDS for each in places.get(word, ()))
        for start, end in merge_spans((each - _AROUND, each + _AROUND) for each in at):
            yield from self._match(TextWindow(data[start:end]), place, base + start)

    def _scan_text(self, data: bytes, place: _Place) -> Iterator[ScanResult]:
        for offset in range(0, max(len(data) - _OVERLAP, 1), _WINDOW - _OVERLAP):
            yield from self._scan_window(TextWindow(data[offset : offset + _WINDOW]), place, offset)

    def _scan_window(self, window: TextWindow, place: _Place, base: int) -> Iterator[ScanResult]:
        """Scan one window: rules, then what is encoded in it."""
        places = WORDS.find(window.lowered)
        yield from self._match(window, place, base, places)
        if place.depth > self._limits.depth:
            yield NotOpened(place.path, base, f"encodings lie more than {self._limits.depth} deep")
            return
        if place.encodings >= _ENCODINGS_MAX:
            return
        for layer in decode_layers(window, places):
            if self._budget.take(len(layer.data)) < len(layer.data):
                yield NotOpened(place.path, base, "decoding comes to more than the limit")
                return
            deeper = _ENCODINGS_MAX if layer.is_last else place.encodings + 1
            inner = replace(place.step(f"{layer.name} at {base + layer.offset}"), encodings=deeper)
            if layer.is_file:
                yield from self._scan_file(io.BytesIO(layer.data), replace(inner, is_inside=False))
            else:
                yield from self._scan_text(layer.data, replace(inner, key=place.key))

    def _match(
        self,
        window: TextWindow,
        place: _Place,
        base: int = 0,
        places: dict[bytes, list[int]] | None = None,
    ) -> Iterator[LeakFinding]:
        """Try the rules and the known values on a text; yield what this file has not said before."""
        places = WORDS.find(window.lowered) if places is None else places
        is_metadata = place.key not in {"", _NAME}
        if is_metadata:
            places = places | rules.METADATA_WORDS.find(window.lowered)
        found = [
            (rule, span, "")
            for rule in rules.RULES
            if is_metadata or not rule.metadata_only
            for span in rule.find(window, places)
        ]
        found += [(rules.OWN, span, what) for span, what in self._known.find(window.lowered)]
        for rule, (start, end), what in found:
            words = window.data[start:end][:200].decode("latin-1").lower()
            key = (rule.id, f"{words} in a name" if place.key == _NAME else words)
            if key not in self._seen:
                self._seen.add(key)
                offset = base + window.to_offset(start)
                made = self._report(rule, place, offset, window.data, start, end)
                yield replace(made, message=f"{made.message[:-1]}: {what}.") if what else made

    def _report(
        self,
        rule: LeakRule,
        place: _Place,
        offset: int | None,
        data: bytes,
        start: int,
        end: int = 0,
    ) -> LeakFinding:
        said = to_excerpt(data, start, end or len(data), is_secret=rule.is_secret)
        what = f"{rule.title} in {place.key}" if place.key else rule.title
        message = f"{what[:1].upper()}{what[1:]}."
        remedy = rules.SCRUB if place.key not in {"", _NAME} else rule.remedy
        return LeakFinding(
            rule.id, rule.severity, place.path, offset, place.key, said, message, remedy
        )
