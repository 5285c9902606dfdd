"""From what an execution gave to a verdict: how many points count, how the run ended, what files say.

Invariant: a difference that the program may not be to blame for is never a FAIL, and never a PASS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twice.recording.runrecord import RunRecord
from twice.recording.sealing.inventory import unsupported_rows
from twice.replaying.checking import Failure
from twice.replaying.file_judgement import FileJudgement
from twice.replaying.statement import Result
from twice.replaying.touched import not_shown, repeated_processes

_NATIVE = frozenset({"files.native", "network.native"})


def weigh_surroundings(
    result: Result,
    files: FileJudgement,
    inventory: Sequence[Mapping[str, object]],
    *,
    recorded_escapes: Sequence[str],
    refused: str,
) -> tuple[Result, list[str]]:
    """Return the result as files, processes and sources of the world leave it, and why it changed.

    Args:
        result: by compare-points, ending and differing files.
        files: what is known of the files.
        inventory: every source that the recorded run touched, and what only the replay touched.
        recorded_escapes: sources that the recorded run reached, and that no replay reaches.
        refused: what the replay refused, so that it differs there; empty for nothing.
    """
    if result == "FAIL" and refused and files.needs_copy:
        return "UNKNOWN", [
            (
                f"not judged: there is no copy of the files here ({files.refused}), and without one a replay "
                f"refuses what this run does: {refused}"
            )
        ]
    if result == "FAIL" and any(f"--allow {source}" in refused for source in recorded_escapes):
        return "UNKNOWN", [f"not judged: a replay refuses what the recorded run did: {refused}"]
    if files.refused_writes and not files.changed_inputs:
        return "UNKNOWN", list(files.refused_writes)
    repeated = repeated_processes(inventory)
    if result == "FAIL" and repeated and not files.changed_inputs:
        return "UNKNOWN", [repeated]
    if result == "FAIL" and files.unknown and not files.changed_inputs:
        return "UNKNOWN", [
            f"the runs differ, and it may be because of a file: {why}" for why in files.unknown
        ]
    unseen = [row for row in unsupported_rows(inventory) if row.get("source") in _NATIVE]
    if result == "FAIL" and unseen:
        return "UNKNOWN", [not_shown(row) for row in unseen]
    if result in {"PASS", "PARTIAL"}:
        reasons = [f"no pass, because of a file: {why}" for why in files.unknown]
        reasons += map(not_shown, unsupported_rows(inventory))
        if reasons:
            return "UNKNOWN", reasons
    return result, []


def find_file_difference(record: RunRecord, files: FileJudgement, index: int) -> Failure | None:
    """Return the first file that differs as a failure at a compare-point, or None."""
    different = files.first_difference()
    if different is None:
        return None
    return Failure(index, record.ticks - 1, "files", ("files",), *different)


def judgeable_points(record: RunRecord) -> int:
    """How many points a replay can repeat: those before an interrupt from outside."""
    interrupted_at = (record.ending or {}).get("interrupted_at_point")
    total = len(record.reader.points)
    return total if interrupted_at is None else min(total, int(interrupted_at))


def judge_counts(
    record: RunRecord,
    failure: Failure | None,
    counts: Mapping[str, int],
    *,
    segment: bool,
    manifest: bool | None,
) -> Result:
    """Return the result by compare-points alone."""
    if failure is not None or manifest is False:
        return "FAIL"
    if counts["evaluated"] == 0 or counts["evaluated"] == counts["failed"]:
        return "UNKNOWN"
    whole = record.complete and judgeable_points(record) == len(record.reader.points)
    return "PARTIAL" if segment or not whole else "PASS"


def find_missing_point(record: RunRecord, index: int) -> Failure | None:
    """The program ended while the record holds more points."""
    if not record.complete and record.ending is None:
        return None
    point = record.reader.points.point(index)
    was = f"{point.name} of tick {point.tick}"
    return Failure(index, point.tick, point.name, ("(point)",), was, "the program had ended")
