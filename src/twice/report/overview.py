"""What a record says about itself, gathered for ``show``, ``ls`` and the report.

Everything comes from the record's own documents and logs; nothing is executed. A record from a
stranger may hold anything in them, so what is not of the expected form is shown as missing.

Invariant: the document has the same members for every record that opens.
"""

from __future__ import annotations

from typing import Any

from twice.errors import TwiceError
from twice.recording.effects.network.telling import told
from twice.recording.record.scan import Progress
from twice.recording.runrecord import RunRecord
from twice.report.values import mapping

FORMAT = "twice.record/1"


def overview(record: RunRecord, *, progress: Progress | None = None) -> dict[str, Any]:
    """A record as ``twice show --json`` prints it (``twice.record/1``).

    Args:
        record: open.
        progress: called with bytes done and bytes in all, while the file is proved.
    """
    identity, reader = record.identity, record.reader
    ending = record.ending or {}
    setup = mapping(identity.get("setup"))
    summary = reader.summary()
    damage = _damage(record, progress)
    return {
        "format": FORMAT,
        "record": str(record.path),
        "run_id": record.run_id,
        "program": str(record.setup.program),
        "seed": str(record.seed.value),
        "seed_rule": setup.get("seed_rule"),
        "config": dict(record.config),
        "config_hash": identity.get("config_hash"),
        "class": record.setup.predicate.summary(),
        "policies": dict(mapping(setup.get("policies"))),
        "code": dict(mapping(identity.get("code"))),
        "environment": dict(mapping(identity.get("environment"))),
        "surroundings": dict(mapping(identity.get("surroundings"))),
        "behaviours": dict(mapping(identity.get("behaviours"))),
        "parent": None if record.parent is None else dict(record.parent),
        "complete": record.complete,
        "intact": damage is None,
        "damage": damage,
        "tear": _tear(record),
        "ending": record.ending,
        "ticks": record.ticks,
        "points": len(reader.points),
        "snapshots": [entry._asdict() for entry in reader.snapshots],
        "components": dict(mapping(ending.get("components"))),
        "streams": dict(mapping(ending.get("streams"))),
        "effects": dict(mapping(ending.get("effects"))),
        "connections": [one.to_json() for one in told(record.connections())],
        "record_format": reader.format,
        "digest": str(reader.algorithm),
        "size": summary,
    }


def ending_text(record: RunRecord) -> str:
    """How the run ended, in a few words."""
    ending = record.ending
    if ending is None:
        return "torn"
    exception = mapping(ending.get("exception")).get("type")
    how = str(ending.get("how", "unknown"))
    if how == "exit":
        return f"exit, code {ending.get('exit_code')}"
    return f"{how}: {exception}" if exception else how


def parent_text(record: RunRecord) -> str:
    """What the run was made from, in a few words; empty for a first run."""
    parent = record.parent
    if parent is None:
        return ""
    if "fork" in parent:
        fork = mapping(parent["fork"])
        return f"branch of {parent.get('record')} at tick {fork.get('tick')}"
    return f"re-run of {parent.get('rerun_of')}"


def _tear(record: RunRecord) -> dict[str, Any] | None:
    tear = record.reader.tear
    if tear is None:
        return None
    return {
        "reason": tear.reason,
        "offset": tear.offset,
        "points": tear.points,
        "damaged": tear.damaged,
    }


def _damage(record: RunRecord, progress: Progress | None) -> str | None:
    """What is wrong with the bytes of a record, or None."""
    tear = record.reader.tear
    if tear is not None:
        return f"{tear.reason}; what stands before byte {tear.offset} is intact"
    try:
        record.reader.check(progress)
    except TwiceError as error:
        return f"{error.id} {error.happened}"
    return None
