"""Records and statements that no program made: written at once, with what a catalogue keeps of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from twice.foundation.seeds import Seed
from twice.recorder.identity import BEHAVIOURS, FORMAT
from twice.recorder.program import Program
from twice.recorder.record import RecordReader, RecordWriter
from twice.recorder.setup import Setup

RAISED = {
    "type": "builtins.ValueError",
    "message": "bad",
    "frames": [{"file": "train.py", "line": 7, "function": "main"}],
}


def make_record(
    path: Path,
    *,
    seed: int = 1,
    config: dict[str, Any] | None = None,
    ticks: int = 2,
    exception: dict[str, Any] | None = None,
    close: bool = True,
) -> Path:
    """Write the record of a run of ``train.py:main``; without ``close``, one that was killed."""
    identity = make_identity(path.parent, seed=seed, config=config)
    writer = RecordWriter.create(path, identity, force=True, run_id=seed.to_bytes(32)[-16:])
    layout = writer.layout(["state"])
    for tick in range(ticks):
        digest = bytes([tick]) * 16
        writer.point(layout, tick, "tick", digest, digest, digest)
    if not close:
        writer.flush()
        writer.abandon()
        return path
    how = "completed" if exception is None else "exception"
    writer.close({"how": how, "exception": exception})
    return path


def make_identity(
    folder: Path, *, seed: int, config: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the identity of a run of ``train.py:main`` in a folder."""
    setup = Setup(Program("function", "train.py", "main", str(folder)), Seed(seed), config or {})
    return {
        "format": FORMAT,
        "behaviours": dict(BEHAVIOURS),
        "setup": setup.to_json(),
        "code": {"files": {}},
        "surroundings": {},
        "environment": {"python": {"version": "3.11.7"}, "libraries": {"twice": "0.1.0"}},
        "parent": None,
    }


def write_statement(record: Path, number: int, result: str, *, run_id: str | None = None) -> Path:
    """Write what ``verify`` leaves beside a record, as far as a catalogue reads it."""
    with RecordReader.open(record) as reader:
        told = {
            "run_id": run_id or reader.run_id.hex(),
            "result": result,
            "issued_at": f"2026-11-{number:02}",
        }
    path = record.with_name(f"{record.name}.verification-{number}.json")
    path.write_text(json.dumps(told), encoding="utf-8")
    path.with_suffix(".md").write_text(result, encoding="utf-8")
    return path
