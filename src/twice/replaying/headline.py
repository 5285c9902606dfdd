"""What a reader must know before the verdict: how little was compared, and how the program ended.

Invariant: a sentence is read off the record and the verdict; nothing is executed for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from twice.recording.effects.ops import FILE_CHANGED
from twice.recording.ordering import ORDERS
from twice.recording.results import RESULTS
from twice.recording.runrecord import RunRecord
from twice.replaying.caveats import find_unchanging_components
from twice.replaying.endings import describe_ending

_POINTS_MAX = 1 << 16
_COMPARED_EFFECTS = ("call", "process.", "network.", "files.written", "files.left")
NOTHING_COMPARED = (
    "nothing was compared: the run tracks no component, prints nothing, returns nothing and writes no file; "
    "track its state with run.track(...), or print what matters"
)


def compares_nothing(record: RunRecord) -> bool:
    """Return whether a run leaves nothing that a replay could be held against, besides its reads."""
    if not record.complete:
        return False  # what it would have handed over is not known
    ending = record.ending or {}
    printed = ending.get("printed", {})
    streams = ("output", "errors") if record.setup.compare_errors else ("output",)
    if ending.get("components") or any(printed.get(name, {}).get("bytes") for name in streams):
        return False
    if ending.get(RESULTS) or ending.get("exception") or ending.get("exit_code"):
        return False
    effects = ending.get("effects", {})
    names = [*effects.get("strict", {}), *effects.get("lenient", {})]
    if any(name.startswith(_COMPARED_EFFECTS) for name in names) or record.native_writes():
        return False
    if FILE_CHANGED.name in names and not _sets_times_alone(record):
        return False
    if next(record.input_frames(0), None) is not None:
        return False
    rows = islice(record.reader.points.rows(), _POINTS_MAX)
    return all(len(shape.components) != 1 for _, shape, _ in rows)


def _find_reordered(ending: Mapping[str, Any], orders: Mapping[str, str] | None) -> list[str]:
    """Return the components whose dicts ended in another order; a record of an earlier version does not say."""
    recorded = ending.get(ORDERS)
    if recorded is None or orders is None:
        return []
    return sorted(name for name in {*recorded, *orders} if recorded.get(name) != orders.get(name))


def _sets_times_alone(record: RunRecord) -> bool:
    """Return whether no change of the tree is compared: the times of a file are the clock's."""
    changes = chain(record.strict_reads(), record.lenient_reads())
    answers: Iterator[Any] = (answer for op, answer in changes if op == FILE_CHANGED.number)
    return all(request[0] == "utime" for request, _ in answers)


def write_headline(
    record: RunRecord, result: str, order: str = "", orders: Mapping[str, str] | None = None
) -> Sequence[str]:
    """Return sentences that stand before everything else of a verdict.

    Args:
        record: what was verified.
        result: PASS, PARTIAL, FAIL or UNKNOWN.
        order: why the order of threads or tasks may be all that differs; empty where it is not.
        orders: digests of the insertion orders of dicts at the end of the replay, by component; None where it was
            not executed to the end.
    """
    setup, ending = record.setup, record.ending or {}
    lines = [f"order: {order}; their order among themselves is not recorded"] if order else []
    if result != "FAIL" and ending.get("exception") and ending["how"] == "exception":
        lines.append(f"the program crashed, as it did while recording: {describe_ending(ending)}")
    if result != "FAIL" and (still := find_unchanging_components(record)):
        lines.append(
            f"{', '.join(still)} never changed: if the program binds the name to a new object, track that one "
            "or read it in state()"
        )
    if result != "FAIL" and (names := _find_reordered(ending, orders)):
        lines.append(
            f"the dicts of {', '.join(names)} hold the same items in another insertion order than recorded; what the "
            "program makes of that order is compared only where it shows. Return lists, or sort the keys before use"
        )
    if (other := record.other_checkout()) is not None:
        lines.append(
            f"the code in {setup.program.folder()} was executed, because it is the current folder; the run was "
            f"recorded in {other}, where a program of that name still is"
        )
    if not setup.compare_errors:
        lines.append("standard error was not compared (--ignore-errors)")
    lines += [
        f"lines of output that match {pattern!r} were not compared (--ignore-output)"
        for pattern in setup.ignored_output
    ]
    if setup.files == "none":
        lines.append(
            "contents of files were not recorded (--files none): the replay read them as they are"
        )
    return lines
