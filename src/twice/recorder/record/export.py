"""A record for other tools: JSON lines, or Parquet tables.

Nothing is lost in JSON lines except how the file was cut into blocks; the tables hold compare-points
and frames. Bytes become base64, digests lower-case hexadecimal with their label.

Invariant: the same record exports to the same bytes, in the order in which things were recorded.
"""

from __future__ import annotations

import base64
import heapq
import json
import os
from collections.abc import Iterator
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from twice.errors import ExtraMissing
from twice.recorder.record.points import Point
from twice.recorder.record.reader import RecordReader

_ROWS_PER_BATCH = 16 * 1024


def to_json_lines(reader: RecordReader, out: TextIO, *, blobs: bool = False) -> int:
    """Write one JSON object per line and return how many.

    The first has ``type`` ``record`` and the identity, the last ``ending``. Between them stand
    ``frame``, ``snapshot`` and ``point``, what led to a point before it.

    Args:
        reader: of the record.
        out: where the lines go.
        blobs: also write every blob, before the ending.
    """
    count = 0
    for line in _lines(reader, blobs=blobs):
        out.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")
        count += 1
    return count


def _lines(reader: RecordReader, *, blobs: bool) -> Iterator[dict[str, object]]:
    yield {
        "type": "record",
        "format": reader.format,
        "run_id": reader.run_id.hex(),
        "algorithm": str(reader.algorithm),
        "identity": reader.identity,
    }
    frames = (
        (frame.point, 0, {**frame._asdict(), "type": "frame", "payload": _base64(frame.payload)})
        for frame in reader.frames()
    )
    snapshots = (
        (each.point, 1, {**each._asdict(), "type": "snapshot", "envelope": _base64(envelope)})
        for each in reader.snapshots
        for envelope in (reader.envelope(each.number),)
    )
    points = (
        (point.index, 2, _point(point, reader.algorithm)) for point in reader.points.iterate()
    )
    # Each journal is in order already. At one compare-point its frames come first, itself last.
    yield from map(itemgetter(2), heapq.merge(frames, snapshots, points, key=itemgetter(0, 1)))
    if blobs:
        for number in range(len(reader.blobs)):
            parts = [_base64(part) for part in reader.blobs.parts(number)]
            yield {"type": "blob", "number": number, "parts": parts}
    tear = reader.tear
    yield {
        "type": "ending",
        "complete": reader.complete,
        "ending": reader.ending,
        "tear": None if tear is None else tear.reason,
    }


def _point(point: Point, label: str) -> dict[str, object]:
    return {
        "type": "point",
        "index": point.index,
        "tick": point.tick,
        "name": point.name,
        "root": f"{label}:{point.root.hex()}",
        "chain": f"{label}:{point.chain.hex()}",
        "digests": {name: f"{label}:{value.hex()}" for name, value in point.digests.items()},
    }


def _base64(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode("ascii")


def to_parquet(reader: RecordReader, folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``points.parquet`` and ``frames.parquet`` into a folder and return their paths.

    The identity is in the metadata of both under ``twice.identity``. Digests are binary columns:
    ``root``, ``chain``, and a map from component to digest.

    Raises:
        ExtraMissing: E-EXTRA-001, when pyarrow is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ExtraMissing(
            "Parquet needs pyarrow, which is not installed.",
            "Expected the extra `parquet`.",
            "pip install 'twice[parquet]'",
            extra="parquet",
        ) from error
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    digest = pa.binary(16)
    identity = json.dumps(reader.identity, ensure_ascii=False, sort_keys=True)
    marks = {"twice.identity": identity, "twice.algorithm": str(reader.algorithm)}
    points = {
        "index": pa.int64(),
        "tick": pa.int64(),
        "name": pa.string(),
        "root": digest,
        "chain": digest,
        "digests": pa.map_(pa.string(), digest),
    }
    frames = {
        "kind": pa.string(),
        "actor": pa.int64(),
        "tick": pa.int64(),
        "point": pa.int64(),
        "payload": pa.binary(),
    }
    rows = (
        (p.index, p.tick, p.name, p.root, p.chain, list(p.digests.items()))
        for p in reader.points.iterate()
    )
    return [
        _write_table(target / "points.parquet", pa.schema(points, marks), rows),
        _write_table(target / "frames.parquet", pa.schema(frames, marks), reader.frames()),
    ]


def _write_table(path: Path, schema: Any, rows: Iterator[tuple[object, ...]]) -> Path:
    """Write a Parquet file with these rows, with one batch of them in memory at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetWriter(path, schema) as writer:
        while batch := list(islice(rows, _ROWS_PER_BATCH)):
            columns = zip(*batch, strict=True)
            arrays = [pa.array(c, each.type) for c, each in zip(columns, schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return path
