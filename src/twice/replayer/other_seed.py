"""Whether a run's seed matters: the recorded program once more, with the recorded world and another seed.

First only the streams get the other seed, and ``run.seed`` stays the recorded one. A program that only prints its
seed, or keeps it in a field, does not change then. A program may also make generators from ``run.seed`` itself. So
``run.seed`` is the other seed next, and twice compares the output and the final state without the seeds in them.

Not for: how much a seed matters. One field that one draw changes is enough.

Invariant: inputs and reads of the world are the recorded ones, so that chance outside of the seed changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from twice.foundation.comparison import differences
from twice.foundation.determinism_class import DeterminismClass, Predicate
from twice.foundation.encoding import decode
from twice.foundation.seeds import Seed
from twice.recorder.compare_points import is_judged
from twice.recorder.runrecord import RunRecord
from twice.replayer.evidence import gather_evidence
from twice.replayer.outcome import Replay, list_result_differences
from twice.replayer.replay_job import Start, start_child
from twice.replayer.replay_run import Plan, execute_once
from twice.replayer.verify_worker import without_seeds

# No output contains them by chance, and they fit a library that takes 32 bits.
_OTHERS: Final = (1618033989, 1414213562, 1732050808, 1259921050)
OTHER_SEEDS: Final = tuple(Seed(each) for each in _OTHERS)
"""Several: a coin that is thrown once falls alike under two of them every other time."""


def is_moved_by_seed(
    record: RunRecord, seeds: Sequence[Seed] = OTHER_SEEDS, start: Start = start_child
) -> bool:
    """Return whether another seed changes anything that the run's class judges.

    Args:
        record: the record of a run that ended.
        seeds: the seeds to try, until one changes something.
        start: starts processes to execute in.

    Raises:
        TwiceError: an execution is refused; ProgramNotRerunnable: E-PROGRAM-002.
    """
    judge = record.setup.predicate
    if judge.determinism_class is DeterminismClass.STATISTICAL:
        judge = (
            Predicate()
        )  # It judges no single run, and a run that nothing moves makes no sample.
    plan = Plan(predicate=judge)
    tried = [each for each in seeds if each != record.seed]
    return any(_parts(record, plan, each, start) for each in tried) or any(
        _list_ends(record, plan, tried, start)
    )


def _parts(record: RunRecord, plan: Plan, seed: Seed, start: Start) -> bool:
    """Return whether the run differs from its record if only its streams have another seed."""
    plan = replace(plan, seed=_as_job(seed, told=False))
    return gather_evidence(record, plan, execute_once(record, plan, start=start)).differs


def _list_ends(
    record: RunRecord, plan: Plan, seeds: Sequence[Seed], start: Start
) -> Iterator[bool]:
    """Yield, for each seed, whether the run with it ends in another way."""
    last, predicate = len(record.reader.points) - 1, plan.predicate
    was = execute_once(record, replace(plan, capture=last), start=start)
    for seed in seeds:
        both = (record.seed, seed)
        now = execute_once(record, replace(plan, seed=_as_job(seed, told=True)), start=start)
        yield (
            now.failure is not None
            or now.ending != was.ending
            or any(list_result_differences(was.results, now.results))
            or any(
                without_seeds(each.a.encode(), both) != without_seeds(each.b.encode(), both)
                for each in differences(_decode(was, predicate), _decode(now, predicate))
            )
        )


def _decode(replay: Replay, predicate: Predicate) -> dict[str, Any]:
    states = replay.state.items()
    return {name: decode(state) for name, state in states if is_judged(name, predicate, {})}


def _as_job(seed: Seed, *, told: bool) -> Mapping[str, Any]:
    return {"value": str(seed.value), "told": told}
