"""What libraries read out of one file: its fields, and the files inside that are no archive members.

Pillow reads the texts and EXIF of pictures, PyAV the tags and covers of sound and film, fontTools the names of fonts,
pypdf the objects of a PDF. What lies in a file in plain bytes besides is for whoever reads the bytes.

Invariant: any bytes end in parts, and no decoder runs without a limit; what could not be read is a part that says why.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, Final

from twice.assets.media.archives import ArchiveMember, UnpackBudget, decompress, read_at, unpack

_TEXT_MAX: Final = 16 << 20  # bytes of one field
_OBJECTS_MAX: Final = 50_000  # of a PDF
_PDF_MAX: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class MetadataField:
    """A piece of metadata.

    Args:
        key: its name.
        value: its bytes; texts in UTF-8.
    """

    key: str
    value: bytes


Part = MetadataField | ArchiveMember


@contextmanager
def _silenced() -> Iterator[None]:
    """Keep libraries from saying on standard error what is wrong with a file."""
    log = logging.getLogger("pypdf")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def read_parts(kind: str, file: BinaryIO, budget: UnpackBudget) -> Iterator[Part]:
    """Yield the fields of a file and the files in it, as far as its library reads them.

    Args:
        kind: ``picture``, ``recording`` (sound or film), ``font``, ``woff2`` or ``pdf``.
        file: its bytes.
        budget: what may still be unpacked.
    """
    file.seek(0)
    try:
        with _silenced():
            yield from _READERS[kind](file, budget)
    except ImportError as error:
        why = f"{error.name} is needed: install it with pip install 'twice[assets]'"
        yield ArchiveMember(kind, None, why)
    except Exception as error:  # noqa: BLE001 - A stranger's file makes these libraries raise nearly anything.
        yield ArchiveMember(kind, None, f"it cannot be read to its end: {str(error)[:120]}")


def _to_field(key: object, value: object) -> MetadataField | None:
    if isinstance(value, str):
        value = value.encode("utf-8", "replace")
    if isinstance(value, tuple) and value and all(isinstance(each, bytes) for each in value):
        value = b"\n".join(value)
    is_text = isinstance(value, bytes) and len(value) > 1
    return MetadataField(str(key)[:80], value[:_TEXT_MAX]) if is_text else None  # type: ignore[index]


def _read_picture(file: BinaryIO, budget: UnpackBudget) -> Iterator[Part]:
    del budget
    from PIL import ExifTags, Image

    with Image.open(file) as picture:
        said: list[tuple[object, object]] = [*picture.info.items()]
        segments = getattr(
            picture, "applist", []
        )  # The mark of captions names a program, whoever wrote them.
        said += [
            (f"segment {name}", data.removeprefix(b"Photoshop 3.0\0")) for name, data in segments
        ]
        exif = picture.getexif()
        tags = [*exif.items()]
        for directory in (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo, ExifTags.IFD.Interop):
            tags += exif.get_ifd(directory).items()
        said += [(f"EXIF {ExifTags.TAGS.get(tag, tag)}", value) for tag, value in tags]
        for key, value in said:
            field = _to_field(key, value)
            if field is not None and key not in {"exif", "jfif", "adobe", "transparency"}:
                yield field
        if picture.format == "PNG":  # Texts behind the pixels are read after these.
            before = dict(picture.info)
            picture.load()
            for key, value in picture.info.items():
                field = _to_field(key, value)
                if field is not None and key not in before:
                    yield field


def _read_recording(file: BinaryIO, budget: UnpackBudget) -> Iterator[Part]:
    import av

    with av.open(file, "r", metadata_errors="replace") as container:
        tagged: list[Any] = [container, *container.streams]
        chapters = [chapter["metadata"] for chapter in container.chapters()]
        for metadata in (*(each.metadata for each in tagged), *chapters):
            for key, value in metadata.items():
                field = _to_field(key, value)
                if field is not None:
                    yield field
        streams: list[Any] = list(container.streams)
        for stream in streams:
            if stream.type == "attachment":
                name, data = stream.metadata.get("filename", "attachment"), stream.data
                yield unpack(name, iter([bytes(data or b"")]), budget)
        is_cover = av.stream.Disposition.attached_pic
        covers = [each for each in container.streams.video if each.disposition & is_cover]
        for packet in islice(container.demux(covers) if covers else (), len(covers)):
            yield unpack("picture", iter([bytes(packet)]), budget)


def _read_font(file: BinaryIO, budget: UnpackBudget) -> Iterator[Part]:
    del budget
    from fontTools.ttLib import TTFont

    is_collection = read_at(file, 0, 4) == b"ttcf"
    count = int.from_bytes(read_at(file, 8, 4), "big") if is_collection else 1
    for number in range(min(count, 64)):
        file.seek(0)
        font = TTFont(file, fontNumber=number if is_collection else -1, lazy=True)
        for record in font["name"].names:
            yield MetadataField(
                f"font name {record.nameID}", str(record).encode("utf-8", "replace")
            )


def _read_woff2(file: BinaryIO, budget: UnpackBudget) -> Iterator[Part]:
    """Yield the tables of a WOFF 2 font, which are one stream, and its notes."""
    from fontTools.ttLib.woff2 import WOFF2DirectoryEntry

    head = read_at(file, 0, 48)
    file.seek(48)
    for _ in range(int.from_bytes(head[12:14], "big")):
        WOFF2DirectoryEntry().fromFile(file)
    spans = [(file.tell(), int.from_bytes(head[20:24], "big"), "tables")]
    spans.append(
        (int.from_bytes(head[28:32], "big"), int.from_bytes(head[32:36], "big"), "metadata")
    )
    for start, size, name in spans:
        if size:
            packed = io.BytesIO(read_at(file, start, size))
            yield unpack(name, decompress("Brotli", packed), budget)


def _read_pdf(file: BinaryIO, budget: UnpackBudget) -> Iterator[Part]:
    from pypdf import PdfReader
    from pypdf.errors import PdfReadError
    from pypdf.generic import StreamObject

    if file.seek(0, io.SEEK_END) > _PDF_MAX:
        yield ArchiveMember("pdf", None, f"it is larger than {_PDF_MAX >> 20} MiB")
        return
    try:
        reader = PdfReader(file, strict=False)
    except (
        PdfReadError
    ):  # Its directory is missing; one that is wrong makes the library look for all objects.
        whole = read_at(file, 0, _PDF_MAX)
        reader = PdfReader(io.BytesIO(whole + b"\nstartxref\n0\n%%EOF\n"), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        yield ArchiveMember("objects", None, "the PDF is encrypted")
        return
    for key, value in (reader.metadata or {}).items():
        field = _to_field(f"PDF {key.removeprefix('/')}", str(value))
        if field is not None:
            yield field
    numbers = sorted(
        {*(each for table in reader.xref.values() for each in table), *reader.xref_objStm}
    )
    for number in numbers[:_OBJECTS_MAX]:
        try:
            found = reader.get_object(number)
        except Exception:  # noqa: BLE001, S112 - One object that is not there hides no other.
            continue
        if isinstance(found, StreamObject):
            yield from _read_stream(number, found, budget)
    if len(numbers) > _OBJECTS_MAX:
        yield ArchiveMember("objects", None, "there are more objects than the limit")


def _read_stream(number: int, stream: Any, budget: UnpackBudget) -> Iterator[Part]:
    if stream.get("/Subtype") == "/Image":
        return
    name = f"object {number}"
    try:
        data = bytes(stream.get_data())
    except Exception as error:  # noqa: BLE001
        yield ArchiveMember(name, None, f"it cannot be unpacked: {str(error)[:120]}")
        return
    yield unpack(name, iter([data]), budget)


_READERS: Final[dict[str, Callable[[BinaryIO, UnpackBudget], Iterator[Part]]]] = {
    "picture": _read_picture,
    "recording": _read_recording,
    "font": _read_font,
    "woff2": _read_woff2,
    "pdf": _read_pdf,
}
