"""Compare the outcome of a replay with its record: the first difference, files, surroundings, notes.

Invariant: this module decides nothing. It builds a ``Verification``, and the rules of that decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from twice.foundation.comparison import tolerance_from_json
from twice.foundation.determinism_class import DeterminismClass, Predicate
from twice.foundation.environment import EnvironmentDifference, Fingerprint, diff_fingerprints
from twice.foundation.printable import pluralize
from twice.recorder.audit.inventory import is_process, unsupported_rows
from twice.recorder.output import RESULTS, select_of_message
from twice.recorder.runrecord import RunRecord
from twice.replayer.file_report import FileJudgement, judge_files
from twice.replayer.notes import (
    compares_nothing,
    describe_concurrency,
    describe_seal,
    grade_concurrency,
    list_facts,
    list_facts_of_equal_runs,
    list_notes,
    merge_inventories,
)
from twice.replayer.outcome import (
    OTHER_CONTENT,
    STOPPED,
    Failure,
    Replay,
    count_threads,
    join_ending_parts,
    list_ending_parts,
    list_result_differences,
)
from twice.replayer.redaction_cause import find_redaction_cause, list_redaction_notes
from twice.replayer.replay_run import Plan, count_judgeable
from twice.replayer.verdict import SEAL
from twice.replayer.verification import Verification


def gather_evidence(record: RunRecord, plan: Plan, replay: Replay) -> Verification:
    """Compare a replay with its record: the first difference, files, surroundings, notes."""
    is_whole = replay.is_whole and plan.snapshot is None
    files = judge_files(record, replay.kept, replay.inside, whole=is_whole)
    ending = record.ending or {}
    # A segment leaves out reads before or after it, so that counts of the whole run would differ.
    manifest_matches = None
    if replay.how not in {"", STOPPED} and plan.first == 0:
        manifest_matches = ending.get("effects", {}).get("strict") == replay.reads
    failure = replay.failure
    if failure is None and not replay.death:
        found = _list_differences(record, plan, replay, files)
        judged = (each for each in found if not {*each.columns} <= {*plan.passed_over})
        failure = next(judged, None)
    counts = dict(replay.counts)
    if failure is not None and not counts["failed"]:
        # An input, an effect or the ending parted, and the point after it was never taken.
        counts |= {"evaluated": counts["evaluated"] + 1, "failed": 1}
    open_order = replay.open_order
    if failure is not None and failure.name == "files" and files.has_recorded_lengths:
        open_order = OTHER_CONTENT if count_threads(ending.get("lineages", {})) > 1 else ""
    withheld = ""
    # A replay refuses the same operations with and without the secret.
    if failure is not None and failure.name != SEAL:
        withheld = find_redaction_cause(record, failure.index, replay.absent)
    notes = [*list_notes(record, plan.predicate), *list_redaction_notes(record, replay.absent)]
    notes += map(str, replay.migrated)
    notes = [*_list_notes_on_results(record, replay), *notes]
    if plan.first and "files.written" in ending.get("effects", {}).get("lenient", {}):
        notes.append("files that were written are compared only in a run from its start")
    inventory = merge_inventories(record, replay.inventory)
    now, program = replay.environment, record.setup.program
    # A module is found by its name wherever it lies now; a file is executed where the record says.
    is_file = program.kind in {"function", "script"}
    beside = describe_concurrency(ending, inventory)
    return replace(
        leave_open(record, plan.predicate),
        first=plan.first,
        counts=counts,
        failure=failure,
        manifest_matches=manifest_matches,
        environment=[] if now is None else compare_environments(record, now, inventory),
        gpu={} if now is None else now.gpu,
        inventory=inventory,
        escapes=[str(row["source"]) for row in unsupported_rows(ending.get("inventory"))],
        files=files,
        seal=describe_seal(record, files, held=replay.held),
        executed=str(program.path()) if is_file else program.target,
        is_segment=plan.is_segment,
        compares_nothing=compares_nothing(record),
        death=replay.death,
        changed_code=plan.changed_code,
        withheld=withheld,
        open_order=open_order,
        facts=list_facts(record),
        facts_of_equal_runs=list_facts_of_equal_runs(record, replay.orders),
        beside=beside,
        concurrency=grade_concurrency(record, beside),
        notes=notes,
        took_s=replay.took_s,
    )


def _list_notes_on_results(record: RunRecord, replay: Replay) -> list[str]:
    """Return what a comparison of the returned value leaves out."""
    ending = record.ending or {}
    # Of an earlier version, or of somebody who left it out.
    if not record.is_prefix and RESULTS not in ending:
        return ["the returned value is not compared: the record holds no results"]
    was, now = (each.get("returned") for each in (ending.get(RESULTS) or {}, replay.results))
    if was is not None and "digest" not in was:
        why = f"a {was['type']} has no canonical form"
        return [f"the returned value is not compared: {why}"]
    # The written form is cut, and may be that of an earlier version, so that it decides nothing.
    if was and now and was["digest"] == now.get("digest") and was.get("text") != now.get("text"):
        texts = f"{was.get('text')}, and the replay as {now.get('text')}"
        return [f"the record writes the returned value as {texts}: their digests are equal"]
    return []


def _list_differences(
    record: RunRecord, plan: Plan, replay: Replay, files: FileJudgement
) -> Iterator[Failure]:
    """Yield differences besides the points: the ending, a result, a missing point, reads, a file."""
    recorded, predicate = record.ending or {}, plan.predicate
    at, last_tick = plan.first + replay.counts["evaluated"], record.ticks - 1
    has_ended, is_from_top = replay.how != STOPPED, plan.first == 0
    # A torn record, or a run that a signal ended, has no ending that a replay could reach.
    is_known = record.ending is not None and recorded.get("how") != "torn"
    if has_ended and is_known and "interrupted_at_point" not in recorded:
        folders = record.program_folders()
        was, now = list_ending_parts(recorded, folders), list(replay.ending)
        now[2] = select_of_message(now[2], folders)
        n_parts = 3 if plan.changed_code else 4  # lines move when code is edited
        if was[:n_parts] != now[:n_parts]:
            texts = [join_ending_parts(each) for each in (was, now)]
            yield Failure(at, last_tick, "ending", ("(ending)",), *texts)
    # Single runs of a statistical program may return other numbers; its sample is compared instead. A value
    # within its tolerance may lead to a result that differs in every bit.
    is_statistical = predicate.class_of("output") is DeterminismClass.STATISTICAL
    is_exact = not is_statistical and not replay.counts["within_tolerance"]
    results = recorded.get(RESULTS)  # None in a record of an earlier version
    if has_ended and is_from_top and is_exact and results is not None:
        sampled = predicate.sampled_summary
        for name, *texts in list_result_differences(results, replay.results, sampled=sampled):
            yield Failure(at, last_tick, name, (f"({name.partition(':')[0]})",), *texts)
    end = len(record.reader.points) if plan.last is None else plan.last + 1
    if at < end and (record.complete or record.ending is not None):
        point = record.reader.points.point(at)
        was_taken = f"{point.name} of tick {point.tick}"
        yield Failure(at, point.tick, point.name, ("(point)",), was_taken, "the program had ended")
    # Which operation was read more or less often, of all that compare-points do not show.
    judges_reads = predicate.class_of("effects") is DeterminismClass.BIT_EXACT
    if has_ended and is_from_top and judges_reads:
        reads = recorded.get("effects", {}).get("strict") or {}, replay.reads or {}
        for name in sorted({*reads[0], *reads[1]}):
            counts = [each.get(name, 0) for each in reads]
            if counts[0] != counts[1]:
                texts = [f"{pluralize(count, 'time')} {name} until the end" for count in counts]
                yield Failure(at, last_tick, "effect", ("effects",), *texts)
    # Last: a file that differs is mostly the consequence of something that is named above.
    if (different := files.first_difference()) is not None:
        last = plan.first + max(0, replay.counts["evaluated"] - 1)
        yield Failure(last, last_tick, "files", ("files",), *different)


def compare_environments(
    record: RunRecord, now: Fingerprint, inventory: list[Mapping[str, object]]
) -> list[EnvironmentDifference]:
    """Return how the environment differs, without libraries that the run did not load."""
    found = diff_fingerprints(Fingerprint.from_json(record.identity["environment"]), now)
    if any(is_process(row) for row in inventory):
        return found  # a child process may have loaded any library
    return keep_loaded(found, record)


def keep_loaded(
    rows: list[EnvironmentDifference], *records: RunRecord
) -> list[EnvironmentDifference]:
    """Leave out the libraries that none of the runs loaded."""
    used = set()
    for record in records:
        loaded = (record.ending or {}).get("imported")
        if loaded is None:
            return rows  # a record of an earlier version
        used |= {f"library {name}" for name in loaded}
    return [row for row in rows if not row.what.startswith("library ") or row.what in used]


def leave_open(record: RunRecord, predicate: Predicate, *why: str) -> Verification:
    """Return the evidence of a verification that did not execute, with the reasons."""
    return Verification(
        path=record.path,
        run_id=record.run_id,
        predicate=predicate,
        subsystems=list_subsystems(record),
        within={
            name: tolerance_from_json(own)
            for name, own in (record.ending or {}).get("tolerances", {}).items()
        },
        is_torn=record.is_prefix,
        is_interrupted=count_judgeable(record) < len(record.reader.points),
        not_judged=why,
        notes=list_notes(record, predicate),
    )


def list_subsystems(record: RunRecord) -> list[str]:
    """Return the names of subsystems that a class may judge, sorted."""
    named = list((record.ending or {}).get("components", {}))
    if not named and len(record.reader.points):
        last = record.reader.points.point(len(record.reader.points) - 1)
        named = [name for name in last.digests if name not in {"effects", "inputs"}]
    return sorted({*named, "streams", "output"})
