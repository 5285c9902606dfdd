"""Verify a record: execute its program again in a fresh process and hold it against every point.

The result is a statement: PASS (every point was proved again), PARTIAL (what was judged agrees, but
it was not the whole run), FAIL (with the first place that differs), or UNKNOWN (could not tell,
with the form that could). It is written next to the record and never overwritten.

What a PASS does not say: that other seeds, inputs or machines behave; that state outside the
tracked components is the same; that sources which the effects layer does not cover stay quiet.

Invariant: nothing but compared points makes a PASS; a torn or damaged record never gives one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from twice.errors import ClassRefused, OutputExists, ProgramFailed, RecordOutOfRange, UsageError
from twice.foundation.classes import Predicate
from twice.foundation.fingerprint import Fingerprint, differences
from twice.recording.redaction.redaction import Redaction
from twice.recording.runrecord import RunRecord
from twice.replaying.caveats import caveats_of
from twice.replaying.checking import Failure
from twice.replaying.file_details import locate_inside
from twice.replaying.file_judgement import FileJudgement, judge_files
from twice.replaying.sampling import with_sample
from twice.replaying.starting import (
    Start,
    job_for,
    require_rerunnable,
    require_same_code,
    restorable_snapshot,
    start_child,
)
from twice.replaying.statement import SEAL, Verification
from twice.replaying.touched import NOT_EXECUTED, seal_of, touched_by
from twice.replaying.verdict import (
    describe_ending,
    find_ending_difference,
    find_file_difference,
    find_missing_point,
    judge_counts,
    judgeable_points,
    weigh_surroundings,
)
from twice.replaying.withholding import redaction_caveats, withheld
from twice.writing import make_folder

Progress = Callable[[int, int], None]
_LINES_POINTS = 64
"""Compare-points before a failure whose reads show how this program usually makes them."""


def verify(
    path: str | os.PathLike[str],
    *,
    first: int | None = None,
    last: int | None = None,
    predicate: Predicate | None = None,
    informational: bool = False,
    progress: Progress | None = None,
    start: Start = start_child,
    keep: str | os.PathLike[str] | None = None,
) -> Verification:
    """Verify a record, whole or in part.

    Args:
        path: the record.
        first: tick to start at (from the latest snapshot at or before it); None for the top.
        last: last tick to judge; None for the end.
        predicate: a class to judge by instead of the recorded one.
        informational: go on although the code differs; the result is then never PASS.
        progress: called with (points judged, points in the record).
        start: gives a process to execute in; a fresh one of the record's surroundings by default.
        keep: folder into which the files that the replay writes are copied; it is made, or is empty.

    Raises:
        ProgramChanged: E-PROGRAM-004. RecordCorrupt: E-RECORD-004. RecordOutOfRange: E-RECORD-006.
        ClassRefused: E-CLASS-001. UsageError: E-USE-001, when the segment ends before it begins.
    """
    with RunRecord.open(path) as record:
        if record.complete:
            record.reader.check()
        judge = predicate or record.setup.predicate
        if predicate is not None:
            require_known(predicate, record)
        if first is not None and last is not None and last < first:
            raise UsageError(
                f"The segment from tick {first} to tick {last} holds nothing.",
                "Expected a last tick at or after the first.",
                f"For example: twice verify {path} --from {last} --to {first}",
            )
        program = record.setup.program
        if not program.rerunnable:
            return _cannot_tell(
                record,
                judge,
                f"{program.target} cannot be started again: it is not a function that a fresh "
                "process can find",
                "move the code into a function of a run and record that: twice record FILE.py:main",
            )
        if not len(record.reader.points):
            return _cannot_tell(record, judge, "the record holds no compare-point to judge")
        kept_in = None if keep is None else _make_empty(Path(keep))
        changes = require_same_code(record, informational=informational)
        statement = with_sample(
            record,
            judge,
            _cannot_tell(record, judge),
            lambda: _execute(record, judge, first, last, progress, start, kept_in),
            progress,
        )
    if changes:
        names = ", ".join(change.path for change in changes)
        statement = statement.marked_informational(
            f"the code differs from the recorded one: {names}"
        )
    return statement


def require_known(predicate: Predicate, record: RunRecord) -> None:
    """Refuse a class for a component that the run does not have.

    Raises:
        ClassRefused: E-CLASS-001; a class for nobody would be no class at all.
    """
    known = sorted({*_subsystems(record), *record.reader.points.columns()})
    for name in predicate.subsystems:
        if not any(one == name or one.startswith(f"{name}/") for one in known):
            raise ClassRefused(
                f"A class was given for {name!r}, which {record.path} does not have.",
                f"Expected one of {', '.join(known)}, or the beginning of its path.",
                "Correct the name: --class NAME=CLASS.",
                component=name,
            )


def _make_empty(folder: Path) -> Path:
    """Make a folder, or take one that is empty; return its absolute path.

    Raises:
        OutputExists: E-OUTPUT-001, when something is in it. OutputUnwritable: E-OUTPUT-002.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputExists(
            f"{folder} is there already, and is not an empty folder.",
            "Expected a path that is free, or an empty folder.",
            "Choose another folder to keep the replay's files in.",
            path=str(folder),
        )
    return make_folder(folder).absolute()


