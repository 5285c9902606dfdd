"""The reads of the world through which runs that agree at every compare-point leave something else.

No window shows such a difference, since nothing differs that a window compares. So a run is executed with answers that
the other run got: of one source after the other, since answers of one source must fit each other, then with fewer and
fewer of the source that makes the difference.

Not for: differences that come through another thread, a library's read, a file or the surroundings, or through several
sources that make it only together.
"""

from __future__ import annotations

import linecache
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from twice.diagnosis.attribution import Observations
from twice.diagnosis.divergence import Confirmation, OperationFound
from twice.diagnosis.environment_role import execute_whole_runs
from twice.diagnosis.executions import Side
from twice.diagnosis.read_comparison import reads_that_differ
from twice.diagnosis.tracing.value_preview import short
from twice.errors import TimeLimitReached, TwiceError
from twice.foundation.channels import Channel
from twice.foundation.environment import EnvironmentDifference
from twice.recorder.effects.events import Event
from twice.recorder.effects.ops import OPS, WITH_ARGUMENTS
from twice.replayer.evidence import gather_evidence
from twice.replayer.record_outcomes import OutcomeDifference, name_outcome
from twice.replayer.replay_run import check_preconditions, run_replay
from twice.replayer.substituted_reads import list_differing_reads
from twice.replayer.verification import Verification

_SURE, _EITHER = 0.95, 0.5


def explain_outcome(
    a: Side,
    b: Side,
    rows: Sequence[OutcomeDifference],
    seen: Observations,
    environment: Sequence[EnvironmentDifference],
    progress: Callable[[str], None],
) -> list[OperationFound]:
    """Add to what is known of two runs why they leave something else.

    Args:
        a: one run.
        b: the other; or the same one, which a verification found to leave its record.
        rows: what they leave otherwise.
        seen: what is known.
        environment: how their environments differ.
        progress: called with what is being done.

    Returns:
        The line that an experiment shows to be the cause; two where one of them is.
    """
    seen.reads_differ = reads_that_differ(a.record, b.record, None)
    try:
        seen.environment = execute_whole_runs(environment, (a, b), progress)
        differing = list_differing_reads(a.record, b.record)
        if seen.environment.role == "none" and differing:
            progress("executing run a with what run b read")
            return _find_decisive_reads(a, {row.what for row in rows}, differing, seen)
    except TimeLimitReached as error:
        seen.caveats.append(error.happened)
    return []


def _find_decisive_reads(
    a: Side,
    subjects: AbstractSet[str],
    differing: Mapping[int, tuple[Event, Event]],
    seen: Observations,
) -> list[OperationFound]:
    """Find the reads whose answers decide what run a leaves, and add the experiment."""

    def is_moved(numbers: Sequence[int]) -> bool:
        given = {number: differing[number][1] for number in numbers}
        return bool(subjects & _execute_with_reads(a, given)[0])

    # Without this, whatever else moves the outcome would be put down to the first read.
    if is_moved(()):
        seen.reads_differ = ()
        seen.evidence.append(
            "run a, given its own reads, does not leave the same again: what differs was not read"
        )
        return []
    sources = dict.fromkeys(one[0] for one, _ in differing.values())
    groups = ([number for number, (one, _) in differing.items() if one[0] == op] for op in sources)
    group = next((each for each in groups if is_moved(each)), None)
    if group is None:
        return []

    def find_last_needed(order: Sequence[int]) -> int:
        return order[bisect_left(range(1, len(order)), True, key=lambda n: is_moved(order[:n]))]

    name = OPS[differing[group[0]][0][0]].name
    sentence = f"run a leaves something else, once its reads of {name} give what run b read"
    seen.experiments.append(Confirmation(name, Channel.EFFECTS, "confirmed", sentence))
    decisive = {find_last_needed(group): None}
    # A time of one run and a time of the other can lie apart in a way that two times of a run never do.
    if name.startswith("clock."):
        decisive[find_last_needed(group[::-1])] = None
    found = [_describe(a, number, *differing[number], len(decisive)) for number in decisive]
    return [each for each in found if each is not None]


def _describe(
    a: Side, number: int, mine: Event, other: Event, n_candidates: int
) -> OperationFound | None:
    """Describe a read with its line; None where the user's code does not make it."""
    _, place = _execute_with_reads(a, {number: other})
    if not place:
        return None
    file, line, function = place
    op = OPS[mine[0]]
    one, two = (short(v[1] if op.number in WITH_ARGUMENTS else v) for _, v in (mine, other))  # type: ignore[index]
    code = linecache.getline(file, line).strip()
    confidence = _SURE if n_candidates == 1 else _EITHER
    return OperationFound(file, line, function, code, op.name, one, two, confidence)


def _execute_with_reads(side: Side, given: Mapping[int, Event]) -> tuple[set[str], Sequence[Any]]:
    """Execute a run with other answers to some of its reads.

    Returns:
        What it then leaves otherwise, as ``OutcomeDifference`` names it; nothing where it goes another way before its
        end. And file, line and function of the last such read, if the user's code makes it.
    """
    side.check_time()
    record = side.record
    plan = check_preconditions(record, record.setup.predicate)
    if isinstance(plan, str):
        return set(), ()
    try:
        replay = run_replay(record, replace(plan, substituted=given), start=side.start_whole)
    except TwiceError:  # what the other run read leads where this one cannot go
        side.check_time()
        return set(), ()
    side.check_time()
    found = gather_evidence(record, plan, replay)
    return _name_moved(found), replay.added.get("made_at", ())


def _name_moved(found: Verification) -> set[str]:
    name = "" if found.failure is None else found.failure.name
    if written := found.file_written_otherwise:
        return {f"file {written}"}
    if name == "files":
        return {f"file {path}" for path, *_ in found.files.differing}
    return {name_outcome(name)}
