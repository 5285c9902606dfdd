"""Hold what a replay gave against its record: the first difference, files, surroundings, notes.

Invariant: nothing is decided here; what is found is a ``Verification``, whose rules decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from twice.foundation.classes import DeterminismClass, Predicate
from twice.foundation.fingerprint import EnvironmentDifference, Fingerprint, differences
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.inventory import is_repeated, unsupported_rows
from twice.replayer.file_report import FileJudgement, judge_files
from twice.replayer.notes import (
    compares_nothing,
    describe_seal,
    list_facts,
    list_facts_of_equal_runs,
    list_notes,
    merge_inventories,
)
from twice.replayer.outcome import (
    STOPPED,
    Failure,
    Outcome,
    describe_uncompared_results,
    find_ending_difference,
    find_read_difference,
    find_result_difference,
)
from twice.replayer.redaction_cause import find_redaction_cause, list_redaction_notes
from twice.replayer.replay_run import Plan, Replay, count_judgeable
from twice.replayer.verdict import SEAL
from twice.replayer.verification import Verification


def gather_evidence(record: RunRecord, plan: Plan, replay: Replay) -> Verification:
    """Hold what a replay gave against the record: the first difference, files, surroundings, notes."""
    outcome = replay.outcome
    whole = outcome.is_whole and plan.snapshot is None
    files = judge_files(record, replay.kept, replay.inside, whole=whole)
    # A segment leaves out reads before or after it, so that counts of the whole run would differ.
    reads_judged = outcome.how not in {"", STOPPED} and plan.first == 0
    ending = record.ending or {}
    recorded_reads = ending.get("effects", {}).get("strict")
    failure = None if replay.death else _find_failure(record, plan, outcome, files)
    counts = {
        "evaluated": outcome.evaluated,
        "passed": outcome.passed,
        "failed": outcome.failed,
        "within_tolerance": outcome.within,
    }
    if failure is not None and not outcome.failed:
        # An input, an effect or the ending parted, and the point after it was never taken.
        counts |= {"evaluated": outcome.evaluated + 1, "failed": 1}
    withheld = None
    # What a replay refuses it refuses with and without the secret.
    if failure is not None and failure.name != SEAL:
        withheld = find_redaction_cause(record, failure.index, outcome.absent)
    notes = [
        *describe_uncompared_results(record),
        *list_notes(record, plan.predicate),
        *list_redaction_notes(record, outcome.absent),
    ]
    if plan.first and "files.written" in ending.get("effects", {}).get("lenient", {}):
        notes.append("files that were written are compared only in a run from its start")
    inventory = merge_inventories(record, outcome.inventory)
    escapes = unsupported_rows(ending.get("inventory"))
    now, program = replay.environment, record.setup.program
    is_file = program.kind in {"function", "script"}
    return replace(
        leave_open(record, plan.predicate),
        first=plan.first,
        counts=counts,
        failure=failure,
        manifest_matches=recorded_reads == outcome.reads if reads_judged else None,
        environment=[] if now is None else compare_environments(record, now, inventory),
        inventory=inventory,
        escapes=[str(row["source"]) for row in escapes],
        files=files,
        seal=describe_seal(record, files, held=replay.held),
        executed=str(program.path()) if is_file else program.target,
        is_segment=plan.is_segment,
        compares_nothing=compares_nothing(record),
        death=replay.death,
        changed_code=plan.changed_code,
        withheld=withheld,
        open_order=outcome.open_order,
        facts=list_facts(record),
        facts_of_equal_runs=list_facts_of_equal_runs(record, outcome.orders),
        notes=notes,
    )


def _find_failure(
    record: RunRecord, plan: Plan, outcome: Outcome, files: FileJudgement
) -> Failure | None:
    """Return the first difference: of a point, the ending, a result, a point that is missing, reads, a file."""
    if outcome.failure is not None:
        return outcome.failure
    at = plan.first + outcome.evaluated
    failure = None
    from_top = plan.first == 0
    if outcome.how != STOPPED:
        failure = find_ending_difference(record, outcome, at, has_same_code=not plan.changed_code)
        # Single runs of a statistical program may return other numbers; its sample is compared instead.
        is_statistical = plan.predicate.class_of("output") is DeterminismClass.STATISTICAL
        if failure is None and from_top and not is_statistical:
            failure = find_result_difference(record, outcome, at)
    end = len(record.reader.points) if plan.last is None else plan.last + 1
    if failure is None and at < end and (record.complete or record.ending is not None):
        point = record.reader.points.point(at)
        was = f"{point.name} of tick {point.tick}"
        failure = Failure(at, point.tick, point.name, ("(point)",), was, "the program had ended")
    judges_reads = plan.predicate.class_of("effects") is DeterminismClass.BIT_EXACT
    if failure is None and outcome.how != STOPPED and from_top and judges_reads:
        failure = find_read_difference(record, outcome, at)
    # Last: a file that differs is mostly the consequence of something that is named above.
    different = files.first_difference()
    if failure is None and different is not None:
        last = plan.first + max(0, outcome.evaluated - 1)
        failure = Failure(last, record.ticks - 1, "files", ("files",), *different)
    return failure


def compare_environments(
    record: RunRecord, now: Fingerprint, inventory: list[Mapping[str, object]]
) -> list[EnvironmentDifference]:
    """Return how the environment differs, without libraries that the run did not load."""
    found = list(differences(Fingerprint.from_json(record.identity["environment"]), now))
    imported = (record.ending or {}).get("imported")
    if imported is None or any(is_repeated(row) for row in inventory):
        return found  # a record of an earlier version; a child process may have loaded it
    used = {f"library {name}" for name in imported}
    return [each for each in found if not each.what.startswith("library ") or each.what in used]


def leave_open(record: RunRecord, predicate: Predicate, *why: str) -> Verification:
    """Return the evidence of a verification that did not execute, with the reasons."""
    return Verification(
        path=record.path,
        run_id=record.run_id,
        predicate=predicate,
        subsystems=list_subsystems(record),
        is_torn=not record.complete,
        is_interrupted=count_judgeable(record) < len(record.reader.points),
        not_judged=why,
        notes=list_notes(record, predicate),
    )


def list_subsystems(record: RunRecord) -> list[str]:
    """Return the names of what a class may judge, sorted."""
    named = list((record.ending or {}).get("components", {}))
    if not named and len(record.reader.points):
        last = record.reader.points.point(len(record.reader.points) - 1)
        named = [name for name in last.digests if name not in {"effects", "inputs"}]
    return sorted({*named, "streams", "output"})
