"""The checks that a record agrees with itself: roots, chains and printed texts are those of its digests.

A replay compares the digests of the columns alone. Chains are what two records are searched by, roots and texts are what
people read, so that a record with others would say something that no run has shown.

Not for: whether a run gave these digests, which only an execution shows.

Not covered: roots of a torn record that was closed later, and those beside a value that is compared under the name of
a component, within a tolerance. Which columns they are over is not in the record.

Invariant: a record that twice wrote passes, whatever its class and tolerances, and wherever it is now. Folders that
standard error was compared without can no longer be known when the program has moved, so that a difference in the
folders of paths is none.
"""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import islice
from typing import Final

from twice.errors import ClassRefused, RecordForeign
from twice.foundation.comparison import tolerance_from_json
from twice.foundation.digests import short_digest
from twice.recorder.compare_points import CHAIN_START, chain_link, is_judged
from twice.recorder.output import ComparedLines, Output, PrintedDigest
from twice.recorder.record.layout import DIGEST_BYTES
from twice.recorder.record_form import ERRORS, OUTPUT, reading
from twice.recorder.runrecord import RunRecord
from twice.replayer.output_difference import compare_outputs


def require_consistent_points(record: RunRecord, stop: int | None = None) -> None:
    """Refuse a record in which the root or the chain of a compare-point is not that of its digests.

    Args:
        record: complete or torn.
        stop: index of the first point that is not looked at; None for all points.

    Raises:
        RecordForeign: E-RECORD-002, naming the first such point.
    """
    points, predicate = record.reader.points, record.setup.predicate
    short, chain = short_digest(record.setup.algorithm), CHAIN_START
    ending = record.ending or {}
    with reading("a tolerance", record.path, ClassRefused):
        within = {
            name: tolerance_from_json(each) for name, each in ending.get("tolerances", {}).items()
        }
    # A torn record that migrate closed has no tolerances. Where a value is compared under the name of a component,
    # the ending does not say whose a tolerance is.
    shared = within.keys() & ending.get("components", {}).keys()
    compared = {shape.components for _, shape, _ in points.rows()} if shared else set()
    has_roots = not record.is_prefix and not any((name,) in compared for name in shared)

    @cache
    def list_judged(columns: tuple[str, ...]) -> tuple[slice, ...]:
        judged = (at for at, name in enumerate(columns) if is_judged(name, predicate, within))
        return tuple(slice(at * DIGEST_BYTES, (at + 1) * DIGEST_BYTES) for at in judged)

    stored = points.roots_and_chains().tobytes()
    for index, (tick, shape, digests) in enumerate(islice(points.rows(), stop)):
        at = 2 * DIGEST_BYTES * index
        root = stored[at : at + DIGEST_BYTES]
        chain = short(chain_link(chain, root, tick, shape.name))
        is_root = root == short(b"".join([digests[each] for each in list_judged(shape.components)]))
        is_root = is_root or not has_roots
        if len(shape.components) == 1:  # a value that was handed over: its own tolerance decides
            is_root = root in {short(b""), short(digests)}
        if not is_root or chain != stored[at + DIGEST_BYTES : at + 2 * DIGEST_BYTES]:
            raise RecordForeign(
                f"The {'chain' if is_root else 'root'} of compare-point {index} ({shape.name} of tick {tick}) in "
                f"{record.path} is not the one of its digests.",
                "Expected the points of a run, each with the digest over its columns and over the points before it.",
                "Take the file from whoever recorded it, or record again.",
                path=str(record.path),
                index=index,
            )


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
