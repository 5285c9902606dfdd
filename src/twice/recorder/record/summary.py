"""What a record holds, and what each kind of block takes.

For `twice show`, and for saying what a rule costs in bytes.

Invariant: the bytes of all kinds, the headers and the trailer add up to the file.
"""

from __future__ import annotations

from twice.recorder.record.blockfile import BlockFile
from twice.recorder.record.layout import BLOCK_HEADER_BYTES, Kind

_COUNTED = {
    "points": Kind.POINTS,
    "frames": Kind.FRAMES,
    "snapshots": Kind.SNAPSHOTS,
    "blobs": Kind.TABLES,
    "pages": Kind.PAGES,
}


def summarise(file: BlockFile) -> dict[str, object]:
    """Count entries, and bytes by kind of block; headers count as stored."""
    rows = file.table()
    blocks = {
        kind.name.lower(): {"count": 0, "stored_bytes": 0, "raw_bytes": 0}
        for kind in Kind
        if kind is not Kind.INDEX
    }
    for number in range(file.blocks):
        header = file.stored(number).header
        kind = blocks[Kind(header.kind).name.lower()]
        kind["count"] += 1
        kind["stored_bytes"] += header.stored + BLOCK_HEADER_BYTES
        kind["raw_bytes"] += header.raw + BLOCK_HEADER_BYTES
    counts = {
        name: int(rows["count"][rows["kind"] == kind].sum()) for name, kind in _COUNTED.items()
    }
    return {"file_bytes": file.size, **counts, "blocks": blocks}
