"""Processes that keep a catalogue: some that update one at the same time, and some that are killed meanwhile.

Run as ``python catalogue_processes.py update FOLDER ROUNDS`` or ``... kill FOLDER SEED COUNT``.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb  # noqa: F401  (before the forks, which spares each of them the import)
import pyarrow.parquet
from made_records import make_record, write_statement

from twice.runs import catalogue
from twice.runs.catalogue import RecordCatalogue
from twice.runs.record_query import select_rows
from twice.runs.record_row import list_files, read_row

pyarrow.array([0])  # imports more
catalogue._BATCH, catalogue._PARTS_MAX = 2, 3
_RECORDS, _CHANGED = 12, 5


def update(folder: Path) -> int:
    """Update the catalogue, compare its rows with the records, and return how many it opened."""
    kept = RecordCatalogue(folder)
    rows, _ = kept.update()
    found, expected = (
        select_rows([(folder, rows)], "true"),
        [read_row(folder, file) for file in list_files(folder)],
    )
    assert found == expected, [(a, b) for a, b in zip(found, expected) if a != b]
    return kept.opened


def run_fork(work: Callable[[], object]) -> int:
    """Do some work in a fork, and return how its process ended."""
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def kill_updates(folder: Path, seed: int, count: int) -> None:
    """Change some records, kill the update at a drawn operation, and compare what an update finds then."""
    draw = random.Random(seed)
    killed = 0
    for number in range(_RECORDS):
        make_record(folder / f"{number}.twice", seed=number)
    assert run_fork(lambda: update(folder)) == 0
    while killed < count:
        for number in draw.sample(range(_RECORDS), _CHANGED):
            record = make_record(
                folder / f"{number}.twice", seed=draw.getrandbits(64), ticks=draw.randrange(9)
            )
            write_statement(record, 1, draw.choice(["PASS", "FAIL"]))
        before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        # About as many operations on its files as an update has; one that has fewer ends well, and is not counted.
        left = draw.randint(1, 40)

        def count_down(_: str, values: tuple[object, ...]) -> None:
            nonlocal left
            if str(folder) in str(values):
                left -= 1
            if left == 0:
                left = -1  # the kill is an operation, too
                os.kill(os.getpid(), signal.SIGKILL)

        def update_until_killed() -> None:
            sys.addaudithook(count_down)
            RecordCatalogue(folder).update()

        killed += run_fork(update_until_killed) == signal.SIGKILL
        assert {path: path.read_bytes() for path in before} == before

        def compare() -> None:
            # What was kept before is still kept: only what changed since is opened.
            assert update(folder) <= _CHANGED

        assert run_fork(compare) == 0


if __name__ == "__main__":
    what, place = sys.argv[1], Path(sys.argv[2])
    if what == "kill":
        kill_updates(place, int(sys.argv[3]), int(sys.argv[4]))
    for _ in range(int(sys.argv[3]) if what == "update" else 0):
        update(place)
