"""The snapshot test, on the trial.

Invariant: each restore runs in a process of its own.
"""

from __future__ import annotations

from pathlib import Path

from twice.diagnosis.restore_gaps import explained_restores
from twice.errors import TwiceError
from twice.recording.runrecord import RunRecord
from twice.replayer.restore_test import chosen
from twice.specifying.gate.evidence import Restored
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench, because


def gather_restored(bench: Bench) -> Restored | Unavailable:
    """Restore the trial at its snapshots, run on, and compare with its record."""
    try:
        path = bench.trial()
    except TwiceError as error:
        return Unavailable(because(error))
    bench.doing("restoring its snapshots")
    try:
        result = explained_restores(path)
    except TwiceError as error:
        told = because(error).replace(f"{bench.scratch}/", "")
        return Restored(0, (told,), ())
    failed = tuple(f"{each['component']}: {each['reason']}" for each in result["failed"])
    failed += tuple(result.get("unjudged", ()))
    missing = tuple(result["failed"][0].get("missing", ())) if result["failed"] else ()
    return Restored(int(result["tested"]), failed, missing, _on_the_way(path))


def _on_the_way(path: Path) -> int:
    """Count the snapshots that were restored and stand after the first tick."""
    with RunRecord.open(path) as record:
        every = record.reader.snapshots
        return sum(every[each].tick > 0 for each in chosen(len(every), every=False))
