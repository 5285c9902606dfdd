"""The checkpoint of a work unit: which logs it made, each under the digest that it had then.

The message is that of QuestFoundry's ``tu.checkpoint``: no payload but a summary and details, hot, never player-safe.

Invariant: equal logs give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from twice.assets.log.io import parse, read_bytes
from twice.assets.log.models import DeterminismLog
from twice.assets.store.index import IndexEntry
from twice.assets.store.store import Store
from twice.errors import TwiceError
from twice.foundation.printable import pluralize

FOLDER: Final = "checkpoints"
FORMAT: Final = "twice.asset-checkpoint/1"


def checkpoint_path(store: Store, work_unit: str) -> Path:
    """Return where the checkpoint of a work unit lies."""
    return store.root / FOLDER / f"{work_unit}.checkpoint.json"


def read_checkpoint(store: Store, work_unit: str) -> Mapping[str, str] | None:
    """Return the digests that a checkpoint names, by log id; none if it cannot be read, None if it is not there."""
    path = checkpoint_path(store, work_unit)
    if not path.exists():
        return None
    try:
        logs = parse(read_bytes(path), str(path))["payload"]["data"]["details"]["determinism_logs"]
        return {str(each["log_id"]): str(each["log_digest"]) for each in logs}
    except (TwiceError, KeyError, TypeError):
        return {}


def format_checkpoint(
    work_unit: str, logs: Sequence[tuple[IndexEntry, DeterminismLog]], gate: Mapping[str, str]
) -> bytes:
    """Write a checkpoint as its file has it, of logs with their entries, and the gate's results by log id."""
    details = []
    for entry, log in sorted(logs, key=lambda each: each[0].log_id):
        said = {
            "log_id": entry.log_id,
            "revision": entry.revision,
            "log": entry.log,
            "log_digest": entry.log_digest,
            "payload": entry.payload,
            "promise": log.promise and log.promise.mode,
            "grade": log.promise and log.promise.grade,
            "gate": gate.get(entry.log_id),
        }
        details.append({name: value for name, value in said.items() if value is not None})
    promised = sum(log.deterministic for _, log in logs)
    summary = f"{pluralize(len(logs), 'asset with a determinism log', 'assets with determinism logs')}: {promised} promised, {len(logs) - promised} marked."
    document = {
        "format": FORMAT,
        "intent": "tu.checkpoint",
        "context": {"tu": work_unit, "hot_cold": "hot"},
        "safety": {"player_safe": False},
        "payload": {
            "type": "none",
            "data": {"summary": summary, "details": {"determinism_logs": details}},
        },
    }
    return to_text(document)


def to_text(document: Mapping[str, Any]) -> bytes:
    """Write a document in one order, with a line for each value."""
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()
