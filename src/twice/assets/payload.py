"""What a file is for, as one digest: pixels, samples or packets, without anything that is only said about them.

Renaming, tagging anew, scrubbing and another compression level of a PNG leave it as it was. Each method has a number;
a change of what it covers gets another one. What a method does not cover: how long a frame of an animation
of packets is shown, colour profiles, orientation, and samples trimmed from the end of an Ogg stream.

Invariant: the digest depends on the payload alone, and no two methods give the same one for different things.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from twice.assets.containers.id3 import end_of_tags
from twice.assets.containers.parts import Damaged
from twice.assets.containers.sniffing import HEAD, Format, sniff
from twice.assets.containers.source import Source, whole_file
from twice.assets.errors import PayloadRefused
from twice.foundation.digests import Algorithm, digest_parts

Fact = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Payload:
    """The payload of a file.

    Args:
        method: ``pixels-rgba8/1``, ``pixels-rgba16/1``, ``pixels-raw/1``, ``pcm/1``, ``packets/1`` or ``bytes/1``.
        digest: ``sha256:`` and 64 hexadecimal digits.
        facts: what was measured on the way: ``media_type`` always; ``width``, ``height``, ``frames`` of
            pictures; ``sample_rate`` (Hz), ``channels``, ``bit_depth``, ``duration_s`` of sound, ``codec`` of packets.
    """

    method: str
    digest: str
    facts: Mapping[str, Fact]


def payload(path: Path) -> Payload:
    """Return the payload of a file on disk.

    Raises:
        PayloadRefused: E-PAYLOAD-001, the file cannot be read, or is damaged.
        ExtraMissing: E-EXTRA-001, a picture without pillow, a FLAC file without soundfile.
    """
    try:
        source = whole_file(path)
    except OSError as error:
        raise _refused(str(path), error.strerror or str(error)) from error
    return payload_of(source, str(path))


def payload_of(source: Source, name: str) -> Payload:
    """Return the payload of bytes; ``name`` is for messages only.

    Raises:
        PayloadRefused: E-PAYLOAD-001, the bytes are damaged.
        ExtraMissing: E-EXTRA-001, a picture without pillow, a FLAC file without soundfile.
    """
    kind = sniff(source.read(0, HEAD))
    if kind is Format.MPEG and source.read(end_of_tags(source), 4) == b"fLaC":
        source, kind = source.sub(end_of_tags(source)), Format.FLAC
    try:
        method, digest, facts = _measured(kind, source)
    except Damaged as damage:
        raise _refused(name, damage.why) from damage
    return Payload(method, digest, MappingProxyType({"media_type": str(kind), **facts}))


def _measured(kind: Format, source: Source) -> tuple[str, str, dict[str, Fact]]:
    if kind in _PICTURES:
        from twice.assets.payloads.pixels import pixels

        return pixels(source, kind)
    if kind in {Format.WAV, Format.AIFF, Format.FLAC}:
        from twice.assets.payloads.pcm import pcm

        return pcm(source, kind)
    if kind in _PACKETS:
        from twice.assets.payloads.packets import packets

        return packets(source, kind)
    return NO_PAYLOAD, str(digest_parts(source.pieces(), Algorithm.SHA256)), {}


NO_PAYLOAD: Final = "bytes/1"
"""The method of a file that is neither picture nor sound: its bytes."""

_PICTURES = frozenset(
    {Format.PNG, Format.JPEG, Format.GIF, Format.WEBP, Format.TIFF, Format.BMP, Format.AVIF}
)
_PACKETS = frozenset({Format.OGG, Format.MPEG, Format.AAC, Format.MP4, Format.MATROSKA})


def _refused(name: str, why: str) -> PayloadRefused:
    return PayloadRefused(
        f"The payload of {name} cannot be told: {why}.",
        "Expected a whole file of the kind that its first bytes say.",
        "Export it again, or look at it with a program that opens it.",
    )
