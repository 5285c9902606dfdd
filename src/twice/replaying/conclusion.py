"""From what one execution gave to the statement of a verification: every part of the verdict, put together.

Invariant: a statement that passes was judged at every point that it counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twice.foundation.classes import DeterminismClass, Predicate
from twice.foundation.fingerprint import EnvironmentDifference, Fingerprint, differences
from twice.recording.ordering import ORDERS
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.coverage import is_repeated
from twice.recording.sealing.inventory import unsupported_rows
from twice.replaying.caveats import caveats_of
from twice.replaying.checking import Failure
from twice.replaying.endings import (
    describe_uncompared_results,
    find_ending_difference,
    find_result_difference,
)
from twice.replaying.file_judgement import FileJudgement
from twice.replaying.headline import NOTHING_COMPARED, compares_nothing, write_headline
from twice.replaying.statement import SEAL, Verification
from twice.replaying.touched import NOT_EXECUTED, seal_of, touched_by
from twice.replaying.verdict import (
    find_file_difference,
    find_missing_point,
    judge_counts,
    weigh_surroundings,
)
from twice.replaying.withholding import redaction_caveats, withheld

_STATISTICAL = DeterminismClass.STATISTICAL


def conclude(
    record: RunRecord,
    predicate: Predicate,
    message: Mapping[str, Any],
    now: Fingerprint | None,
    start: int,
    last_index: int | None,
    *,
    held: bool,
    segment: bool,
    has_same_code: bool,
    files: FileJudgement,
) -> Verification:
    """Return the statement of a verification.

    Args:
        record: what was verified.
        predicate: the class that judged.
        message: the last one of the process that executed it.
        now: the environment there.
        start: index of the first point that was judged.
        last_index: index of the last one that was asked for; None for all.
        held: whether the process was cut off from the network.
        segment: whether the user asked for a part of the run.
        has_same_code: whether the recorded code was executed.
        files: what is known of the files.
    """
    counts = {name: message[name] for name in ("evaluated", "passed", "failed")}
    counts["within_tolerance"] = message["within"]
    absent = message.get("absent", [])
    caveats = _list_caveats(record, predicate, absent, start)
    judged = counts["evaluated"]
    failure = _find_failure(
        record, predicate, message, start, last_index, files, has_same_code=has_same_code
    )
    manifest_matches = None
    if message["kind"] != "failure" and message["how"] != "stopped" and start == 0:
        recorded = (record.ending or {}).get("effects", {}).get("strict")
        manifest_matches = recorded == message["effects"]["strict"]
    if failure is not None and not counts["failed"]:
        # An input, an effect or the ending parted, and the point after it was never taken.
        counts = {**counts, "evaluated": judged + 1, "failed": 1}
    result = judge_counts(record, failure, counts, segment=segment, manifest=manifest_matches)
    if result == "FAIL" and (failure is None or failure.name != SEAL):
        index = 0 if failure is None else failure.index
        if (why := withheld(record, index or len(record.reader.points), absent)) is not None:
            result = "UNKNOWN"
            caveats.insert(0, f"{why.id} {why.happened} {why.expected} {why.remedy}")
    order = message.get("order", "") if result == "FAIL" else ""
    result = "UNKNOWN" if order else result
    refused = failure.replayed if failure is not None and failure.name == SEAL else ""
    inventory, escapes = touched_by(record, message), _list_escapes(record)
    result, reasons = weigh_surroundings(
        result, files, inventory, recorded_escapes=escapes, refused=refused
    )
    headline = write_headline(record, result, order, message.get(ORDERS))
    if result in {"PASS", "PARTIAL"} and compares_nothing(record):
        result, headline = "UNKNOWN", [NOTHING_COMPARED, *headline]
    caveats[:0] = reasons
    caveats += [*files.passed_over, *(files.notes if failure is not None else ())]
    found = [] if now is None else compare_environments(record, now, inventory)
    matters = [difference for difference in found if difference.affects != "note"]
    return Verification(
        path=record.path,
        run_id=record.run_id,
        result=result,
        predicate=predicate,
        subsystems=list_subsystems(record),
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
        headline=headline,
    )


def _list_caveats(
    record: RunRecord, predicate: Predicate, absent: Sequence[str], start: int
) -> list[str]:
    caveats = [
        *describe_uncompared_results(record),
        *caveats_of(record, predicate),
        *redaction_caveats(record, absent),
    ]
    if start and "files.written" in (record.ending or {}).get("effects", {}).get("lenient", {}):
        caveats.append("files that were written are compared only in a run from its start")
    return caveats


def compare_environments(
    record: RunRecord, now: Fingerprint, inventory: Sequence[Mapping[str, object]]
) -> list[EnvironmentDifference]:
    """Return how the environment differs, without libraries that the run did not load."""
    found = list(differences(Fingerprint.from_json(record.identity["environment"]), now))
    imported = (record.ending or {}).get("imported")
    if imported is None or any(is_repeated(row) for row in inventory):
        return found  # a record of an earlier version; a child process may have loaded it
    used = {f"library {name}" for name in imported}
    return [each for each in found if not each.what.startswith("library ") or each.what in used]


def _list_escapes(record: RunRecord) -> list[str]:
    """Return the sources that the recorded run reached, and that no replay reaches."""
    rows = unsupported_rows((record.ending or {}).get("inventory"))
    return [str(row["source"]) for row in rows]


def _find_failure(
    record: RunRecord,
    predicate: Predicate,
    message: Mapping[str, Any],
    start: int,
    last_index: int | None,
    files: FileJudgement,
    *,
    has_same_code: bool,
) -> Failure | None:
    """Return the first difference: of a point, the ending, a result, a point that is missing, a file."""
    if message["kind"] == "failure":
        return Failure.from_json(message)
    judged = message["evaluated"]
    at = start + judged
    failure = None
    if message["how"] != "stopped":
        failure = find_ending_difference(record, message, at, has_same_code=has_same_code)
        if failure is None and start == 0 and predicate.class_of("output") is not _STATISTICAL:
            failure = find_result_difference(record, message, at)
    total = len(record.reader.points)
    if failure is None and at < (total if last_index is None else last_index + 1):
        failure = find_missing_point(record, at)
    return failure or find_file_difference(record, files, start + max(0, judged - 1))


def is_whole(message: Mapping[str, Any]) -> bool:
    """Return whether the program ran to its end, so that what it left of files counts."""
    return (message["kind"], message.get("how")) in {
        ("ended", "completed"),
        ("ended", "exit"),
        ("ended", "exception"),
    }


def _executed(record: RunRecord) -> str:
    """The path of the program that was executed, or the name of its module."""
    program = record.setup.program
    return str(program.path()) if program.kind in {"function", "script"} else program.target


def leave_open(record: RunRecord, predicate: Predicate, *why: str) -> Verification:
    """Return the statement of a verification that could not be made, with the reasons."""
    return Verification(
        path=record.path,
        run_id=record.run_id,
        result="UNKNOWN",
        predicate=predicate,
        subsystems=list_subsystems(record),
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


def list_subsystems(record: RunRecord) -> list[str]:
    """Return the names of what a class may judge, sorted."""
    named = list((record.ending or {}).get("components", {}))
    if not named and len(record.reader.points):
        last = record.reader.points.point(len(record.reader.points) - 1)
        named = [name for name in last.digests if name not in {"effects", "inputs"}]
    return sorted({*named, "streams", "output"})
