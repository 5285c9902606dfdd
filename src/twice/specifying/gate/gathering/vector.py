"""The test vector: whether the recorded run still is a run of this code, and still comes out the same.

Invariant: a record of other code is never executed; which files differ is the answer then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from twice.errors import TwiceError
from twice.recording.config import in_settings
from twice.recording.program import source_digests
from twice.recording.runrecord import RunRecord
from twice.replayer.preconditions import source_changes, trusting
from twice.replayer.verification import Verification
from twice.replayer.verify import verify
from twice.specifying.gate.evidence import Vector
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench, because
from twice.specifying.vector import vector_digest

NOT_RUN: Final = ""


def gather_vector(bench: Bench) -> Vector | Unavailable:
    """Open the vector, compare its code, verify it by the class under which it was recorded."""
    if not bench.plan.vector:
        return Unavailable("sheet 01 names no test vector")
    path = bench.project / bench.plan.vector
    try:
        with RunRecord.open(path) as record:
            digest, program = vector_digest(record), str(record.setup.program)
            ticks, allow = record.ticks, record.recorded_allow
            sentence = record.setup.predicate.sentence()
            made = record.seed.value, tuple(in_settings(record.config))
            changed = tuple(
                dict.fromkeys((*_changed(record), *_changed_here(record, bench.project)))
            )
        if changed:
            return Vector(digest, program, ticks, changed, sentence, NOT_RUN, "", "", *made)
        bench.doing("replaying the test vector")
        known = Vector(digest, program, ticks, (), sentence, NOT_RUN, "", "", *made)
        with trusting(
            path, allow=allow
        ):  # it belongs to the project, whose code is executed anyway
            return _told(known, verify(path))
    except TwiceError as error:
        return Vector("", "", 0, (), "", "UNREADABLE", "", _without(bench.project, because(error)))


def _changed(record: RunRecord) -> Iterator[str]:
    for each in source_changes(record):
        yield f"{each.path} {'is gone' if each.now is None else 'differs'}"


def _changed_here(record: RunRecord, project: Path) -> Iterator[str]:
    """Hold a vector that was recorded in another folder, which is still there, against this one's files."""
    if record.setup.program.folder().resolve().is_relative_to(project):
        return
    recorded: dict[str, str] = {
        **record.identity["code"]["files"],
        **(record.ending or {})["files"],
    }
    now = source_digests([project / name for name in recorded], project)
    for name in sorted(recorded):
        if now.get(name) != recorded[name]:
            yield f"{name} {'differs' if name in now else 'is gone'}"


def _told(known: Vector, statement: Verification) -> Vector:
    failure, first = statement.failure, ""
    if failure is not None:
        first = f"{failure.name} of tick {failure.tick}: {', '.join(failure.columns)}"
    why = "" if statement.result == "PASS" else "; ".join(statement.caveats)
    return replace(known, result=statement.result, first=first, why=why)


def _without(project: Path, text: str) -> str:
    """Cut the project's place out of a text."""
    return text.replace(f"{project}/", "")
