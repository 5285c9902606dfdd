"""The walker for each kind of container, and what becomes of one that cannot go on.

Invariant: no bytes make this raise; what a walker could not read is a part that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from twice.assets.containers import (
    archives,
    films,
    jxl,
    models,
    palm,
    pdf,
    pictures,
    sounds,
    tiff,
    unity,
)
from twice.assets.containers.parts import Kind, Part, unread
from twice.assets.containers.source import Source
from twice.assets.containers.unpacking import Budget
from twice.assets.media.sniff import Damaged, Format
from twice.errors import ExtraMissing

NO_BROTLI: Final = "Brotli was not unpacked: install it with pip install 'twice[assets]'"
_WALKERS: Final[dict[Format, Callable[[Source, Budget], Iterator[Part]]]] = {
    Format.PNG: pictures.png,
    Format.JPEG: pictures.jpeg,
    Format.GIF: pictures.gif,
    Format.WEBP: pictures.webp,
    Format.TIFF: tiff.tiff,
    Format.AVIF: films.mp4,
    Format.MP4: films.mp4,
    Format.MATROSKA: films.matroska,
    Format.JXL: jxl.jxl,
    Format.WAV: sounds.wav,
    Format.AIFF: sounds.aiff,
    Format.FLAC: sounds.flac,
    Format.OGG: sounds.ogg,
    Format.MPEG: sounds.mpeg,
    Format.AAC: sounds.mpeg,
    Format.PDF: pdf.pdf,
    Format.PALM: palm.palm,
    Format.ZIP: archives.zipped,
    Format.TAR: archives.tarred,
    Format.GZIP: archives.gzipped,
    Format.ZLIB: archives.zlibbed,
    Format.BZIP2: archives.bzipped,
    Format.XZ: archives.xzipped,
    Format.ZSTD: archives.zstandard,
    Format.LZ4: archives.lz4,
    Format.SEVEN_ZIP: archives.unknown,
    Format.RAR: archives.unknown,
    Format.CABINET: archives.unknown,
    Format.CHM: archives.unknown,
    Format.WIM: archives.unknown,
    Format.UNITY: unity.unity,
    Format.GLB: models.glb,
    Format.FONT: models.font,
    Format.WOFF: models.woff,
    Format.WOFF2: models.woff,
    Format.COLLECTION: models.collection,
}


def is_container(kind: Format) -> bool:
    """Whether there is a walker for it; the rest is text or bytes."""
    return kind in _WALKERS


def walk(source: Source, kind: Format, budget: Budget) -> Iterator[Part]:
    """Yield the parts of a container, as far as its bytes and the budget allow.

    If it is damaged, one part reports that, and another has the rest as bytes.
    """
    try:
        for part in _WALKERS[kind](source, budget):
            if budget.parts <= 0:
                yield unread("parts", "there are more parts than the limit", part.offset)
                return
            budget.parts -= 1
            yield part
    except Damaged as damage:
        yield unread(str(kind), damage.why, damage.offset)
        yield Part("unreadable rest", Kind.CODE, source.sub(damage.offset), damage.offset)
    except ExtraMissing:
        yield unread(str(kind), NO_BROTLI)
    except (ValueError, IndexError, KeyError, EOFError, OverflowError, OSError) as error:
        yield unread(str(kind), f"it does not hold together: {str(error)[:120]}")
        yield Part("unreadable whole", Kind.CODE, source, 0)
