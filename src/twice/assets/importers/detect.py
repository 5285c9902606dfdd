"""From a file to what it says of its making: which container, which of its texts, which dialect.

PNG chunks are read here, because Pillow keeps one of two texts of one key; EXIF and other pictures are Pillow's, tags of
sound and film PyAV's. The key of a text decides where a generator owns it (``invokeai_metadata``), the text itself
where many share a key (``parameters``, ``UserComment``). Facts about the delivered file (its own rate, size or length)
are no values of a session and are not read.

Invariant: any bytes end in an ``Imported``; only a file that cannot be opened, or a library that is missing, is an error.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from twice.assets.errors import AssetMissing
from twice.assets.importers import daw_xml, json_dialects, reaper
from twice.assets.importers.a1111 import is_infotext, read_infotext
from twice.assets.importers.comfyui import is_prompt_graph, read_prompt, read_workflow
from twice.assets.importers.midi_wav import name_workstation, read_midi
from twice.assets.importers.result import Imported, Reading
from twice.assets.media.av import open_media
from twice.assets.media.images import PLUGINS, open_image
from twice.assets.media.pixel_text import extract_pixel_text
from twice.assets.media.sniff import HEAD, Damaged, Format, decoding, load_library, sniff
from twice.foundation.digests import Algorithm, digest_parts
from twice.foundation.printable import pluralize

TEXT_MAX: Final = 64 << 20
_PIECE: Final = 1 << 20
_TEXTS_MAX: Final = 4096
_KEPT_MAX: Final = 4096
_RECORDINGS: Final = (
    Format.WAV, Format.AIFF, Format.FLAC, Format.OGG, Format.MPEG, Format.AAC, Format.MP4, Format.MATROSKA, Format.AVI,
)  # fmt: skip
_PIXELS: Final = (Format.PNG, Format.WEBP)
"""Pictures in whose pixels generators hide text."""
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_PNG_TEXTS: Final = ("tEXt", "zTXt", "iTXt", "eXIf")
_EXIF_IFD: Final = 0x8769
_OWNED: Final = {
    "invokeai_metadata": json_dialects.INVOKEAI,
    "sd-metadata": json_dialects.INVOKEAI_2,
}
_SHARED: Final = (
    "prompt",
    "workflow",
    "parameters",
    "usercomment",
    "comment",
    "com",
    "description",
    "imagedescription",
    "generation_data",
)
"""Keys, in small letters, of texts whose form says the generator."""


class FileText(NamedTuple):
    """A text of a file: how its place is called, its key, and what it says."""

    chunk: str
    key: str
    text: str


def import_file(path: Path) -> Imported:
    """Read what a file says of its making. Nothing that it holds is executed.

    Raises:
        AssetMissing: E-ASSET-FILE-001: it is not there, or cannot be read.
        ExtraMissing: E-EXTRA-001: a library that reads it is not installed.
    """
    try:
        with path.open("rb") as file:
            return import_stream(file, path.name)
    except OSError as error:
        raise AssetMissing(
            f"{path} cannot be read: {error.strerror or error}.",
            "Expected an asset or a project file.",
            "Name a file that is there: twice asset import FILE",
            path=str(path),
        ) from error


def import_stream(file: BinaryIO, name: str) -> Imported:
    """Read what an open file says of its making; ``name`` is for evidence."""
    digest = digest_parts(iter(lambda: file.read(_PIECE), b""), Algorithm.SHA256)
    file.seek(0)
    head = file.read(HEAD)
    file.seek(0)
    reading = Reading(name, digest.hex)
    _read_container(file, head, reading)
    return reading.conclude()


def _read_container(file: BinaryIO, head: bytes, reading: Reading) -> None:
    begins = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    kind = sniff(head)
    if begins.startswith(reaper.MARK):
        reaper.read_reaper(file, reading)
    elif begins.startswith((b"<?xml", b"<Ableton")) and b"<Ableton" in head:
        daw_xml.read_ableton(file, reading, is_packed=False)
    elif kind is Format.GZIP and _is_packed_set(head):
        daw_xml.read_ableton(file, reading, is_packed=True)
    elif kind is Format.ZIP:
        daw_xml.read_dawproject(file, reading)
    elif kind is Format.MIDI:
        read_midi(file, reading)
    elif kind is Format.TEXT:  # a saved graph, or an infotext beside its picture
        reading.begin("text")
        data = file.read(TEXT_MAX + 1)
        if len(data) > TEXT_MAX or not _read_by_form(data.decode("utf-8-sig", "replace"), reading):
            why = f"it is in no form that is known here, or larger than {TEXT_MAX >> 20} MiB"
            reading.add_unparsed("text", why)
    elif kind in PLUGINS or kind in _RECORDINGS:
        try:
            read_texts(_read_file_texts(file, kind, reading), reading)
            for where, data in extract_pixel_text(file) if kind in _PIXELS else ():
                text = data.decode("utf-8", "replace")
                reading.begin(where)
                if not _read_by_form(text, reading):
                    why = f"hidden text in no form that is known; it begins {text[:60]!r}"
                    reading.add_unparsed("text", why)
        except (Damaged, ValueError) as damage:
            reading.chunk = ""
            reading.add_unparsed(reading.file, str(damage))
    else:
        reading.add_unparsed(reading.file, f"{kind} is in no form that is known here")


def _is_packed_set(head: bytes) -> bool:
    """Whether a gzip file begins as an Ableton Live set does."""
    try:
        return b"<Ableton" in zlib.decompressobj(31).decompress(head, HEAD)
    except zlib.error:
        return False


def _read_file_texts(file: BinaryIO, kind: Format, reading: Reading) -> Iterator[FileText]:
    """Give the texts of a picture, and the tags of a sound or a film and of its streams."""
    load_library("PIL.Image")
    if kind is Format.PNG:
        yield from _read_png(file, reading)
    elif kind in PLUGINS:
        picture = open_image(file)
        with decoding("Pillow"):
            yield from _read_exif(picture.getexif(), "Exif")
        for key in ("comment", "xmp"):
            value = picture.info.get(key, "")
            text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
            if text.strip("\0 "):
                yield FileText(f"tag {key}", key, text.rstrip("\0"))
    else:
        with open_media(file) as opened:
            for tags in (each.metadata for each in (opened.container, *opened.container.streams)):
                yield from (FileText(f"tag {key}", key, text) for key, text in tags.items())


def _read_png(file: BinaryIO, reading: Reading) -> Iterator[FileText]:
    """Give the texts of a PNG file, as far as its chunks are whole."""
    file.seek(len(_PNG))
    while len(head := file.read(8)) == 8:
        size, kind = int.from_bytes(head[:4], "big"), head[4:].decode("latin-1")
        data = file.read(size) if kind in _PNG_TEXTS and size <= TEXT_MAX else b""
        file.seek(size - len(data) + 4, 1)
        if data and len(data) < size:
            continue  # Nothing follows, so the loop ends.
        if kind == "IEND":
            break
        try:
            if kind == "eXIf":
                exif = load_library("PIL.Image").Exif()
                exif.load(data)
                yield from _read_exif(exif, "eXIf")
            elif data:
                yield _decode_png_text(kind, data)
        except (ValueError, zlib.error) as error:
            reading.add_unparsed(kind, f"it cannot be read: {error}")
    else:
        reading.add_unparsed("PNG", "a chunk is cut off")
    if rest := file.read(_PIECE).strip(b"\0\r\n "):
        why = f"{pluralize(len(rest), 'byte')} outside of every chunk"
        reading.add_unparsed("after the end", why)


def _decode_png_text(kind: str, data: bytes) -> FileText:
    key, _, rest = data.partition(b"\0")
    packed = kind == "zTXt"
    if packed:
        rest = rest[1:]
    elif kind == "iTXt":
        packed = rest[:1] == b"\1"
        rest = rest[2:].partition(b"\0")[2].partition(b"\0")[2]
    if packed:
        unpacker = zlib.decompressobj()
        rest = unpacker.decompress(rest, TEXT_MAX)
        if not unpacker.eof:
            raise ValueError("it is cut off, or unpacks to more than the limit")
    name = key.decode("latin-1")
    try:
        # Latin-1 is the standard's for tEXt; most generators write UTF-8.
        text = rest.decode("utf-8")
    except UnicodeDecodeError:
        text = rest.decode("latin-1")
    return FileText(f"{kind} {name}", name, text)


def _read_exif(exif: Any, chunk: str) -> Iterator[FileText]:
    """Give the texts among the tags of an EXIF block that Pillow has loaded."""
    names = load_library("PIL.ExifTags").TAGS
    for tag, value in [*exif.items(), *exif.get_ifd(_EXIF_IFD).items()]:
        name = names.get(tag, f"tag {tag}")
        is_comment = isinstance(value, bytes) and name == "UserComment"
        text = _decode_comment(value) if is_comment else value
        if isinstance(text, str) and text.strip("\0 "):
            yield FileText(f"{chunk} {name}", name, text.rstrip("\0"))


def _decode_comment(value: bytes) -> str:
    """Decode a user comment: eight bytes name the characters, and UTF-16 comes in either order of bytes."""
    marked, said = value[:8], value[8:]
    if marked == b"UNICODE\0":
        if said[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            return said.decode("utf-16", "replace")
        # Some writers use the other order than the file's own: in most texts one of two bytes is 0.
        is_big = said[:64:2].count(0) > said[1:64:2].count(0)
        return said.decode("utf-16-be" if is_big else "utf-16-le", "replace")
    return (said if marked == b"ASCII\0\0\0" else value).decode("utf-8", "replace")


def read_texts(found: Iterable[FileText], reading: Reading) -> None:
    """Read the texts of one file, those of NovelAI together."""
    texts = [_split_prefix(each) for each in found]
    if len(texts) > _TEXTS_MAX:
        reading.add_unparsed("texts", f"there are more than {_TEXTS_MAX} texts")
        texts = texts[:_TEXTS_MAX]
    if any(each.key == "Software" and each.text == "NovelAI" for each in texts):
        reading.begin("texts of NovelAI")
        json_dialects.read_novelai(texts, reading)
        texts = [each for each in texts if each.key not in json_dialects.NOVELAI_TEXTS]
    has_prompt = any(each.key == "prompt" and '"class_type"' in each.text for each in texts)
    for chunk, key, text in texts:
        reading.begin(chunk)
        if key in {"encoded_by", "coding_history"}:  # FFmpeg's names for what bext says.
            name_workstation(text, reading)
        if key in _OWNED:
            found_object = json_dialects.read_object(text, reading)
            if found_object:
                json_dialects.read_json_dialect(found_object, _OWNED[key], reading)
        elif key.lower() in _SHARED and _read_by_form(text, reading, is_alone=not has_prompt):
            continue
        elif key == "parameters":
            why = f"it is in no form that is known here; it begins {text[:60]!r}"
            reading.add_unparsed("text", why)
        else:
            kept = text if len(text) <= _KEPT_MAX else pluralize(len(text), "character")
            reading.add_other(key or chunk, json_dialects.remove_secrets(kept, key))


def _split_prefix(text: FileText) -> FileText:
    """Give what ComfyUI puts into tags of a WebP file (``prompt:{...}``) its key."""
    key, colon, rest = text.text.partition(":")
    if colon and key.lower() in {"prompt", "workflow"} and rest.lstrip()[:1] == "{":
        return FileText(f"{text.chunk} {key.lower()}", key.lower(), rest)
    # Matroska writes the names of its tags in capitals.
    is_capital = text.key in {"PROMPT", "WORKFLOW"}
    return text._replace(key=text.key.lower()) if is_capital else text


def _read_by_form(text: str, reading: Reading, *, is_alone: bool = True) -> bool:
    """Read a text whose form is one of a generator's; give false, and nothing else, where it is none.

    Args:
        text: what it says.
        reading: takes it.
        is_alone: whether a graph on screen would be all that the file has of ComfyUI.
    """
    if text.lstrip()[:1] != "{":
        if is_infotext(text):
            read_infotext(text, reading)
            return True
        return False
    try:
        found = json_dialects.parse_json(text)
    except ValueError as error:
        # The words of a generator in it say that a damaged object was meant.
        is_known = json_dialects.SWARMUI.inside in text[:200] or '"class_type"' in text
        if is_known:
            reading.add_unparsed("JSON", str(error))
        return is_known
    inner = found.get("prompt")
    if dialect := json_dialects.find_dialect(found):
        json_dialects.read_json_dialect(found, dialect, reading)
    elif is_prompt_graph(found):
        read_prompt(text, found, reading)
    elif isinstance(found.get("nodes"), list) and "links" in found:
        read_workflow(text, found, reading, is_alone=is_alone)
    elif found.get("Software") == "NovelAI":
        said = (
            (key, each if isinstance(each, str) else json.dumps(each))
            for key, each in found.items()
        )
        json_dialects.read_novelai([(reading.chunk, key, each) for key, each in said], reading)
    elif isinstance(inner, dict) and is_prompt_graph(inner):
        read_prompt(
            json.dumps(inner), inner, reading
        )  # Some savers write both graphs as one object.
    else:
        return False
    return True
