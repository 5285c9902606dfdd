"""Records for tests: a small one with every kind of block in it, and what it holds."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

from twice.recorder.record import RecordWriter

RUN_ID = bytes(range(16))
IDENTITY = {"program": "sample.py:main", "seed": "42", "config": {"n": 3}, "name": "größe"}
ENDING = {"how": "returned", "ticks": 40}
NO_CHAIN = bytes(16)


def short(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()[:16]


def write_points(writer: RecordWriter, states: list[bytes], *, name: str = "tick") -> list[bytes]:
    """Write a point per state, chained; return the chains."""
    layout = writer.layout(["swarm"])
    chain, chains = NO_CHAIN, []
    for tick, state in enumerate(states):
        root = short(state)
        chain = short(chain, root)
        chains.append(chain)
        writer.point(layout, tick, name, root, chain, root)
    return chains


def write_everything(
    path: Path, *, ticks: int = 40, flush_every: int = 8, algorithm: str = "blake3"
) -> RecordWriter:
    """Write a record with all kinds of blocks, and leave it open."""
    draw = random.Random(7)
    writer = RecordWriter.create(
        path, IDENTITY, algorithm=algorithm, run_id=RUN_ID, written_by="0.1.0", force=True
    )
    world = writer.layout(["output", "swarm"])
    asked = writer.layout(["energy"])
    state = bytearray(draw.randbytes(5 * 4096 + 100))
    chain = NO_CHAIN
    for tick in range(ticks):
        if tick % 5 == 0:
            state[draw.randrange(len(state))] ^= 1
            blob = writer.page_blob("swarm", [b"head", state])
            writer.snapshot(tick, b'{"blob": %d}' % blob)
        writer.frame("effects", tick % 2, draw.randbytes(12) * 3, tick=tick)
        if tick % 4 == 0:
            writer.frame("input", 0, b"push", tick=tick)
        root = draw.randbytes(16)
        chain = short(chain, root)
        writer.point(world, tick, "tick", root, chain, bytes(16) + root)
        if tick % 3 == 0:
            chain = short(chain, b"asked")
            writer.point(asked, tick, "energy", root, chain, root)
        if tick % flush_every == flush_every - 1:
            writer.flush()
    return writer


def closed_record(path: Path, **options: object) -> Path:
    write_everything(path, **options).close(ENDING)  # type: ignore[arg-type]
    return path