def _execute(
    record: RunRecord,
    predicate: Predicate,
    first: int | None,
    last: int | None,
    progress: Progress | None,
    start_process: Start,
    keep: str | os.PathLike[str] | None,
) -> Verification:
    require_rerunnable(record)
    points = record.reader.points
    snapshot = None if first is None else restorable_snapshot(record, _in_range(record, first))
    last_index = None if last is None else _index_of(record, _in_range(record, last))
    judgeable = judgeable_points(record)
    if judgeable < len(points) or not record.complete:
        last_index = judgeable - 1 if last_index is None else min(last_index, judgeable - 1)
    if last_index is not None and last_index < 0:
        return _cannot_tell(record, predicate, "a signal came before its first compare-point")
    start = 0
    if snapshot is not None:
        start = record.reader.snapshots[snapshot].point
    with tempfile.TemporaryDirectory(prefix="twice-differing-") as differing:
        job = job_for(
            record,
            "verify",
            predicate=predicate.to_json(),
            snapshot=snapshot,
            last=last_index,
            capture=None,
            lines_from=None,
            keep=None if keep is None else os.fspath(keep),
            differing=differing,
        )
        message, now, held, kept = _answer(record, job, progress, start_process)
        inside = locate_inside(record, kept, Path(differing))
        if message.get("extra"):
            # Once more, to see which of several equal reads is the one too many.
            near = {**job, "lines_from": max(0, message["index"] - _LINES_POINTS)}
            again, *_ = _answer(record, near, None, start_process)
            if again.get("extra") and again["index"] == message["index"]:
                message = again
    return _statement(
        record,
        predicate,
        message,
        now,
        start,
        last_index,
        held=held,
        segment=first is not None or last is not None,
        files=judge_files(record, kept, inside, whole=_is_whole(message) and snapshot is None),
    )


def _answer(
    record: RunRecord, job: Mapping[str, Any], progress: Progress | None, start: Start
) -> tuple[Mapping[str, Any], Fingerprint | None, bool, Mapping[str, Any]]:
    """Execute in a fresh process.

    Returns:
        Its last message, the environment there, whether it was cut off from the network, and what its
        keeper reported.
    """
    now: Fingerprint | None = None
    held = False
    message: Mapping[str, Any]
    with closing(start(record)) as child:
        try:
            message = child.ask(job)
            while message["kind"] in {"environment", "progress"}:
                if message["kind"] == "environment":
                    now, held = Fingerprint.from_json(message["now"]), bool(message["held"])
                elif progress is not None:
                    progress(message["index"] + 1, len(record.reader.points))
                message = child.answer()
        except ProgramFailed as error:
            message = _died(record, error)
        kept = child.read_keeper_report()
    return message, now, held, kept


def _died(record: RunRecord, error: ProgramFailed) -> dict[str, Any]:
    """The process is gone: a difference, unless the recorded one went the same way."""
    redaction = Redaction(record.setup.redaction, os.environ)
    failure = Failure(
        0,
        -1,
        "ending",
        ("(ending)",),
        describe_ending(record.ending),
        str(redaction.value(f"{error.happened} {error.expected}", "message")),
    )
    return {
        "kind": "failure",
        **failure.to_json(),
        "evaluated": 0,
        "passed": 0,
        "failed": 0,
        "within": 0,
    }


