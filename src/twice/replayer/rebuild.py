"""Build a session that executes a recorded program again.

The same parts as recording has, filled from the record: seed, configuration and policies from its
setup, effects and inputs from its journal, the start from one of its snapshots.

Invariant: nothing of the caller's surroundings enters; those were set before this process began.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from twice.foundation.seeds import Seed
from twice.recorder.audit.hook import Refuse
from twice.recorder.effects.sources import Source
from twice.recorder.inputs import Inputs
from twice.recorder.record_form import ROLLBACK
from twice.recorder.redaction.redaction import Redaction
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session
from twice.recorder.session_parts import Control, Resume, Sink, Wiring
from twice.recorder.snapshots import load

if TYPE_CHECKING:
    from twice.simulation.trace import Schedule


def rebuilt_session(
    record: RunRecord,
    *,
    sink: Sink,
    source: Source,
    inputs: Inputs,
    control: Control | None = None,
    resume: Resume | None = None,
    journal_all: bool = False,
    refuse: Refuse | None = None,
    seed: Seed | None = None,
    schedule: Schedule | None = None,
) -> Session:
    """Build a session of a record's program; ``refuse``, ``seed`` and ``schedule`` are those of ``Wiring``.

    A verification writes nothing; with ``journal_all``, what the session reads and prints goes to the sink's journal
    too (a branch writes it into its own record).
    """
    setup = record.setup
    wiring = Wiring(
        source,
        inputs,
        sink,
        writes=journal_all,
        redaction=Redaction(setup.redaction, os.environ),
        folders=record.program_folders(),
        actors=record.actors() if resume is not None else None,  # copied with the prefix
        seed=seed,
        control=control or Control(),
        resume=resume,
        may_roll_back=journal_all or rolls_back(record),
        refuse=refuse,
        contents=record.contents,
        was_supervised=record.was_supervised,
        schedule=schedule,
    )
    return Session(setup, wiring)


def resume_at(record: RunRecord, number: int | None) -> Resume | None:
    """Return everything that is needed to start at a stored snapshot; None for the top."""
    if number is None:
        return None
    captured = load(record.reader, number)
    points, sizes = captured.cursors.points, captured.cursors.printed
    if sizes is None:
        output, errors = record.printed(before_point=points)
    else:  # output between the compare-point and the snapshot counts as well
        output, errors = record.printed(before_point=points + 1)
        output, errors = output[: sizes[0]], errors[: sizes[1]]
    # Earlier snapshots that the run could still be rolled back to here.
    earlier = record.list_snapshots(number) if rolls_back(record) else ()
    kept = [load(record.reader, each) for each in earlier]
    return Resume(captured=captured, spans=record.loops(), output=(output, errors), kept=kept)


def rolls_back(record: RunRecord) -> bool:
    """Return whether the recorded program ever rolled back."""
    return next(iter(record.reader.frames(kinds=[ROLLBACK])), None) is not None
