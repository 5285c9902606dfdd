"""What a record answers with is decoded where it is asked for, a frame at a time."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from programs import recorded, verified
from twice.recorder.effects.ops import TIME
from twice.recorder.effects.sources import RecordedSource

READS = 40_000
FLOAT_BYTES = 24
PROGRAM = f"""
import logging, threading, time

log = logging.getLogger("quiet")
log.addHandler(logging.NullHandler())
log.propagate = False
log.setLevel(logging.INFO)

def main(run):
    seen = run.track("seen", {{"last": 0.0}})

    def read():
        for _ in range({READS}):
            seen["last"] = time.time()

    for tick in run.ticks(2):
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        for _ in range({READS}):
            log.info("the library asks the clock")
"""


@pytest.mark.integration
def test_a_source_holds_none_of_the_reads_of_a_record_that_it_opens(tmp_path: Path) -> None:
    with recorded(tmp_path, PROGRAM) as record:
        RecordedSource(record)  # what is imported and cached once is no matter
        tracemalloc.start()
        try:
            source = RecordedSource(record)
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        threads = source.of("main/thread:0"), source.of("main/thread:1")
        first, second = (each.strict(TIME, None, float) for each in threads)

    assert held < READS * FLOAT_BYTES / 4  # of four times as many
    assert first < second


@pytest.mark.integration
@pytest.mark.heavy
def test_reads_that_are_decoded_late_are_served_in_their_order(tmp_path: Path) -> None:
    statement = verified(tmp_path, PROGRAM)

    assert statement.result == "PASS", statement.failure
