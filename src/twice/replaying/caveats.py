"""What a result does not say, in sentences: for the statement of a verification.

Some stand in the record (a torn end, threads that read the clock); some follow from what the record
lacks. A run that had nothing to compare agrees with itself, and whoever reads PASS should know.

Invariant: a caveat is read off the record alone; nothing is executed for it.
"""

from __future__ import annotations

from itertools import islice

from twice.foundation.classes import DeterminismClass, Predicate
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.inventory import in_words, rows_of

_POINTS_LOOKED_AT = 1 << 16
_TICKS_TO_CHANGE = 3
_WIDTH = 16


def caveats_of(record: RunRecord, predicate: Predicate) -> list[str]:
    """What whoever reads a result should know, in a fixed order."""
    caveats = []
    program = record.setup.program
    if program.whole:
        caveats.append(_of_a_whole_program(record))
    if not record.complete:
        tear = record.reader.tear
        reason = f": {tear.reason}" if tear is not None else ""
        caveats.append(f"the record is torn{reason}; only its intact prefix was judged")
    ending = record.ending or {}
    if "interrupted_at_point" in ending:
        caveats.append(
            "a signal came at a moment that no replay can repeat (from outside, or from a timer); "
            "only what came before it was judged"
        )
    caveats += [str(caveat) for caveat in ending.get("caveats", [])]
    used = ending.get("globals_used") or []
    if used:
        caveats.append(
            f"global generators were drawn from ({', '.join(used)}): they replay, and any other "
            "user of them shifts their numbers"
        )
    ungoverned = (ending.get("effects") or {}).get("ungoverned") or {}
    if ungoverned:
        reads = ", ".join(f"{name} {count} times" for name, count in ungoverned.items())
        caveats.append(f"read on threads without an actor, and not recorded: {reads}")
    caveats += [
        f"allowed by name, and not recorded: {in_words(row)}"
        for row in rows_of(ending.get("inventory"))
        if row.get("allowed")
    ]
    if not ending.get("components") and not program.whole and record.complete:
        caveats.append("no component is tracked: only streams, inputs, effects and output compare")
    if record.complete and not program.whole:
        caveats += _never_looked_at(record, predicate)
    return caveats


def _of_a_whole_program(record: RunRecord) -> str:
    components = (record.ending or {}).get("components", {})
    if not components:
        return "a plain script: its reads, files, output and exit code were compared; its state was not"
    return (
        f"a plain script: its reads, files, output, exit code and {record.ticks:,} steps of "
        f"{', '.join(sorted(components))} were compared; the rest of its state was not"
    )


def _never_looked_at(record: RunRecord, predicate: Predicate) -> list[str]:
    """What agrees because there was nothing to disagree: no tick, no change, no decision."""
    found = []
    if not record.ticks:
        found.append("no tick was run: state was compared at the end alone")
    if predicate.class_of("output") is DeterminismClass.LOGICAL and not _decides(record):
        found.append(
            "the logical class compares inputs, output and explicit compares, and there are none: "
            "no state was judged"
        )
    return found


def find_unchanging_components(record: RunRecord) -> list[str]:
    """Return the tracked components whose state was the same at every compare-point, sorted."""
    if not record.complete or record.setup.program.whole or record.ticks < _TICKS_TO_CHANGE:
        return []
    components = (record.ending or {}).get("components", {})
    return [name for name in _unchanging(record) if name in components]


def _unchanging(record: RunRecord) -> list[str]:
    """Columns with one digest at every point, by the first points of the record, sorted."""
    first: dict[str, bytes] = {}
    changed: set[str] = set()
    seen = 0
    for _, shape, digests in islice(record.reader.points.rows(), _POINTS_LOOKED_AT):
        if len(shape.components) == 1:
            continue  # an explicit compare
        for at, name in enumerate(shape.components):
            digest = digests[at * _WIDTH : (at + 1) * _WIDTH]
            if first.setdefault(name, digest) != digest:
                changed.add(name)
        seen += 1
    return sorted(set(first) - changed) if seen else []


def _decides(record: RunRecord) -> bool:
    """Whether a run has anything that the logical class judges."""
    printed = (record.ending or {}).get("printed", {}).get("output", {})
    if printed.get("bytes") or next(record.input_frames(0), None) is not None:
        return True
    rows = islice(record.reader.points.rows(), _POINTS_LOOKED_AT)
    return any(len(shape.components) == 1 for _, shape, _ in rows)
