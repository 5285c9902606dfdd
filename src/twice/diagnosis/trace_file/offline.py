"""The verdict on two trace files: the end of the funnel without a machine to execute on.

For: identity, compare-points, fields, the operation and the channel, from what two files hold.

Not for: swapping surroundings or opening the window earlier; the files say what would tell more.

Invariant: nothing is executed; a difference that began where no state was written is not located.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from twice.diagnosis.attribution import Observations, attribute, list_differing_factors
from twice.diagnosis.divergence import Divergence, Result
from twice.diagnosis.executions import Executed
from twice.diagnosis.line_judgement import list_blind_spots, move_to_first_use, name_lines
from twice.diagnosis.localization.locate import locate
from twice.diagnosis.localization.result import Located, Unlocated
from twice.diagnosis.localization.source_facts import given_sources
from twice.diagnosis.log_comparison import (
    InputDifference,
    PointRef,
    compare_digests,
    input_differences,
)
from twice.diagnosis.read_comparison import BY_LIBRARY
from twice.diagnosis.state_comparison import compare_states
from twice.diagnosis.trace_file.document import REPEATS, TracedPoint, TraceFile
from twice.diagnosis.trace_file.packing import refused
from twice.diagnosis.tracing.paths import STREAMS
from twice.diagnosis.tracing.trace import FlowPlan, Plan, Point, Trace
from twice.errors import TwiceError
from twice.foundation.comparison import FieldDifference
from twice.foundation.environment import diff_fingerprints

_RESERVED = frozenset({"effects", "inputs", "output", "streams"})


class Offline:
    """One comparison of two files.

    Args:
        path_a: of one file, for messages.
        a: what it holds.
        path_b: of the other.
        b: what that holds.
    """

    def __init__(self, path_a: str, a: TraceFile, path_b: str, b: TraceFile) -> None:
        self._path_a, self._a, self._path_b, self._b = path_a, a, path_b, b
        self._evidence: list[str] = []
        self._remedies: list[str] = []
        self._caveats = ["only what two trace files hold was compared; nothing was executed"]
        self._factors = list_differing_factors(a.surroundings, b.surroundings)

    def run(self) -> Divergence:
        """Identity, compare-points, then the operation.

        Raises:
            TraceRefused: E-TRACE-001, the files are of two windows.
        """
        inputs = input_differences(self._a, self._b)
        if inputs:
            return self._verdict("not-same-input", inputs=inputs)
        if self._a.window != self._b.window:
            raise refused(
                self._path_b,
                f"is of another window than {self._path_a}: {_window(self._b)}; {_window(self._a)}",
            )
        apart = _first_apart(self._a, self._b)
        unsteady = [side for side, file in self._files() if not file.reproduces]
        if apart is None and not unsteady:
            return self._verdict("same")
        at = self._a.points[-1] if apart is None else self._a.points[apart]
        columns = () if apart is None else _columns(self._a, self._b, apart)
        fields = self._fields(columns)
        located = None
        if apart == 0 and not self._a.opens_at_start:
            self._evidence.append(
                f"They differ already before tick {self._a.tick}: trace an earlier tick."
            )
        else:
            with given_sources({**self._b.sources, **self._a.sources}):
                located = self._located(columns, unsteady)
        return self._conclude(at, columns, fields, located, unsteady)

    def _files(self) -> tuple[tuple[str, TraceFile], tuple[str, TraceFile]]:
        return ("a", self._a), ("b", self._b)

    def _located(self, columns: Sequence[str], unsteady: Sequence[str]) -> Located | None:
        """The operation, from the flows and the states that were written down."""
        files = dict(self._files())
        alone = unsteady[0] if unsteady else None

        def trace(side: str, repeat: int, plan: Plan) -> Trace:
            if alone is not None:  # the two executions of that side are the two sides
                side, repeat = alone, 2 * repeat + (side == "b")
            return _served(files[side], repeat, plan)

        held = {side: _held(files[alone or side], alone is not None, side) for side in files}
        tracked = self._tracked(columns)
        try:
            found = locate(trace, tracked=tracked, repeats=1 if alone else REPEATS, held=held)
        except (TwiceError, KeyError, TypeError, ValueError, IndexError) as error:
            self._caveats.append(f"the traces could not be compared: {type(error).__name__}")
            return None
        if isinstance(found, Unlocated):
            self._evidence += [found.reason, *found.evidence]
            self._remedies.append(found.surer)
            self._caveats += found.caveats
            return None
        self._evidence += found.evidence
        self._caveats += found.caveats
        if not found.before_window:
            return found
        entered = move_to_first_use(found)
        return None if entered is found and not self._a.opens_at_start else entered

    def _tracked(self, columns: Sequence[str]) -> list[str]:
        """Roots whose difference is to be explained; all that are compared when none is named."""
        components = tuple((self._a.ending or {}).get("components", self._a.states))
        names = columns or (*components, "output", "streams")
        known = _RESERVED.union(components)
        return [
            STREAMS if name == "streams" else name if name in known else "compared"
            for name in names
        ]

    def _fields(self, columns: Sequence[str]) -> list[FieldDifference]:
        one, two = (
            Executed(True, {}, True, file.states, file.streams, {}, None)
            for _, file in self._files()
        )
        try:
            return compare_states(one, two, columns)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            self._caveats.append(f"the states could not be compared: {type(error).__name__}")
            return []

    def _conclude(
        self,
        at: TracedPoint,
        columns: Sequence[str],
        fields: Sequence[FieldDifference],
        located: Located | None,
        unsteady: Sequence[str],
    ) -> Divergence:
        reads_a, reads_b = self._a.reads, self._b.reads
        apart = [name for name in sorted({**reads_a, **reads_b})
                 if reads_a.get(name) != reads_b.get(name)]  # fmt: skip
        by_library = any(name.endswith(BY_LIBRARY) for name in apart)
        named = name_lines(located, fields, library_read=by_library)
        result = named.result
        if unsteady or (located is not None and located.non_reproducing):
            result = "non-reproducing"
            names = " and ".join(unsteady) or (located.non_reproducing if located else "")
            self._evidence.append(
                f"run {names} did not reproduce its own record where it was traced"
            )
        spots = [] if located is None else list_blind_spots(located)
        seen = Observations(
            located=located,
            columns=tuple(columns),
            fields=fields,
            factors=self._factors,
            blind_spots=spots,
            clock_policy=self._a.setup.clock != self._b.setup.clock,
            reads_differ=apart,
        )
        before = self._a.points[0] if self._a.points[0].index < at.index else None
        return replace(
            self._verdict(result),
            compare_point=PointRef(at.index, at.tick, at.name),
            last_agreement=None if before is None else _before(self._a, at),
            components=tuple(columns),
            fields=fields,
            operation=named.operation,
            candidates=named.candidates,
            attribution=attribute(seen),
            blind_spots=spots,
        )

    def _verdict(self, result: Result, *, inputs: Sequence[InputDifference] = ()) -> Divergence:
        components = (self._a.ending or {}).get("components", {})
        environment = diff_fingerprints(self._a.environment, self._b.environment)
        return Divergence(
            a=self._path_a,
            b=self._path_b,
            result=result,
            predicate=self._a.setup.predicate,
            subsystems=sorted({*components, "output", "streams"}),
            input_differences=inputs,
            surroundings=[(factor.name, factor.a, factor.b) for factor in self._factors],
            environment=[row.to_json() for row in environment],
            evidence=self._evidence,
            caveats=self._caveats,
            remedies=self._remedies,
            next=[f"twice trace RECORD --tick {max(-1, self._a.tick - 1)} -o FILE"]
            if result not in {"same", "localised", "candidates"}
            else [f"twice diagnose --traces {self._path_a} {self._path_b} --json"],
        )


def _window(file: TraceFile) -> str:
    """The window in words: runs that end in one tick have other compare-points there."""
    names = ", ".join(point.name for point in file.points if point.tick == file.tick)
    return f"tick {file.tick} with the compare-points {names}"


def _first_apart(a: TraceFile, b: TraceFile) -> int | None:
    """Place of the first compare-point that differs, or None."""
    return next((place for place in range(len(a.points)) if _columns(a, b, place)), None)


def _columns(a: TraceFile, b: TraceFile, place: int) -> tuple[str, ...]:
    """Judged columns that differ at a point; a file does not tell which have a tolerance."""
    one, two = a.points[place].digests, b.points[place].digests
    return tuple(compare_digests(one, two, a.setup.predicate, {}))


def _before(file: TraceFile, at: TracedPoint) -> PointRef | None:
    """The last point of the file before one."""
    earlier = [point for point in file.points if point.index < at.index]
    if not earlier:
        return None
    return PointRef(earlier[-1].index, earlier[-1].tick, earlier[-1].name)


def _served(file: TraceFile, repeat: int, plan: Plan) -> Trace:
    """What a file answers to a plan: what it holds, and of the rest nothing."""
    if repeat >= REPEATS:
        return Trace(caveats=("a trace file holds two executions; a third was not to be had",))
    execution = file.executions[repeat]
    if isinstance(plan, FlowPlan):
        return execution.flow
    wanted = frozenset(plan.points)
    seen = [each for each in execution.samples.samples if (each.lane, each.index) in wanted]
    return replace(execution.samples, samples=tuple(seen))


def _held(file: TraceFile, alone: bool, side: str) -> frozenset[Point]:
    """Events whose state a file holds, in the execution that stands for a side."""
    execution = file.executions[1 if alone and side == "b" else 0]
    return frozenset((sample.lane, sample.index) for sample in execution.samples.samples)
