"""Parts of JPEG XL files in their container; the bare codestream has no place for anything else.

Source: ISO/IEC 18181-2.

Invariant: a box is payload, or given as metadata; one packed by Brotli is unpacked within the budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.containers.boxes import boxes
from twice.assets.containers.parts import Kind, Part
from twice.assets.containers.pictures import after
from twice.assets.containers.source import Source
from twice.assets.containers.unmarked import unbrotlied
from twice.assets.containers.unpacking import Budget, unpacked

_STRUCTURE: Final = frozenset({"JXL ", "ftyp", "jxll", "jxli"})
_SAYING: Final = frozenset({"Exif", "xml ", "jumb", "jhgm", "free", "skip", "uuid"})
_PAYLOAD: Final = frozenset({"jxlc", "jxlp", "jbrd"})


def jxl(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the boxes of a JPEG XL file, unpacked from Brotli, and any bytes after them."""
    end = 0
    for box in boxes(source):
        if box.name == "JXL " and box.offset:
            break  # The next file begins.
        is_long = source.number(box.offset, 4, big=True) == 1
        end = box.offset + (16 if is_long else 8) + box.source.size
        key = box.name.strip()
        if box.name in _PAYLOAD:
            yield Part(key, Kind.PAYLOAD, box.source, box.offset)
        elif box.name in _STRUCTURE:
            yield Part(key, Kind.STRUCTURE, box.source, box.offset)
        elif box.name == "brob":
            key = box.source.read(0, 4).decode("latin-1").strip()
            plain = unbrotlied(box.source.sub(4))
            yield from unpacked(f"brob {key}", Kind.METADATA, plain, budget, key=key)
        elif box.name in _SAYING:
            yield Part(key, Kind.METADATA, box.source, box.offset, key)
        else:
            end = box.offset  # No box of this kind of file: what is here lies behind its end.
            break
    yield from after(source, min(end, source.size))
