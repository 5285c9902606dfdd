"""What a run touched of the world, and what its replay was kept from, in the words of a statement.

Invariant: a row is allowed when the setup says so, whatever the row itself says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twice.recording.runrecord import RunRecord
from twice.recording.sealing.coverage import is_repeated
from twice.recording.sealing.inventory import allows, in_words, may_talk, rows_of
from twice.recording.sealing.namespace import HELD, NOT_HELD
from twice.replaying.file_judgement import FileJudgement

SERVED = "clock, entropy, environment, network, processes, standard input and declared effects come from the record"
NOT_EXECUTED = "nothing was executed"


def touched_by(record: RunRecord, message: Mapping[str, Any]) -> list[Mapping[str, object]]:
    """The recorded rows, and what only the replay met; what is allowed is the setup's to say."""
    rows = rows_of((record.ending or {}).get("inventory"))
    known = {row["source"] for row in rows}
    rows += [row for row in rows_of(message.get("inventory")) if row["source"] not in known]
    allowed = record.setup.allow
    return [{**row, "allowed": allows(allowed, str(row["source"]))} for row in rows]


def seal_of(record: RunRecord, files: FileJudgement, *, held: bool) -> str:
    """Return what held in this replay: what came from the record, and what could be reached."""
    allowed = record.setup.allow
    refused = (
        "connections, name look-ups, signals to other processes and C libraries loaded by hand"
    )
    told = [SERVED, files.describe_tiers(), f"{refused} are refused by name and line"]
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


def repeated_processes(inventory: Sequence[Mapping[str, object]]) -> str:
    """Return why a difference cannot be judged where processes ran again; empty where none did."""
    rows = [row for row in inventory if is_repeated(row)]
    if not rows:
        return ""
    first = rows[0]
    where = f" at {first.get('first')}" if first.get("first") else ""
    return (
        f"the runs differ, and it cannot be told whether the program is to blame: it starts processes "
        f"({', '.join(str(row.get('source')) for row in rows)}{where}), and what they read of clocks and "
        "entropy, and the order in which they run, is not recorded"
    )
