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
_SUFFIX: Final = ".checkpoint.json"


def checkpoint_path(store: Store, work_unit: str) -> Path:
    """Return where the checkpoint of a work unit lies."""
    return store.root / FOLDER / f"{work_unit}{_SUFFIX}"


def read_checkpoints(store: Store) -> dict[str, dict[str, tuple[str, str]]]:
    """Return what each checkpoint names, by work unit and log id: the digest, and the sidecar from the store's root.

    The unit is the one that stands inside, whatever the file is called. A file that cannot be read names nothing.
    """
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for path in sorted((store.root / FOLDER).glob(f"*{_SUFFIX}")):
        try:
            document = parse(read_bytes(path), str(path))
            unit = str(document["context"]["tu"])
            logs = document["payload"]["data"]["details"]["determinism_logs"]
            named = {str(e["log_id"]): (str(e["log_digest"]), str(e.get("log"))) for e in logs}
        except (TwiceError, KeyError, TypeError, AttributeError):
            unit, named = path.name.removesuffix(_SUFFIX), {}
        found.setdefault(unit, {}).update(named)
    return found


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