def _statement(
    record: RunRecord,
    predicate: Predicate,
    message: Mapping[str, Any],
    now: Fingerprint | None,
    start: int,
    last_index: int | None,
    *,
    held: bool,
    segment: bool,
    files: FileJudgement,
) -> Verification:
    failure = Failure.from_json(message) if message["kind"] == "failure" else None
    total = len(record.reader.points)
    wanted = (total if last_index is None else last_index + 1) - start
    names = ("evaluated", "passed", "failed", "within")
    counts = {name.replace("within", "within_tolerance"): message[name] for name in names}
    manifest_matches: bool | None = None
    absent = message.get("absent", [])
    caveats = [*caveats_of(record, predicate), *redaction_caveats(record, absent)]
    if start and "files.written" in (record.ending or {}).get("effects", {}).get("lenient", {}):
        caveats.append("files that were written are compared only in a run from its start")
    judged = counts["evaluated"]
    if failure is None and message["how"] != "stopped":
        failure = find_ending_difference(record, message, start + judged)
        recorded = (record.ending or {}).get("effects", {}).get("strict")
        manifest_matches = recorded == message["effects"]["strict"] if start == 0 else None
    if failure is None and judged < wanted:
        failure = find_missing_point(record, start + judged)
    if failure is None:
        failure = find_file_difference(record, files, start + max(0, judged - 1))
    else:
        caveats[:0] = files.describe_differences()
    if failure is not None and not counts["failed"]:
        # An input, an effect or the ending parted, and the point after it was never taken.
        counts = {**counts, "evaluated": judged + 1, "failed": 1}
    inventory = touched_by(record, message)
    result = judge_counts(record, failure, counts, segment=segment, manifest=manifest_matches)
    if result == "FAIL" and (failure is None or failure.name != SEAL):
        until = total if failure is None or failure.index == 0 else failure.index
        if (why := withheld(record, until, absent)) is not None:
            result = "UNKNOWN"
            caveats.insert(0, f"{why.id} {why.happened} {why.expected} {why.remedy}")
    result, reasons = weigh_surroundings(
        result, files, inventory, refused=_refused_operation(failure)
    )
    caveats[:0] = reasons
    caveats += [*files.passed_over, *(files.notes if failure is not None else ())]
    found = [] if now is None else environment_differences(record, now)
    matters = [difference for difference in found if difference.affects != "note"]
    return Verification(
        path=record.path,
        run_id=record.run_id,
        result=result,
        predicate=predicate,
        subsystems=_subsystems(record),
        axis="reproducibility" if matters else "determinism",
        first=start,
        last=start + max(0, judged - 1),
        counts=counts,
        failure=failure,
        environment=found,
        manifest_matches=manifest_matches,
        seal=seal_of(record, files, held=held),
        caveats=caveats,
        inventory=inventory,
        segment=segment,
        files=files,
        executed=_executed(record),
    )


def _is_whole(message: Mapping[str, Any]) -> bool:
    """Whether the program ran to its end, so that what it left of files counts."""
    return (message["kind"], message.get("how")) in {
        ("ended", "completed"),
        ("ended", "exit"),
        ("ended", "exception"),
    }


def _executed(record: RunRecord) -> str:
    """The path of the program that was executed, or the name of its module."""
    program = record.setup.program
    return str(program.path()) if program.kind in {"function", "script"} else program.target


def _cannot_tell(record: RunRecord, predicate: Predicate, *why: str) -> Verification:
    return Verification(
        path=record.path,
        run_id=record.run_id,
        result="UNKNOWN",
        predicate=predicate,
        subsystems=_subsystems(record),
        axis="determinism",
        first=0,
        last=0,
        counts={"evaluated": 0, "passed": 0, "failed": 0, "within_tolerance": 0},
        failure=None,
        environment=[],
        manifest_matches=None,
        seal=NOT_EXECUTED,
        caveats=[*why, *caveats_of(record, predicate)],
        segment=False,
    )


def environment_differences(record: RunRecord, now: Fingerprint) -> list[Any]:
    """How the environment differs from the recorded one, in stable order."""
    return list(differences(Fingerprint.from_json(record.identity["environment"]), now))


def _refused_operation(failure: Failure | None) -> str:
    return failure.replayed if failure is not None and failure.name == SEAL else ""


def _subsystems(record: RunRecord) -> list[str]:
    named = list((record.ending or {}).get("components", {}))
    if not named and len(record.reader.points):
        last = record.reader.points.point(len(record.reader.points) - 1)
        named = [name for name in last.digests if name not in {"effects", "inputs"}]
    return sorted({*named, "streams", "output"})


def _in_range(record: RunRecord, tick: int) -> int:
    if not 0 <= tick < max(record.ticks, 1):
        raise RecordOutOfRange(
            f"Tick {tick} lies outside of {record.path}.",
            f"It holds {record.ticks_held}.",
            f"See: twice show {record.path}",
            tick=tick,
        )
    return tick


def _index_of(record: RunRecord, tick: int) -> int:
    index = record.reader.points.index_of_tick(tick)
    if index is None:
        raise RecordOutOfRange(
            f"Tick {tick} of {record.path} has no compare-point of its own.",
            f"Points are taken by {record.setup.granularity}.",
            "Leave --to out, or record with --compare tick.",
            tick=tick,
        )
    return index
