"""The check that the printed texts in a record are those that its compare-points have digests of.

A replay compares digests of the texts. People read the texts, and a record from elsewhere may hold others.

Invariant: a text that twice recorded passes, wherever the record is now. Folders that standard error was compared
without can no longer be known when the program has moved, so that a difference in the folders of paths is none.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from twice.foundation.digests import short_digest
from twice.recorder.output import ComparedLines, Output, PrintedDigest
from twice.recorder.record_form import ERRORS, OUTPUT
from twice.recorder.runrecord import RunRecord
from twice.replayer.output_difference import compare_outputs

_FOLDERS: Final = re.compile(rb"(?:/[^/\s:\"']+)+/")


def compare_recorded_texts(record: RunRecord, replayed: Output) -> tuple[str, str] | None:
    """Return the first line that a record holds otherwise than its replay printed it; None where all are equal.

    Args:
        record: whose compare-points all agree with those of the replay.
        replayed: the output of the replay.
    """
    last = record.reader.points.last
    if last is None or "output" not in last.digests:
        return None
    setup, folders = record.setup, record.program_folders()
    output = PrintedDigest(setup.algorithm, partial(ComparedLines, setup.ignored_output))
    errors = PrintedDigest(
        setup.algorithm, partial(ComparedLines, setup.ignored_output, folders, is_errors=True)
    )
    for frame in record.reader.frames(kinds=[OUTPUT, ERRORS]):
        (output if frame.kind == OUTPUT else errors).add(bytes(frame.payload))
    compared = output.digest + (errors.digest if replayed.compares_errors else b"")
    if last.digests["output"] == short_digest(setup.algorithm)(compared):
        return None
    was, now = (
        (out, _FOLDERS.sub(b"", err)) for out, err in (record.printed(), replayed.printed())
    )
    return compare_outputs(was, now, setup.ignored_output, folders)[0]
