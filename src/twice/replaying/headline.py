"""What a reader must know before the verdict: how little was compared, and how the program ended.

Invariant: a sentence is read off the record and the verdict; nothing is executed for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from twice.recording.results import RESULTS
from twice.recording.runrecord import RunRecord
from twice.replaying.caveats import find_unchanging_components
from twice.replaying.endings import describe_ending

_POINTS_MAX = 1 << 16
_COMPARED_EFFECTS = ("call", "process.", "network.", "files.written", "files.changed", "files.left")
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
    if next(record.input_frames(0), None) is not None:
        return False
    rows = islice(record.reader.points.rows(), _POINTS_MAX)
    return all(len(shape.components) != 1 for _, shape, _ in rows)


def write_headline(record: RunRecord, result: str) -> Sequence[str]:
    """Return sentences that stand before everything else of a verdict.

    Args:
        record: what was verified.
        result: PASS, PARTIAL, FAIL or UNKNOWN.
    """
    setup, ending = record.setup, record.ending or {}
    lines = []
    if result != "FAIL" and ending.get("exception") and ending["how"] == "exception":
        lines.append(f"the program crashed, as it did while recording: {describe_ending(ending)}")
    if result != "FAIL" and (still := find_unchanging_components(record)):
        lines.append(
            f"{', '.join(still)} never changed: if the program binds the name to a new object, track that one "
            "or read it in state()"
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
