"""From a file to what it says of its making: which container, which of its texts, which dialect.

PNG chunks are read here, because Pillow keeps one of two texts of one key; EXIF and other pictures are Pillow's, tags of
sound and film PyAV's. The key of a text decides where a generator owns it, and its form where many share a key. Facts
about the delivered file (its own rate, size or length) are no values of a session and are not read.

Invariant: any bytes end in an ``Imported``; only a file that cannot be opened, or a library that is missing, is an error.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from twice.assets.errors import AssetMissing
from twice.assets.importers import daw_xml, json_dialects, reaper
from twice.assets.importers.a1111 import is_infotext, read_infotext
from twice.assets.importers.comfyui import is_prompt_graph, read_prompt, read_workflow
from twice.assets.importers.midi_wav import name_workstation, read_midi
from twice.assets.importers.result import NO_CHOICE, Imported, Reading, Value
from twice.assets.media.av import open_media
from twice.assets.media.images import PLUGINS, open_image
from twice.assets.media.pixel_text import extract_pixel_text
from twice.assets.media.sniff import HEAD, Damaged, Format, decoding, load_library, sniff
from twice.foundation.digests import Algorithm, digest_parts
from twice.foundation.printable import pluralize

TEXT_MAX: Final = 64 << 20
_PIECE: Final = 1 << 20
_KEPT_MAX: Final = 4096
_RECORDINGS: Final = (
    Format.WAV, Format.AIFF, Format.FLAC, Format.OGG, Format.MPEG, Format.AAC, Format.MP4, Format.MATROSKA, Format.AVI,
)  # fmt: skip
_EXIF_IFD: Final = 0x8769
_OWNED: Final = {
    "invokeai_metadata": json_dialects.INVOKEAI, "sd-metadata": json_dialects.INVOKEAI_2,
}  # fmt: skip
_SHARED: Final = (
    "prompt", "workflow", "parameters", "usercomment", "comment", "com", "description", "imagedescription",
    "generation_data",
)  # fmt: skip
"""Keys, in small letters, of texts whose form says the generator."""


class FileText(NamedTuple):
    """A text of a file: how its place is called, its key, and what it says."""

    chunk: str
    key: str
    text: str


def import_file(path: Path, chosen: Mapping[str, Value] = NO_CHOICE) -> Imported:
    """Read what a file says of its making. Nothing that it holds is executed.

    Args:
        path: a picture, a sound, a graph or a project.
        chosen: the candidate to take, by pointer, where there are several.

    Raises:
        AssetMissing: E-ASSET-FILE-001: it is not there, or cannot be read.
        ExtraMissing: E-EXTRA-001: a library that reads it is not installed.
    """
    try:
        with path.open("rb") as file:
            return import_stream(file, path.name, chosen)
    except OSError as error:
        raise AssetMissing(
            f"{path} cannot be read: {error.strerror or error}.",
            "Expected an asset or a project file.",
            "Name a file that is there: twice asset import FILE",
            path=str(path),
        ) from error


def import_stream(file: BinaryIO, name: str, chosen: Mapping[str, Value] = NO_CHOICE) -> Imported:
    """Read what an open file says of its making; ``name`` is for evidence."""
    digest = digest_parts(iter(lambda: file.read(_PIECE), b""), Algorithm.SHA256)
    file.seek(0)
    head = file.read(HEAD)
    file.seek(0)
    reading = Reading(name, digest.hex)
    with reading.reporting():
        _read_container(file, head, reading)
    return reading.conclude(chosen)


def _read_container(file: BinaryIO, head: bytes, reading: Reading) -> None:
    begins, kind = head.removeprefix(b"\xef\xbb\xbf").lstrip(), sniff(head)
    if begins.startswith(reaper.MARK):
        reaper.read_reaper(file, reading)
    elif kind is Format.GZIP or (begins[:1] == b"<" and b"<Ableton" in head):
        daw_xml.read_ableton(file, reading, is_packed=kind is Format.GZIP)
    elif kind is Format.ZIP:
        daw_xml.read_dawproject(file, reading)
    elif kind is Format.MIDI:
        read_midi(file, reading)
    elif kind is Format.TEXT:  # a saved graph, or an infotext beside its picture
        reading.begin("text")
        text = file.read(TEXT_MAX + 1).decode("utf-8-sig", "replace")
        if len(text) > TEXT_MAX or not _read_by_form(text, reading):
            raise Damaged(f"it is in no known form, or larger than {TEXT_MAX >> 20} MiB")
    elif kind in PLUGINS or kind in _RECORDINGS:
        with reading.reporting():
            read_texts(_list_texts(file, kind, reading), reading)
        for where, data in extract_pixel_text(file) if kind in {Format.PNG, Format.WEBP} else ():
            reading.begin(where)
            with reading.reporting():
                if not _read_by_form(text := data.decode("utf-8", "replace"), reading):
                    raise Damaged(f"hidden text in no known form; it begins {text[:60]!r}")
            reading.chunk = ""
    else:
        raise Damaged(f"{kind} is in no known form")


def _list_texts(file: BinaryIO, kind: Format, reading: Reading) -> Iterator[FileText]:
    """Give the texts of a picture, and the tags of a sound or a film and of its streams."""
    load_library("PIL.Image")
    if kind is Format.PNG:
        yield from _list_png_texts(file, reading)
    elif kind in PLUGINS:
        picture = open_image(file)
        with decoding("Pillow"):
            yield from _list_exif_texts(picture.getexif(), "Exif")
        said = picture.info.get("comment", b"")
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        if text.strip("\0 "):
            yield FileText("tag comment", "comment", text.rstrip("\0"))
    else:
        with open_media(file) as opened:
            for tags in (each.metadata for each in (opened.container, *opened.container.streams)):
                yield from (FileText(f"tag {key}", key, text) for key, text in tags.items())


def _list_png_texts(file: BinaryIO, reading: Reading) -> Iterator[FileText]:
    """Give the texts of a PNG file, as far as its chunks are whole."""
    file.seek(8)
    kind = ""
    while kind != "IEND":
        head = file.read(8)
        size, kind = int.from_bytes(head[:4], "big"), head[4:].decode("latin-1")
        # ComfyUI puts its texts into chunks of its own (comf) in an animated picture.
        is_text = kind in {"tEXt", "zTXt", "iTXt", "eXIf", "comf"} and size <= TEXT_MAX
        data = file.read(size) if is_text else b""
        file.seek(size - len(data), 1)
        if len(file.read(4)) < 4:  # the checksum
            reading.add_unparsed("PNG", "a chunk is cut off")
            return
        with reading.reporting(), decoding(kind):
            if kind == "eXIf" and data:
                exif = load_library("PIL.Image").Exif()
                exif.load(data)
                yield from _list_exif_texts(exif, kind)
            elif data:
                yield _decode_png_text(kind, data)
    if rest := file.read(_PIECE).strip(b"\0\r\n "):
        why = f"{pluralize(len(rest), 'byte')} outside of every chunk"
        reading.add_unparsed("after the end", why)


def _decode_png_text(kind: str, data: bytes) -> FileText:
    key, _, rest = data.partition(b"\0")
    is_packed = kind == "zTXt" or (kind == "iTXt" and rest[:1] == b"\1")
    # Behind the key: one byte in zTXt; in iTXt two, a language and the translated key.
    rest = rest[1:] if kind == "zTXt" else rest
    rest = rest[2:].split(b"\0", 2)[-1] if kind == "iTXt" else rest
    if is_packed:
        unpacker = zlib.decompressobj()
        rest = unpacker.decompress(rest, TEXT_MAX)
        if not unpacker.eof:
            raise Damaged(f"{kind} is cut off, or unpacks to more than the limit")
    name = key.decode("latin-1")
    try:
        # Latin-1 is the standard's for tEXt; most generators write UTF-8.
        text = rest.decode("utf-8")
    except UnicodeDecodeError:
        text = rest.decode("latin-1")
    return FileText(f"{kind} {name}", name, text)


def _list_exif_texts(exif: Any, chunk: str) -> Iterator[FileText]:
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
    """Read the texts of one file; those of NovelAI belong together."""
    texts = [_split_prefix(each) for each in found]
    is_novelai = any(each.key == "Software" and each.text == "NovelAI" for each in texts)
    has_prompt = any(each.key == "prompt" and '"class_type"' in each.text for each in texts)
    for chunk, key, text in texts:
        reading.begin(chunk)
        with reading.reporting():
            if is_novelai and json_dialects.read_novelai(key, text, reading):
                continue
            if key in {"encoded_by", "coding_history"}:  # FFmpeg's names for what bext says.
                name_workstation(text, reading)
            if key in _OWNED:
                found_object = json_dialects.parse_object(text)
                json_dialects.read_json_dialect(found_object, _OWNED[key], reading)
            elif key.lower() in _SHARED and _read_by_form(text, reading, is_alone=not has_prompt):
                pass
            elif key == "parameters":
                raise Damaged(f"it is in no known form; it begins {text[:60]!r}")
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
    """Read a text whose form is one of a generator's; give false where it is none, and raise where it is damaged.

    ``is_alone`` says that a graph on screen would be all that the file has of ComfyUI.
    """
    if text.lstrip()[:1] != "{":
        if is_infotext(text):
            read_infotext(text, reading)
            return True
        return False
    try:
        found = json_dialects.parse_object(text)
    except ValueError:
        # The words of a generator in it say that a damaged object was meant.
        if json_dialects.SWARMUI.inside in text[:200] or '"class_type"' in text:
            raise
        return False
    inner = found.get("prompt")
    if dialect := json_dialects.find_dialect(found):
        json_dialects.read_json_dialect(found, dialect, reading)
    elif is_prompt_graph(found):
        read_prompt(text, found, reading)
    elif isinstance(found.get("nodes"), list) and "links" in found:
        read_workflow(text, found, reading, is_alone=is_alone)
    elif found.get("Software") == "NovelAI":
        for key, each in found.items():
            said = each if isinstance(each, str) else json.dumps(each)
            json_dialects.read_novelai(key, said, reading)
    elif isinstance(inner, dict) and is_prompt_graph(inner):
        # Some savers write both graphs as one object.
        read_prompt(json.dumps(inner), inner, reading)
    else:
        return False
    return True
