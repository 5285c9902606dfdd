"""Executes both sides once more, looks at the operations of a library, and names the first that gave other results.

1. *Trace.* Both sides, in the interval in which they part: the results of each operation.
2. *Capture.* Both sides again: inputs from the first operation that gave other results on, and its values, module and
   line. Where its inputs agree, it is the one. Else a later one is captured, or nothing is blamed. An operation that
   does not give the same twice on a side that reproduces its record leaves parts of its result unwritten: it is left out.
3. *Open earlier.* Where inputs differ that came from before the interval, both sides are traced from the beginning.
4. *Try.* Side a with each differing surrounding of side b, to see which makes the operation give the results of b.

Not for: programs whose libraries were not loaded, and what no operation of such a library made.

Invariant: an experiment counts only where the operation read the same as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
from twice.diagnosis.runner import Runner
from twice.diagnosis.surroundings_factors import (
    DifferingFactor,
    list_differing_factors,
    swap,
)
from twice.errors import TwiceError
from twice.foundation.comparison import FieldDifference
from twice.foundation.comparison.numeric import compare_arrays
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize
from twice.recorder.environment.surroundings import Surroundings
from twice.worker.concurrency import run_concurrently

_CAPTURES_MAX: Final = 4
"""Executions until an operation is named."""
_TRIED_MAX: Final = 6
_THREADS: Final = "the program has threads of its own: operations on them were not traced"
_VALUES_LENGTH: Final = 100


def look_inside(
    runner: Runner, window: Window, seen: Observations, progress: Callable[[str], None]
) -> None:
    """Add to the observations what was found inside of the interval that closes a window."""
    if not all(
        not TRACES.keys().isdisjoint((side.record.ending or {}).get("imported", ()))
        for side in (runner.a, runner.b)
    ):
        return
    try:
        found = OperationSearch(runner, progress).find(window)
    except TwiceError as error:
        seen.caveats.append(f"the operations of a library were not traced: {error.happened}")
        return
    keys = [*runner.a.record.actors(), *runner.b.record.actors()]
    if found is not None and any("/thread:" in key for key in keys):
        found = replace(found, notes=(*found.notes, _THREADS))
    seen.inside = found


@dataclass(frozen=True)
class _Traced:
    """One execution of both sides in one interval, and where they part."""

    a: OperationStream
    b: OperationStream
    parting: Parting


class OperationSearch:
    """Looks for the operation by executing both sides of a runner."""

    def __init__(self, runner: Runner, progress: Callable[[str], None]) -> None:
        self._runner, self._progress = runner, progress

    def find(self, window: Window) -> OperationInside | None:
        """Return what was found in the shortest interval that has the difference; None where nothing was traced."""
        openings = self._runner.openings(window)
        found = None
        # Before the interval operations may differ whose results come to nothing.
        for opening in dict.fromkeys((openings[0], openings[-1])):
            self._progress(f"tracing operations from after compare-point {opening.first}")
            traced = self._trace(opening)
            if traced.parting.first is None:
                both = len(traced.a) and len(traced.b)
                notes = _list_notes(traced)
                return OperationInside("agree", sentence=_AGREE, notes=notes) if both else None
            found = self._explain(opening, traced)
            if found.outcome == "operation" or not found.is_from_before:
                break
        return found

    def _trace(
        self,
        window: Window,
        asked: Pair | None = None,
        unsteady: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset()),
    ) -> _Traced:
        runner = self._runner
        side_b = runner.b if runner.given is None else runner.a
        places = ([], []) if asked is None else ([asked.a], [asked.b])
        a, b = run_concurrently(
            [
                partial(_trace_side, runner.a, window, places[0], None),
                partial(_trace_side, side_b, window, places[1], runner.given),
            ]
        )
        return _Traced(a, b, compare_streams(a, b, unsteady))

    def _explain(self, window: Window, traced: _Traced) -> OperationInside:
        """Capture the first difference, and what takes its place as long as it turns out to be none."""
        unsteady: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
        again, pair = traced, traced.parting.first
        explained: OperationInside | None = None
        for _ in range(_CAPTURES_MAX):
            assert pair is not None, "an interval without a difference was answered"
            self._progress("capturing the operation")
            again = self._trace(window, pair, unsteady)
            if all(each.reproduces for each in (traced.a, traced.b, again.a, again.b)):
                found = find_unsteady(traced.a, again.a), find_unsteady(traced.b, again.b)
                unsteady = unsteady[0] | found[0], unsteady[1] | found[1]
                again = _Traced(again.a, again.b, compare_streams(again.a, again.b, unsteady))
            if again.parting.operation == pair:
                return self._blame(window, again, pair)
            if explained is None and again.parting.first == pair:
                explained = _explain_other(again, pair)
            pair = again.parting.operation or again.parting.first
            if pair is None:
                return OperationInside("agree", sentence=_AGREE, notes=_list_notes(again))
            if explained is not None and again.parting.operation is None:
                return explained
        sentence = "the operations are others in every execution: none is named"
        return explained or OperationInside("unknown", sentence=sentence, notes=_list_notes(again))

    def _blame(self, window: Window, traced: _Traced, pair: Pair) -> OperationInside:
        one, two = traced.a.captured[0], traced.b.captured[0]
        values, notes = compare_outputs(one["outputs"], two["outputs"]), _list_notes(traced)
        if one.get("equations"):
            found = find_equation(one["equations"], two["equations"])
            if found is None:
                notes.append("its equations agree one by one: compiled together they do not")
            else:
                values = compare_outputs(found[0]["results"], found[1]["results"])
                name, line = f"{one['name']} > {found[0]['name']}", found[0]["line"] or one["line"]
                one = {**one, "name": name, "line": line}
        return OperationInside.from_captured(
            "operation",
            one,
            number=pair.a,
            sentence="its inputs agree, and its outputs do not",
            values=values,
            factor=self._find_factor(window, traced, pair),
            notes=notes,
        )

    def _find_factor(self, window: Window, traced: _Traced, pair: Pair) -> str:
        """Return the surroundings of b with which side a gives the results of b, by executing it with each."""
        runner = self._runner
        own, others = runner.a.surroundings, runner.given or runner.b.surroundings
        factors = list_differing_factors(own, others)[:_TRIED_MAX]
        if not factors or runner.is_alone:
            return ""
        self._progress("trying surroundings on the operation")
        given = [swap(own, others, factor.name) for factor in factors]
        made = run_concurrently(
            [partial(_trace_side, runner.a, window, [pair.a], each) for each in given]
        )
        wanted = traced.b.outputs[pair.b]
        named = [
            _describe_factor(factor)
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


def _describe_factor(factor: DifferingFactor) -> str:
    """Name a factor, with its values where they are short: a verdict has them anyway."""
    values = f" ({factor.a or 'unset'} / {factor.b or 'unset'})"
    return factor.name + (values if len(values) <= _VALUES_LENGTH else "")


def _explain_other(traced: _Traced, pair: Pair) -> OperationInside:
    """Say what differs first, where it is not an operation that is to blame."""
    notes = _list_notes(traced)
    ends = [not stream.captured for stream in (traced.a, traced.b)]
    if traced.parting.other == pair and not any(ends):
        one, two = traced.a.captured[0], traced.b.captured[0]
        outcome, sentence, is_from_before = _explain_inputs(traced, one, two)
    else:
        one, two = (
            {"name": stream.name(at)} if is_end else stream.captured[0]
            for stream, at, is_end in zip((traced.a, traced.b), (pair.a, pair.b), ends, strict=True)
        )
        outcome, is_from_before = "other-operations", False
        also = OperationInside.from_captured(outcome, two).describe_place()
        sentence = (
            f"after {pluralize(pair.a, 'operation')} the runs make other ones: "
            f"run b {two['name']}{also}; run a {one['name']}"
        )
    found = OperationInside.from_captured(
        outcome, one, number=pair.a, notes=notes, is_from_before=is_from_before
    )
    return replace(found, sentence=f"{sentence}{found.describe_place()}")


def _explain_inputs(
    traced: _Traced, one: Mapping[str, Any], two: Mapping[str, Any]
) -> tuple[InsideOutcome, str, bool]:
    """Say how inputs that differ came to an operation, where everything before gave the same.

    Returns:
        The outcome, a sentence, and whether it may come from before the trace.
    """
    keys = ("form", "digest", "strides")
    unlike = [
        (x, y)
        for x, y in zip(one["inputs"], two["inputs"], strict=False)
        if any(x.get(key) != y.get(key) for key in keys)
    ]
    name, library = one["name"], traced.a.library
    if not unlike:
        if any(x.get("digest") == "" for x in one["inputs"]):
            return "unknown", f"the bytes of inputs of {name} are not read", False
        return "outside", f"the generator that {name} draws from stands elsewhere", True
    first, other = unlike[0]
    what = f"'{first['name']}' of {name}"
    if "origin" not in first or first["form"] != other["form"]:
        return "outside", f"{what} is {first['form']} / {other['form']}", False
    if first["digest"] == other["digest"]:
        strides = f"{first['strides']} / {other['strides']}"
        return "outside", f"{what} has strides {strides}", False
    if first["origin"] == "unwritten":
        by = traced.a.name(first["made"])
        told = f"{what} is memory that {by} left unwritten, or that was written from outside of {library}"
        return "unwritten", told, False
    if first["origin"] == "computed":
        told = f"{what} was changed from outside of {library}, after {traced.a.name(first['made'])} made it"
        return "outside", told, False
    return "outside", f"{what} came from outside of {library}", True


def _list_notes(traced: _Traced) -> list[str]:
    parting = traced.parting
    notes = [note for stream in (traced.a, traced.b) for note in stream.notes]
    if not (traced.a.reproduces and traced.b.reproduces):
        notes.append("under the trace a run does not give its recorded compare-point again")
    if parting.branch is not None:
        one, two = parting.extra
        notes.append(
            f"from operation {parting.branch.a} on the runs make other operations: {one} / {two} have no counterpart"
        )
    if parting.operation is not None and parting.other is not None:
        name = traced.a.name(parting.other.a)
        notes.append(f"before it, inputs of {name} (operation {parting.other.a}) differ")
    return list(dict.fromkeys(notes))


_HALF_WORD: Final = 1 << 16
"""Representable float32 from one bfloat16 to the next."""


def compare_outputs(
    a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]
) -> list[FieldDifference]:
    """Return the differences of captured results, one for each that differs.

    Args:
        a: results of one side: ``dtype``, ``shape``, and the first ``bytes`` of each.
        b: results of the other side.
    """
    found = []
    for number, (one, two) in enumerate(zip(a, b, strict=False)):
        path = f"output {number}"
        form, other = (f"{each['dtype']} {each['shape']}" for each in (one, two))
        if form != other:
            found.append(FieldDifference(path, "shape", form, other))
        elif one["bytes"] != two["bytes"]:
            found.append(_compare_elements(path, one, two))
    return found


def find_equation(
    a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Return the first equation of a compiled function that gave other results for equal inputs, on both sides."""
    for one, two in zip(a, b, strict=False):
        if one["name"] != two["name"]:
            return None
        if one["inputs"] == two["inputs"] and one["outputs"] != two["outputs"]:
            return one, two
    return None


def _compare_elements(path: str, one: Mapping[str, Any], two: Mapping[str, Any]) -> FieldDifference:
    if not one["dtype"]:
        told, other = (each["bytes"].decode("utf-8", "replace") for each in (one, two))
        return FieldDifference(path, "value", told, other)
    difference = compare_arrays(path, _to_array(one), _to_array(two), None)
    assert difference is not None, "other bytes are a difference"
    if one["dtype"] == "bfloat16" and difference.ulps is not None:
        return replace(difference, ulps=difference.ulps // _HALF_WORD)
    return difference


def _to_array(output: Mapping[str, Any]) -> Any:
    """Return the elements as an array; of a type that numpy lacks, as float32 or as bytes."""
    import numpy as np

    name, raw, shape = output["dtype"], output["bytes"], tuple(output["shape"])
    if name == "bfloat16":
        flat = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
    else:
        try:
            flat = np.frombuffer(raw, np.dtype(name))
        except TypeError:
            return np.frombuffer(raw, "u1")
    # Of a large result the beginning was kept.
    return flat.reshape(shape) if flat.size == int(np.prod(shape)) else flat
