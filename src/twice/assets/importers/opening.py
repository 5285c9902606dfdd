"""From a file to what it says of its making: which container, which of its parts, which dialect.

Walkers take the container apart; what cannot be looked into is listed with the rest. Facts about the
delivered file (its own rate, size or length) are not values of a session and are not read here.

Invariant: any bytes end in an ``Imported``; only a file that cannot be opened is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from twice.assets.containers.iff import chunks
from twice.assets.containers.parts import Kind, Part
from twice.assets.containers.source import Source, whole_file
from twice.assets.containers.unpacking import Budget
from twice.assets.containers.walking import is_container, walk
from twice.assets.errors import AssetMissing
from twice.assets.importers.ableton import read_ableton
from twice.assets.importers.broadcast import read_bext, read_ixml
from twice.assets.importers.dawproject import read_dawproject
from twice.assets.importers.imported import Imported, NotUnderstood, Reading, together
from twice.assets.importers.midi import read_midi
from twice.assets.importers.reaper import read_reaper
from twice.assets.importers.texts import Text, by_content, read_texts
from twice.assets.leaks.stealth import hidden
from twice.assets.media.sniff import HEAD, Damaged, Format, sniff
from twice.errors import ExtraMissing
from twice.foundation.digests import Algorithm, digest_parts
from twice.foundation.printable import pluralize

TEXT_MAX: Final = 64 << 20
PROJECT_MAX: Final = 128 << 20
_CHUNK_MAX: Final = 16 << 20
_TEXTS_MAX: Final = 4096
_DEPTH_MAX: Final = 4
_PIXELS: Final = (Format.PNG, Format.WEBP)
_WHOLE: Final[dict[Format, tuple[str, str, Callable[[Source, Reading], None]]]] = {
    Format.MIDI: ("MIDI", "MIDI file", read_midi),
    Format.GZIP: ("Ableton set", "Ableton Live", read_ableton),
    Format.ZIP: ("DAWproject", "DAWproject", read_dawproject),
}


def import_file(path: Path) -> Imported:
    """Read what a file says of its making.

    Raises:
        AssetMissing: E-ASSET-FILE-001: it is not there, or cannot be read.
    """
    try:
        return import_source(whole_file(path), path.name)
    except OSError as error:
        raise AssetMissing(
            f"{path} cannot be read: {error.strerror or error}.",
            "Expected an asset or a project file.",
            "Name a file that is there: twice asset import FILE",
            path=str(path),
        ) from error


def import_source(source: Source, name: str) -> Imported:
    """Read what bytes say of their making; ``name`` is for evidence.

    Raises:
        OSError: the file cannot be read to its end.
    """
    head = source.read(0, HEAD)
    kind = sniff(head)
    unread: list[NotUnderstood] = []
    begins = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if begins.startswith(b"<REAPER_PROJECT"):
        readings = [_project(source)]
    elif begins.startswith((b"<?xml", b"<Ableton")) and b"<Ableton" in head:
        readings = [Reading("Ableton set", "Ableton Live")]
        read_ableton(source, readings[0])
    elif kind in _WHOLE:
        chunk, generator, read = _WHOLE[kind]
        reading = Reading(chunk, generator)
        read(source, reading)
        readings = [reading]
    elif kind is Format.TEXT:
        readings = [_text_file(source)]
    elif is_container(kind):
        readings = list(_container(source, kind, unread))
    else:
        readings = []
        unread.append(NotUnderstood(name, f"{kind} is no container that is known here"))
    digest = digest_parts(source.pieces(), Algorithm.SHA256).hex
    return together(readings, name, digest, unread=unread)


def _project(source: Source) -> Reading:
    reading = Reading("REAPER project", "REAPER")
    if source.size > PROJECT_MAX:
        reading.puzzle("project", f"it is larger than {PROJECT_MAX >> 20} MiB")
    else:
        read_reaper(source.read(), reading)
    return reading


def _text_file(source: Source) -> Reading:
    """Read a text on its own: a saved graph, or an infotext beside its picture."""
    if source.size > TEXT_MAX:
        reading = Reading("text", "")
        reading.puzzle("text", f"it is larger than {TEXT_MAX >> 20} MiB")
        return reading
    text = source.read().decode("utf-8-sig", "replace")
    known = by_content(text)
    reading = Reading("text", known[0] if known else "")
    if known is None:
        reading.puzzle("text", "it is in no form that is known here")
    else:
        known[1](text, reading)
    return reading


def _container(source: Source, kind: Format, unread: list[NotUnderstood]) -> Iterator[Reading]:
    if kind is Format.WAV:
        yield from _wave(source)
    texts = list(_texts(source, kind, "", unread, Budget(), 0))
    if kind is Format.WAV:
        texts = [each for each in texts if not each.chunk.startswith(("bext ", "iXML"))]
    if len(texts) > _TEXTS_MAX:
        unread.append(NotUnderstood("texts", f"there are more than {_TEXTS_MAX} texts"))
    yield from read_texts(texts[:_TEXTS_MAX])
    if kind in _PIXELS:
        yield from _hidden(source, unread)


def _wave(source: Source) -> Iterator[Reading]:
    for chunk in chunks(source):
        if chunk.name not in ("bext", "iXML"):
            continue
        reading = Reading(chunk.name, "Broadcast Wave")
        if not chunk.is_whole:
            reading.puzzle(chunk.name, "the chunk is cut off")
        read = read_bext if chunk.name == "bext" else read_ixml
        read(chunk.source.read(0, _CHUNK_MAX), reading)
        yield reading


def _texts(
    source: Source,
    kind: Format,
    around: str,
    unread: list[NotUnderstood],
    budget: Budget,
    depth: int,
) -> Iterator[Text]:
    """Give the texts of a container, and of those inside it that hold metadata."""
    for part in walk(source, kind, budget):
        chunk = f"{around}{part.name}"
        if part.kind is Kind.UNREAD:
            at = "" if part.offset is None else f" at byte {part.offset}"
            unread.append(NotUnderstood(f"{chunk}{at}", part.why))
        elif part.kind is Kind.TRAILING:
            unread.append(
                NotUnderstood(
                    chunk, f"{pluralize(part.source.size, 'byte')} outside of every chunk"
                )
            )
        elif part.kind is Kind.FILE and depth < _DEPTH_MAX:
            inner = sniff(part.source.read(0, HEAD))
            if is_container(inner) and part.key in ("Exif", "EXIF", "eXIf", "ID3"):
                yield from _texts(part.source, inner, f"{chunk} ", unread, budget, depth + 1)
        elif part.kind is Kind.METADATA:
            yield from _decoded(part, chunk, unread)


def _decoded(part: Part, chunk: str, unread: list[NotUnderstood]) -> Iterator[Text]:
    """Give a part as text, where it is text."""
    if part.source.size > TEXT_MAX:
        unread.append(NotUnderstood(chunk, f"it is larger than {TEXT_MAX >> 20} MiB"))
        return
    data = part.source.read().rstrip(b"\0")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        if not part.name.startswith(("tEXt ", "zTXt ")):
            unread.append(NotUnderstood(chunk, f"{pluralize(len(data), 'byte')} without text"))
            return
        text = data.decode("latin-1")
    if text.strip():
        yield Text(chunk, part.key, text)


def _hidden(source: Source, unread: list[NotUnderstood]) -> Iterator[Reading]:
    """Read what is hidden in the pixels themselves."""
    try:
        found = list(hidden(source))
    except ExtraMissing as error:
        unread.append(NotUnderstood("pixels", f"they were not looked at: {error.happened}"))
        return
    except Damaged as damage:
        unread.append(NotUnderstood("pixels", damage.why))
        return
    for where, data in found:
        text = data.decode("utf-8", "replace")
        known = by_content(text)
        reading = Reading(where, known[0] if known else "")
        if known is None:
            reading.puzzle("text", f"hidden text in no form that is known; it begins {text[:60]!r}")
        else:
            known[1](text, reading)
        yield reading
