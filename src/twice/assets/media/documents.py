"""What libraries read out of one file: its fields, and the files inside that are no archive members.

Pillow reads the texts and EXIF of pictures, PyAV the tags and covers of sound and film, fontTools the names of fonts,
pypdf the objects of a PDF. What lies in a file in plain bytes besides is for whoever reads the bytes.

Invariant: any bytes end in parts, and no decoder runs without a limit; what could not be read is a part that says why.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO, Final

from twice.assets.media.archives import (
    ArchiveMember,
    UnpackBudget,
    decompress,
    explain,
    read_at,
    size_of,
    unpack,
)
from twice.assets.media.av import check_chunk, open_media
from twice.assets.media.images import open_image
from twice.assets.media.sniff import decoding, load_library

_TEXT_MAX: Final = 16 << 20  # bytes of one field
_OBJECTS_MAX: Final = 50_000  # of a PDF
_CODED: Final = frozenset({"exif", "jfif", "adobe", "transparency"})  # read below, or no text
_CODECS: Final = frozenset({"/DCTDecode", "/JPXDecode"})  # of pictures within a PDF
_PDF_MAX: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class MetadataField:
    """A piece of metadata: its name, and its bytes; texts in UTF-8."""

    key: str
    value: bytes


Part = MetadataField | ArchiveMember


def read_parts(kind: str, file: BinaryIO, budget: UnpackBudget) -> Iterator[Part]:
    """Yield the fields of a file and the files in it, as far as its library reads them.

    Its kind is ``picture``, ``recording`` (sound or film), ``font``, ``woff2`` or ``pdf``.
    """
    file.seek(0)
    try:
        yield from _READERS[kind](file, budget)
    except Exception as error:  # noqa: BLE001 - A stranger's file makes these libraries raise nearly anything.
        yield ArchiveMember(kind, None, explain(error))


def _to_fields(said: Iterable[tuple[object, object]]) -> Iterator[MetadataField]:
    """Yield those that are texts or bytes, and more than one letter."""
    for key, value in said:
        if isinstance(value, str):
            data = value.encode("utf-8", "replace")
        elif isinstance(value, tuple) and all(isinstance(each, bytes) for each in value):
            data = b"\n".join(value)
        else:
            data = value if isinstance(value, bytes) else b""
        if len(data) > 1:
            yield MetadataField(str(key)[:80], data[:_TEXT_MAX])


def _read_picture(file: BinaryIO, _: UnpackBudget) -> Iterator[Part]:
    tags = load_library("PIL.ExifTags")
    picture = open_image(file)
    with decoding("pillow"):
        if picture.format == "PNG":  # Texts behind the pixels are read after these.
            picture.load()
        said = [each for each in picture.info.items() if each[0] not in _CODED]
        # The mark of captions names a program, whoever wrote them.
        for name, data in getattr(picture, "applist", []):
            said.append((f"segment {name}", data.removeprefix(b"Photoshop 3.0\0")))
        exif = picture.getexif()
        directories = (tags.IFD.Exif, tags.IFD.GPSInfo, tags.IFD.Interop)
        for table in (exif, *map(exif.get_ifd, directories)):
            said += [(f"EXIF {tags.TAGS.get(tag, tag)}", value) for tag, value in table.items()]
    yield from _to_fields(said)


def _read_recording(file: BinaryIO, budget: UnpackBudget) -> Iterator[Part]:
    with open_media(file) as media:
        said = [(key.partition(" of ")[0], value) for key, value in media.read_tags()]
        others = [each for each in media.container.streams if each not in media.streams]
        files = [
            (each.metadata.get("filename", "attachment"), bytes(each.data or b""))
            for each in others
            if each.type == "attachment"
        ]
        covers = [each for each in others if each.type == "video"]
        packets = islice(media.container.demux(covers) if covers else (), len(covers))
        files += [("picture", bytes(packet)) for packet in packets]
    yield from _to_fields(said)
    for name, data in files:
        yield unpack(name, iter([data]), budget)
    check_chunk(file)


def _read_font(file: BinaryIO, _: UnpackBudget) -> Iterator[Part]:
    library = load_library("fontTools.ttLib")
    is_collection = read_at(file, 0, 4) == b"ttcf"
    count = int.from_bytes(read_at(file, 8, 4)) if is_collection else 1
    for number in range(min(count, 64)):
        file.seek(0)
        font = library.TTFont(file, fontNumber=number if is_collection else -1, lazy=True)
        for record in font["name"].names:
            name = str(record).encode("utf-8", "replace")
            yield MetadataField(f"font name {record.nameID}", name)


def _read_woff2(file: BinaryIO, budget: UnpackBudget) -> Iterator[Part]:
    """Yield the tables of a WOFF 2 font, which are one stream, and its notes."""
    library = load_library("fontTools.ttLib.woff2")
    head = read_at(file, 0, 48)
    file.seek(48)
    for _ in range(int.from_bytes(head[12:14])):
        library.WOFF2DirectoryEntry().fromFile(file)
    spans = {"tables": (file.tell(), head[20:24])}
    spans["metadata"] = (int.from_bytes(head[28:32]), head[32:36])
    for name, (start, size) in spans.items():
        packed = io.BytesIO(read_at(file, start, int.from_bytes(size)))
        if packed.getbuffer():
            yield unpack(name, decompress("Brotli", packed), budget)


def _read_pdf(file: BinaryIO, budget: UnpackBudget) -> Iterator[Part]:
    library, errors = load_library("pypdf"), load_library("pypdf.errors")
    log = logging.getLogger("pypdf")
    if not log.handlers:  # What is wrong with a file is for the report, not for standard error.
        log.addHandler(logging.NullHandler())
    if size_of(file) > _PDF_MAX:
        yield ArchiveMember("pdf", None, f"it is larger than {_PDF_MAX >> 20} MiB")
        return
    try:
        reader = library.PdfReader(file, strict=False)
    except errors.PdfReadError:
        # There is no directory. With a wrong one, the library looks for all objects.
        whole = read_at(file, 0, _PDF_MAX) + b"\nstartxref\n0\n%%EOF\n"
        reader = library.PdfReader(io.BytesIO(whole), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        yield ArchiveMember("objects", None, "the PDF is encrypted")
        return
    for key, value in (reader.metadata or {}).items():
        yield MetadataField(f"PDF {key.removeprefix('/')}", str(value).encode("utf-8", "replace"))
    numbers = sorted({*chain(*reader.xref.values()), *reader.xref_objStm})
    for number in numbers[:_OBJECTS_MAX]:
        if not budget.unpacked:
            break
        try:
            found = reader.get_object(number)
            is_stream = isinstance(found, library.generic.StreamObject)
            filters = found.get("/Filter") if is_stream else None
        except Exception:  # noqa: BLE001, S112 - One object that is not there hides no other.
            continue
        # A picture in one packing stands in the file as it is, or has pixels alone.
        is_wrapped = isinstance(filters, list) and len(filters) > 1 and filters[-1] in _CODECS
        if not is_stream or (found.get("/Subtype") == "/Image" and not is_wrapped):
            continue
        try:
            data = bytes(found.get_data())
        except Exception as error:  # noqa: BLE001
            yield ArchiveMember(f"object {number}", None, explain(error))
        else:
            yield unpack(f"object {number}", iter([data]), budget)
    if len(numbers) > _OBJECTS_MAX or not budget.unpacked:
        yield ArchiveMember("objects", None, "there are more objects than the limit")


_READERS: Final[dict[str, Callable[[BinaryIO, UnpackBudget], Iterator[Part]]]] = {
    "picture": _read_picture,
    "recording": _read_recording,
    "font": _read_font,
    "woff2": _read_woff2,
    "pdf": _read_pdf,
}
