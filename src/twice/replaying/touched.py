"""What a run touched of the world, and what its replay was kept from, in the words of a statement.

Invariant: a row is allowed when the setup says so, whatever the row itself says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.recording.runrecord import RunRecord
from twice.recording.sealing.inventory import allows, in_words, may_talk, rows_of
from twice.recording.sealing.namespace import HELD, NOT_HELD

RECORDED = (
    "clock, entropy, environment, network, processes, standard input and declared effects come from the "
    "record; files are held against it, and writes to them kept away"
)


def touched_by(record: RunRecord, message: Mapping[str, Any]) -> list[Mapping[str, object]]:
    """The recorded rows, and what only the replay met; what is allowed is the setup's to say."""
    rows = rows_of((record.ending or {}).get("inventory"))
    known = {row["source"] for row in rows}
    rows += [row for row in rows_of(message.get("inventory")) if row["source"] not in known]
    allowed = record.setup.allow
    return [{**row, "allowed": allows(allowed, str(row["source"]))} for row in rows]


def seal_of(record: RunRecord, *, held: bool) -> str:
    """What a replay does with operations that reach the world beside the record, in words."""
    allowed = record.setup.allow
    refused = "connections, name look-ups, processes, signals and C libraries loaded by hand"
    told = [RECORDED, f"{refused} are refused by name and line"]
    if allowed:
        told.append(f"allowed by name: {', '.join(allowed)}")
    if may_talk(allowed):
        return "; ".join((*told, "the network is within reach, as was allowed"))
    return "; ".join((*told, HELD if held else NOT_HELD))


def not_shown(row: Mapping[str, object]) -> str:
    """Why an unsupported row keeps a run from passing, and what to do."""
    return (
        f"no pass, because a source of the world is not recorded: {in_words(row)}; "
        f"{row.get('remedy')}, or record with --allow {row.get('source')}"
    )
