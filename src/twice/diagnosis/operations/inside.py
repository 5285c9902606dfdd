"""Executes both sides once more, looks at the operations of a library, and names the first that gave other results.

1. *Trace.* Both sides, in the interval in which they part; from the beginning where a difference came in from before.
2. *Compare.* The first operation whose inputs agree and whose outputs do not.
3. *Capture.* Both sides again, for values, module and line. An operation that does not give the same twice on a side
   that reproduces its record (parts of its result that it leaves unwritten) is left out.
4. *Try.* Side a with each differing surrounding of side b, to see which makes the operation give the results of b.

Not for: programs whose libraries were not loaded, and what no operation of such a library made.

Invariant: an experiment counts only where the operation read the same as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from twice.diagnosis.attribution import Observations
from twice.diagnosis.executions import Window
from twice.diagnosis.operations.control import TRACES
from twice.diagnosis.operations.operation_inside import InsideOutcome, OperationInside
from twice.diagnosis.operations.stream import (
    OperationStream,
    Pair,
    Parting,
    compare_streams,
    find_unsteady,
)
from twice.diagnosis.operations.values import compare_outputs
from twice.diagnosis.runner import Runner
from twice.diagnosis.surroundings_factors import list_differing_factors, swap
from twice.errors import TwiceError
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.runrecord import RunRecord
from twice.worker.concurrency import run_concurrently

_CAPTURES_MAX: Final = 3
"""How often an operation that does not give the same twice is left out."""
_TRIED_MAX: Final = 6


def look_inside(
    runner: Runner, window: Window, seen: Observations, progress: Callable[[str], None]
) -> None:
    """Add to the observations what was found inside of the interval that closes a window."""
    if not all(_has_loaded(side.record) for side in (runner.a, runner.b)):
        return
    try:
        seen.inside = _Search(runner, progress).find(window)
    except TwiceError as error:
        seen.caveats.append(f"the operations of a library were not traced: {error.happened}")


def _has_loaded(record: RunRecord) -> bool:
    return not TRACES.keys().isdisjoint((record.ending or {}).get("imported", ()))


@dataclass(frozen=True)
class _Traced:
    """Both sides of one interval, and where they part."""

    window: Window
    a: OperationStream
    b: OperationStream
    parting: Parting


class _Search:
    def __init__(self, runner: Runner, progress: Callable[[str], None]) -> None:
        self._runner, self._progress = runner, progress

    def find(self, window: Window) -> OperationInside | None:
        """Trace, compare and capture; return None where no operation was traced."""
        openings = self._runner.openings(window)
        for opening in dict.fromkeys((openings[0], openings[-1])):
            self._progress(f"tracing operations from after compare-point {opening.first}")
            a, b = self._trace(opening, (), ())
            traced = _Traced(opening, a, b, compare_streams(a, b, (frozenset(), frozenset())))
            parting = traced.parting
            if parting.is_settled or not (parting.entry or parting.branch or parting.operation):
                break
        if not len(traced.a) or not len(traced.b):
            return None
        return self._explain(traced)

    def _trace(
        self, window: Window, asked_a: Sequence[int], asked_b: Sequence[int]
    ) -> list[OperationStream]:
        runner = self._runner
        side_b = runner.b if runner.given is None else runner.a
        return run_concurrently(
            [
                partial(_trace_side, runner.a, window, asked_a, None),
                partial(_trace_side, side_b, window, asked_b, runner.given),
            ]
        )

    def _explain(self, traced: _Traced) -> OperationInside:
        """Capture the operation that is named, or the one at which the outcome showed."""
        parting = traced.parting
        unsteady: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
        for _ in range(_CAPTURES_MAX):
            pair = parting.operation or parting.entry or parting.branch
            if pair is None:
                return OperationInside("agree", sentence=_AGREE, notes=_list_notes(traced, None))
            self._progress("capturing the operation")
            places = (min(pair.a, len(traced.a) - 1), min(pair.b, len(traced.b) - 1))
            a, b = self._trace(traced.window, [places[0]], [places[1]])
            if parting.operation is None or not (traced.a.reproduces and traced.b.reproduces):
                break
            found = find_unsteady(traced.a, a), find_unsteady(traced.b, b)
            if pair.a not in found[0] and pair.b not in found[1]:
                break
            unsteady = unsteady[0] | found[0], unsteady[1] | found[1]
            parting = compare_streams(traced.a, traced.b, unsteady)
        assert pair is not None, "one that differs in nothing was answered"
        return self._conclude(_Traced(traced.window, traced.a, traced.b, parting), pair, (a, b))

    def _conclude(
        self, traced: _Traced, pair: Pair, captures: tuple[OperationStream, OperationStream]
    ) -> OperationInside:
        notes = _list_notes(traced, captures)
        if not all(each.captured for each in captures):
            sentence = "the operations are others in every execution: none is named"
            return OperationInside("unknown", number=pair.a, sentence=sentence, notes=notes)
        one, two = (each.captured[0] for each in captures)
        parting = traced.parting
        found: dict[str, object] = {"number": pair.a, "notes": notes}
        outcome: InsideOutcome
        if parting.operation == pair:
            outcome, sentence = "operation", "its inputs agree, and its outputs do not"
            found["values"] = compare_outputs(one["outputs"], two["outputs"])
            found["factor"] = self._find_factor(traced, pair)
        elif parting.entry == pair:
            outcome, sentence = _explain_entry(traced, one, two)
        else:
            outcome = "other-operations"
            names = [
                stream.name(at) if at < len(stream) else "no further one"
                for stream, at in ((traced.a, pair.a), (traced.b, pair.b))
            ]
            sentence = f"after {pluralize(pair.a, 'operation')} the runs make other ones: {names[0]} / {names[1]}"
        made = OperationInside.from_captured(outcome, one, sentence=sentence, **found)
        if outcome == "operation":
            return made
        return OperationInside.from_captured(
            outcome, one, sentence=f"{sentence}{made.describe_place()}", **found
        )

    def _find_factor(self, traced: _Traced, pair: Pair) -> str:
        """Return the surroundings of b with which side a gives the results of b, by executing it with each."""
        runner = self._runner
        own, others = runner.a.surroundings, runner.given or runner.b.surroundings
        factors = list_differing_factors(own, others)[:_TRIED_MAX]
        if not factors or runner.is_alone:
            return ""
        self._progress("trying surroundings on the operation")
        given = [swap(own, others, factor.name) for factor in factors]
        made = run_concurrently(
            [partial(_trace_side, runner.a, traced.window, [pair.a], each) for each in given]
        )
        wanted = traced.b.outputs[pair.b]
        named = [
            f"{factor.name} ({factor.a or 'unset'} / {factor.b or 'unset'})"
            for factor, stream in zip(factors, made, strict=True)
            if len(stream) > pair.a
            and stream.inputs[pair.a] == traced.a.inputs[pair.a]
            and stream.outputs[pair.a] == wanted
        ]
        return ", ".join(named)


_AGREE: Final = "all operations that were traced agree in this interval: the difference was made outside of them"


def _trace_side(
    side: Any, window: Window, asked: Sequence[int], surroundings: Surroundings | None
) -> OperationStream:
    return OperationStream.from_message(side.trace_operations(window, asked, surroundings))


def _explain_entry(
    traced: _Traced, one: Mapping[str, Any], two: Mapping[str, Any]
) -> tuple[InsideOutcome, str]:
    """Say how inputs that differ came to an operation, where everything before gave the same."""
    unlike = [
        (x, y)
        for x, y in zip(one["inputs"], two["inputs"], strict=False)
        if (x["form"], x.get("digest"), x.get("strides"))
        != (y["form"], y.get("digest"), y.get("strides"))
    ]
    if not unlike:
        if "" in (x.get("digest", "?") for x in one["inputs"]):
            return "unknown", f"the inputs of {one['name']} are of a kind that is not read"
        return "outside", f"the generator that {one['name']} draws from stands elsewhere"
    first, other = unlike[0]
    what = f"'{first['name']}' of {one['name']}"
    if "origin" not in first or first["form"] != other["form"]:
        return "outside", f"{what} is {first['form']} / {other['form']}"
    if first["digest"] == other["digest"]:
        return "outside", f"{what} has strides {first['strides']} / {other['strides']}"
    if first["origin"] == "unwritten":
        made = traced.a.name(first["made"])
        return (
            "unwritten",
            f"{what} is memory that {made} left unwritten, or that was written from outside of torch",
        )
    if first["origin"] == "computed":
        return (
            "outside",
            f"{what} differs, though the operation that made it gave the same: it was changed from outside of torch",
        )
    return (
        "outside",
        f"{what} differs: its data came from outside of torch, or from before the trace",
    )


def _list_notes(
    traced: _Traced, captures: tuple[OperationStream, OperationStream] | None
) -> list[str]:
    parting = traced.parting
    notes = [note for stream in (traced.a, traced.b, *(captures or ())) for note in stream.notes]
    if not (traced.a.reproduces and traced.b.reproduces):
        notes.append("under the trace a run does not give its recorded compare-point again")
    if parting.branch is not None and sum(parting.extra):
        one, two = parting.extra
        notes.append(
            f"the runs make other operations from operation {parting.branch.a} on: {one} / {two} have no counterpart"
        )
    if parting.operation is not None and parting.entry is not None:
        notes.append(
            f"before it, {traced.a.name(parting.entry.a)} (operation {parting.entry.a}) read inputs that differ"
        )
    return list(dict.fromkeys(notes))
