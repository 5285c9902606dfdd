"""The read of the world through which runs that agree at every compare-point leave something else.

No window shows such a difference, since nothing differs that a window compares. So a run is executed with more and more
of the other run's answers, until it leaves its record: the last answer that was exchanged makes the difference.

Not for: differences that come through another thread, a library's read, a file or the surroundings.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping, Sequence
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
from twice.replayer.replay_run import check_preconditions, run_replay
from twice.replayer.substituted_reads import list_differing_reads

_SURE = 0.95


def explain_outcome(
    a: Side,
    b: Side,
    seen: Observations,
    environment: Sequence[EnvironmentDifference],
    progress: Callable[[str], None],
) -> OperationFound | None:
    """Add to what is known of two runs why they leave something else; return the line, if one is shown to be the cause.

    Args:
        a: one run.
        b: the other; or the same one, which a verification found to leave its record.
        seen: what is known.
        environment: how their environments differ.
        progress: called with what is being done.
    """
    operation = None
    seen.reads_differ = reads_that_differ(a.record, b.record, None)
    try:
        seen.environment = execute_whole_runs(environment, (a, b), progress)
        if seen.environment.role == "none":
            operation = _find_decisive_read(a, b, seen, progress)
    except TimeLimitReached as error:
        seen.caveats.append(error.happened)
    return operation


def _find_decisive_read(
    a: Side, b: Side, seen: Observations, progress: Callable[[str], None]
) -> OperationFound | None:
    """Return the first read whose answer decides what run a leaves, and add the experiment."""
    differing = list_differing_reads(a.record, b.record)
    numbers = list(differing)
    if not numbers:
        return None
    progress("executing run a with what run b read")
    answers = {number: other for number, (_, other) in differing.items()}
    leaves, place = _execute_with_reads(a, answers)
    if not leaves:
        return None
    # Up to ``low`` reads do not make the difference, up to ``high`` do.
    low, high = -1, len(numbers) - 1
    while high - low > 1:
        middle = (low + high) // 2
        given = {number: answers[number] for number in numbers[: middle + 1]}
        leaves, made_at = _execute_with_reads(a, given)
        if leaves:
            high, place = middle, made_at
        else:
            low = middle
    read = differing[numbers[high]]
    name = OPS[read[0][0]].name
    sentence = f"run a leaves something else, once this read of {name} gives what run b read"
    seen.experiments.append(Confirmation(name, Channel.EFFECTS, "confirmed", sentence))
    if not place:
        return None
    file, line, function = place
    a_value, b_value = (
        short(value[1] if op in WITH_ARGUMENTS else value)  # type: ignore[index]
        for op, value in read
    )
    code = linecache.getline(file, line).strip()
    return OperationFound(file, line, function, code, name, a_value, b_value, _SURE)


def _execute_with_reads(side: Side, given: Mapping[int, Event]) -> tuple[bool, Sequence[Any]]:
    """Execute a run with other answers to some of its reads.

    Returns:
        Whether it then leaves its record; file, line and function of the last such read, if the user's code makes it.
    """
    side.check_time()
    record = side.record
    plan = check_preconditions(record, record.setup.predicate)
    if isinstance(plan, str):
        return False, ()
    plan = replace(plan, substituted=given)
    try:
        replay = run_replay(record, plan, start=side.start_whole)
    except TwiceError:  # what the other run read leads where this one cannot go
        side.check_time()
        return False, ()
    side.check_time()
    found = gather_evidence(record, plan, replay)
    return found.failure is not None, replay.added.get("made_at", ())
