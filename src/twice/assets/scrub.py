"""The cold copy: a file with its payload and what decoding needs, and nothing that is said about it.

``media.metadata_filter`` copies pictures, WAV, AIFF, FLAC, MP3 and AAC piece by piece. FFmpeg puts other sound and film
into a new container of the same kind, packet by packet: sound, film and subtitles with their languages stay, tags,
chapters, covers, attached files and data tracks do not. Pixels and packets are never changed: text that is hidden in
them stays, and is reported.

Invariant: no copy leaves here whose payload differs from its original's.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from twice.assets.errors import PayloadRefused, ScrubRefused
from twice.assets.leaks.report import LeakFinding
from twice.assets.leaks.scan import FileScan
from twice.assets.media.archives import read_at, size_of
from twice.assets.media.av import open_media
from twice.assets.media.metadata_filter import FILTERS, Pieces, RemovedPart
from twice.assets.media.payload import PayloadDigest, digest_open_file
from twice.assets.media.sniff import Damaged, Format, load_library, sniff_file
from twice.foundation.severity import Severity

_MUXERS: Final = {Format.OGG: "ogg", Format.MP4: "mp4", Format.MATROSKA: "matroska"}
"""FFmpeg's name of the container that a copy is written in."""
_SUFFIXES: Final = {
    Format.PNG: {".png", ".apng"}, Format.JPEG: {".jpg", ".jpeg", ".jpe", ".jfif"}, Format.GIF: {".gif"},
    Format.WEBP: {".webp"}, Format.WAV: {".wav", ".wave", ".bwf"}, Format.AIFF: {".aif", ".aiff", ".aifc"},
    Format.FLAC: {".flac"}, Format.OGG: {".ogg", ".oga", ".ogv", ".ogx", ".opus"}, Format.MPEG: {".mp3", ".mp2"},
    Format.AAC: {".aac"}, Format.MP4: {".mp4", ".m4a", ".m4b", ".m4v", ".mov"},
    Format.MATROSKA: {".mkv", ".mka", ".webm"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScrubbedFile:
    """A cold copy: a temporary file that vanishes when it is closed, with the payload of its original.

    Parts of the original are ``removed``; leaks that are in the copy still, such as text in its pixels, are ``left``.
    """

    copy: BinaryIO
    payload: PayloadDigest
    removed: tuple[RemovedPart, ...]
    left: tuple[LeakFinding, ...]

    def to_json(self) -> dict[str, object]:
        """Return it as JSON data, without the names of the files."""
        return {
            "payload": {"method": self.payload.method, "digest": self.payload.digest},
            "removed": [
                {"name": each.name, "offset": each.offset, "bytes": each.size_bytes}
                for each in self.removed
            ],
            "left": [each.to_json() for each in self.left],
        }


def scrub(file: BinaryIO, name: str, copy_name: str = "") -> ScrubbedFile:
    """Return the cold copy of an open file that can seek.

    Args:
        file: the original.
        name: of the original; its suffix may be wrong.
        copy_name: under which the copy is written, if that is known.

    Raises:
        ScrubRefused: E-SCRUB-001, the format is not one of those that can be scrubbed, the copy's name is that of
            another format, the file is damaged, or its payload would not be the same.
        ExtraMissing: E-EXTRA-001, the library that reads the format is not installed.
    """
    kind = sniff_file(file)
    if kind not in FILTERS and kind not in _MUXERS:
        accepted = ", ".join(each.rpartition("/")[2] for each in (*FILTERS, *_MUXERS))
        raise ScrubRefused(
            f"{name} is {kind}, which cannot be scrubbed.",
            f"Expected one of: {accepted}.",
            "Export it in one of these, or build it again from clean parts.",
        )
    suffix = Path(copy_name).suffix.lower()
    is_other = any(suffix in each for of, each in _SUFFIXES.items() if of is not kind)
    if is_other and suffix != Path(name).suffix.lower():
        raise ScrubRefused(
            f"{name} is {kind}, and {copy_name} is the name of another format.",
            f"Expected one that ends in {' or '.join(sorted(_SUFFIXES[kind]))}: a copy is not converted.",
            "Name the copy so: -o COPY",
        )
    removed: list[RemovedPart] = []
    # FFmpeg opens it by its name once more, to put the tables before the samples.
    copy = cast("BinaryIO", tempfile.NamedTemporaryFile(suffix=".copy"))  # noqa: SIM115
    try:
        before = digest_open_file(file, name)
        pieces = FILTERS[kind](file) if kind in FILTERS else _remux(file, copy.name, kind)
        for piece in pieces:
            if isinstance(piece, RemovedPart):
                removed.append(piece)
            else:
                copy.write(piece)
        copy.flush()
        after = digest_open_file(copy, name)
    except (Damaged, PayloadRefused) as error:
        why = error.why if isinstance(error, Damaged) else error.happened
        raise ScrubRefused(
            f"{name} cannot be scrubbed: {why.rstrip('.')}.",
            "Expected a whole file of its kind.",
            "Export it again; nothing was written.",
        ) from error
    if (before.method, before.digest) != (after.method, after.digest):
        raise ScrubRefused(
            f"The payload of {name} would not be the same: {before.digest} became {after.digest}.",
            "Expected the same pixels, samples or packets without what is said about them.",
            "Export it again without its extras; nothing was written.",
        )
    left = tuple(
        found
        for found in FileScan().scan(copy, Path(name).suffix or "copy")
        if isinstance(found, LeakFinding) and found.severity >= Severity.HIGH
    )
    copy.seek(0)
    return ScrubbedFile(copy, before, tuple(each for each in removed if each.size_bytes), left)


def _remux(file: BinaryIO, target: str, kind: Format) -> Pieces:
    """Write the packets of a file into a new container, and yield what that does not have."""
    head = read_at(file, 0, 64)
    name = _MUXERS[kind]
    if kind is Format.MP4:
        name = {b"qt  ": "mov", b"M4A ": "ipod"}.get(head[8:12], name)
    elif b"webm" in head:
        name = "webm"
    options = {"fflags": "+bitexact"} | ({"movflags": "+faststart"} if kind is Format.MP4 else {})
    with (
        open_media(file) as media,
        load_library("av").open(target, "w", format=name, container_options=options) as copy,
    ):
        tags = [RemovedPart(f"tag {key}", None, len(value)) for key, value in media.read_tags()]
        streams = {}
        for stream in media.streams:
            made = streams[stream.index] = copy.add_stream_from_template(stream, opaque=True)
            made.disposition = stream.disposition
            if kind is Format.MP4:
                made.codec_context.codec_tag = stream.codec_context.codec_tag
            if stream.language:
                made.metadata["language"] = stream.language
        for packet in media.packets():
            packet.stream = streams[packet.stream_index]
            copy.mux(packet)
    yield from tags
    rest = size_of(file) - Path(target).stat().st_size - sum(each.size_bytes for each in tags)
    yield RemovedPart("other parts of the container", None, max(rest, 0))
