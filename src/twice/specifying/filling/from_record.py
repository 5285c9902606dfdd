"""What a run record says that sheets have to say: seeds, streams, cadence, compare-points, effects.

Invariant: nothing is executed; a record from a stranger can be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.foundation.determinism_class import Predicate
from twice.foundation.seeds import is_shared
from twice.recording.config import in_settings
from twice.recording.runrecord import RunRecord
from twice.specifying.filling.proposal import Proposal, rows
from twice.specifying.kinds import UNKNOWN
from twice.specifying.sheets.snapshots import StateKind
from twice.specifying.vector import vector_digest

_KINDS: Final = {"numpy": "numpy", "python": "python", "torch": "torch", "jax": "jax"}
_SOURCES: Final = {
    "clock": "clock",
    "entropy": "entropy",
    "environment": "environment",
    "files": "filesystem",
    "network": "network",
    "process": "process",
    "stdin": "stdin",
    "call": "call",
}


def from_record(record: RunRecord, path: str) -> Iterator[Proposal]:
    """Give what can be read from a record.

    Args:
        record: an open record.
        path: how sheets name it.
    """
    source = f"read from {path}"
    for sheet, key, value in (
        *_promise(record, path),
        *_seeds(record),
        *_streams(record),
        *_snapshots(record),
        *_effects(record),
    ):
        if value != UNKNOWN:
            yield Proposal(sheet, key, value, source)


def _promise(record: RunRecord, path: str) -> Iterator[tuple[str, str, Any]]:
    program = record.setup.program
    predicate = Predicate.from_json(record.identity["setup"]["predicate"])
    yield "00", "program", str(program)
    yield "00", "seed", record.seed.value
    yield "00", "config", list(in_settings(record.config))
    yield "01", "class", predicate.determinism_class.value
    yield "01", "scope", predicate.scope.value
    yield "01", "axis", predicate.axis.value
    yield "01", "predicate", predicate.sentence()
    yield "01", "vector", path
    yield "01", "vector_digest", vector_digest(record)


def _ending(record: RunRecord) -> Mapping[str, Any]:
    """Give what stands at a record's end; nothing for a torn one."""
    return record.ending or {}


def _components(record: RunRecord) -> Mapping[str, str]:
    """Give what was tracked, and in which form."""
    found: Mapping[str, str] = _ending(record).get("components", {})
    return found


def _drawn(record: RunRecord) -> dict[str, Mapping[str, Any]]:
    """Give the streams that were drawn from; all that the program named, drawn from or not."""
    streams: Mapping[str, Mapping[str, Any]] = _ending(record).get("streams", {})
    return {
        name: facts
        for name, facts in sorted(streams.items())
        if facts.get("draws") or not is_shared(name)
    }


def _owner(name: str, components: Mapping[str, Any]) -> str:
    """Give the component whose name a stream's path begins with; "?" where none has it."""
    while name:
        if name in components:
            return name
        name = name.rpartition("/")[0]
    return UNKNOWN


def _seeds(record: RunRecord) -> Iterator[tuple[str, str, Any]]:
    drawn, components = _drawn(record), _components(record)
    rule = record.identity["behaviours"]["seed_derivation"]
    named = {name: facts for name, facts in drawn.items() if "seed" in facts}
    yield "02", "derivation", f"twice seed derivation, rule {rule}"
    yield (
        "02",
        "names",
        rows({"stream": name, "component": _owner(name, components)} for name in drawn),
    )
    yield "02", "record_fields", ["seed", "seed_rule", "streams", "config", "config_hash", "code"]
    yield (
        "02",
        "vectors",
        rows(
            {"master": record.seed.value, "name": name, "seed": str(facts["seed"])}
            for name, facts in named.items()
        ),
    )


def _streams(record: RunRecord) -> Iterator[tuple[str, str, Any]]:
    drawn, components = _drawn(record), _components(record)
    yield (
        "03",
        "slots",
        rows(
            {
                "stream": name,
                "owner": _owner(name, components),
                "kind": _KINDS.get(str(facts["kind"]).partition("-")[0], "other"),
            }
            for name, facts in drawn.items()
        ),
    )
    form = record.identity["behaviours"]["canonical_form"]
    yield (
        "03",
        "serialisation",
        f"the state of each generator, in every snapshot, canonical form {form}",
    )


def _snapshots(record: RunRecord) -> Iterator[tuple[str, str, Any]]:
    policies = record.identity["setup"]["policies"]
    form = record.identity["behaviours"]["canonical_form"]
    yield "04", "strategy", policies["strategy"]
    if not _keeps_too_few(record):
        yield "04", "cadence", policies["snapshots"]
    yield "04", "encoding", f"twice canonical form {form}"
    yield "04", "state", rows(_captured(record))
    yield "04", "components", rows({"name": name} for name in sorted(_components(record)))
    yield "05", "granularity", policies["compare"]
    yield "05", "hash", policies["digest"]
    yield "11", "rule", f"twice canonical form {form}"
    yield "11", "hash", policies["digest"]
    yield "11", "hashing", "merkle"


def _keeps_too_few(record: RunRecord) -> bool:
    """Say whether a cadence kept no snapshot after the first tick: check 5 could not judge it."""
    policies = record.identity["setup"]["policies"]
    keeps = policies["snapshots"] != "none" and policies["strategy"] != "event-sourced"
    return keeps and not any(each.tick > 0 for each in record.reader.snapshots)


def _captured(record: RunRecord) -> Iterator[dict[str, str | int]]:
    """Give the kinds of state of which the record itself shows what becomes of them."""
    how = _components(record)
    if how and all(each == "state/restore" for each in how.values()):
        names = ", ".join(sorted(how))
        yield {
            "kind": StateKind.COMPONENTS.value,
            "answer": "captured",
            "how": f"state and restore of {names}",
        }
    if _drawn(record):
        yield {
            "kind": StateKind.STREAMS.value,
            "answer": "captured",
            "how": "positions, in every snapshot",
        }
    if _ending(record).get("effects", {}).get("strict"):
        yield {
            "kind": StateKind.EFFECT_CURSORS.value,
            "answer": "captured",
            "how": "in every snapshot",
        }


def _effects(record: RunRecord) -> Iterator[tuple[str, str, Any]]:
    asked = [row for row in _ending(record).get("inventory", []) if row.get("class") == "recorded"]
    yield (
        "10",
        "inventory",
        rows(
            {
                "source": _SOURCES[str(row["source"]).partition(".")[0]],
                "what": str(row["source"]),
                "pattern": "record-and-replay",
                "substitutable": True,
            }
            for row in asked
            if str(row["source"]).partition(".")[0] in _SOURCES
        ),
    )
    yield (
        "10",
        "manifest",
        "the inventory at the end of each record, compared by every verification",
    )
