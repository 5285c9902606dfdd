"""The checkpoint of a work unit: which logs it made, each under the digest that it had then.

The message is that of QuestFoundry's ``tu.checkpoint``: no payload but a summary and details, hot, never
player-safe.

Invariant: equal logs give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from twice.assets.log.io import parse
from twice.assets.log.models import DeterminismLog
from twice.assets.store.index import IndexEntry
from twice.assets.store.store import Store
from twice.errors import TwiceError
from twice.foundation.printable import pluralize

FOLDER: Final = "checkpoints"
FORMAT: Final = "twice.asset-checkpoint/1"


def checkpoint_path(store: Store, work_unit: str) -> Path:
    """Say where the checkpoint of a work unit lies."""
    return store.root / FOLDER / f"{work_unit}.checkpoint.json"


def read_checkpoint(store: Store, work_unit: str) -> Mapping[str, str] | None:
    """Give the digests that a checkpoint names, by log id; None where there is no checkpoint.

    A checkpoint that cannot be read names nothing.
    """
    path = checkpoint_path(store, work_unit)
    if not path.exists():
        return None
    try:
        said = parse(path.read_bytes(), str(path))
        logs = said["payload"]["data"]["details"]["determinism_logs"]
        return {str(each["log_id"]): str(each["log_digest"]) for each in logs}
    except (OSError, TwiceError, KeyError, TypeError):
        return {}


def checkpoint(
    work_unit: str, logs: Sequence[tuple[IndexEntry, DeterminismLog]], gate: Mapping[str, str]
) -> dict[str, Any]:
    """Make the document.

    Args:
        work_unit: its name.
        logs: its logs, with their entries.
        gate: the gate's result by log id.
    """
    ordered = sorted(logs, key=lambda each: each[0].log_id)
    details = [_reference(entry, log, gate.get(entry.log_id, "")) for entry, log in ordered]
    promised = sum(log.deterministic for _, log in ordered)
    summary = f"{pluralize(len(ordered), 'asset with a determinism log', 'assets with determinism logs')}: {promised} promised, {len(ordered) - promised} marked."
    return {
        "format": FORMAT,
        "intent": "tu.checkpoint",
        "context": {"tu": work_unit, "hot_cold": "hot"},
        "safety": {"player_safe": False},
        "payload": {
            "type": "none",
            "data": {"summary": summary, "details": {"determinism_logs": details}},
        },
    }


def text_of(document: Mapping[str, Any]) -> bytes:
    """Write a checkpoint as its file holds it."""
    return (json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True) + "\n").encode()


def _reference(entry: IndexEntry, log: DeterminismLog, result: str) -> dict[str, Any]:
    promise = log.promise
    said = {
        "log_id": entry.log_id,
        "revision": entry.revision,
        "log": entry.log,
        "log_digest": entry.log_digest,
        "payload": entry.payload,
        "promise": None if promise is None else promise.mode,
        "grade": None if promise is None else promise.grade,
        "gate": result or None,
    }
    return {name: value for name, value in said.items() if value is not None}
