"""The verdict on two trace files: the end of the funnel without a machine to execute on.

Identity, compare-points, fields, the operation and the channel, each by the functions of the
ordinary diagnosis. Surroundings are not swapped and the window is not opened earlier; the verdict
says which trace would tell more.

Invariant: nothing is executed and no source file of this machine is read; a difference that began
where no state was written is not located.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from twice.diagnosis.attribution import Observations, attribute
from twice.diagnosis.divergence import Divergence, Result
from twice.diagnosis.executions import Executed
from twice.diagnosis.line_judgement import list_blind_spots, move_to_first_use, name_lines
from twice.diagnosis.localization.locate import locate
from twice.diagnosis.localization.result import Unlocated
from twice.diagnosis.localization.source_facts import given_sources
from twice.diagnosis.log_comparison import (
    PointRef,
    compare_digests,
    input_differences,
    root_of_column,
)
from twice.diagnosis.state_comparison import compare_states
from twice.diagnosis.surroundings_factors import list_differing_factors
from twice.diagnosis.trace_file.format import (
    TracedExecution,
    TraceFile,
    read_trace_file,
    refuse_file,
)
from twice.diagnosis.tracing.trace import FlowPlan, Plan, Trace
from twice.errors import TwiceError
from twice.foundation.environment import diff_fingerprints
from twice.foundation.next_step import NextStep


def diagnose_traces(file_a: str | os.PathLike[str], file_b: str | os.PathLike[str]) -> Divergence:
    """Say where two runs part inside one tick, from two trace files alone.

    Args:
        file_a: a file that ``write_trace`` wrote.
        file_b: another, of the same tick of a run of the same program, seed and configuration.

    Returns:
        The verdict. ``same`` is about that tick only.

    Raises:
        TraceRefused: E-TRACE-001, a file is torn, changed or foreign, or they are of two windows.
    """
    return _FileDiagnosis(str(file_a), str(file_b)).run()


class _FileDiagnosis:
    """One diagnosis: two files, and what was seen in them so far."""

    def __init__(self, path_a: str, path_b: str) -> None:
        self._path_a, self._path_b = path_a, path_b
        self._a, self._b = a, b = read_trace_file(path_a), read_trace_file(path_b)
        self._sides = {"a": a, "b": b}
        self._unsteady = [side for side, file in self._sides.items() if not file.reproduces]
        self._seen = Observations(
            factors=list_differing_factors(a.surroundings, b.surroundings),
            clock_policy=a.setup.clock != b.setup.clock,
            reads_differ=[
                name
                for name in sorted({**a.reads, **b.reads})
                if a.reads.get(name) != b.reads.get(name)
            ],
            caveats=["only what two trace files hold was compared; nothing was executed"],
        )

    def run(self) -> Divergence:
        """Identity, compare-points, fields, then the operation."""
        a, b, seen = self._a, self._b, self._seen
        if inputs := input_differences(a, b):
            return self._report("not-same-input", input_differences=inputs)
        if a.window != b.window:
            why = f"{_describe_window(b)}; {_describe_window(a)}"
            raise refuse_file(self._path_b, f"is of another window than {self._path_a}: {why}")
        # A file does not tell which columns have a tolerance.
        columns = [
            compare_digests(one.digests, two.digests, a.setup.predicate, {})
            for one, two in zip(a.points, b.points, strict=True)
        ]
        # Where a side is unsteady and no column differs, it is about the point that closes the window.
        place = next((at for at, names in enumerate(columns) if names), len(columns) - 1)
        seen.columns = columns[place]
        if not seen.columns and not self._unsteady:
            return self._report("same")
        one, two = (
            Executed(True, {}, True, file.states, file.streams, {}, None) for file in (a, b)
        )
        try:
            seen.fields = compare_states(one, two, seen.columns)
        # States of a forged file have any shape; what the traces say counts all the same.
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            seen.caveats.append(f"the states could not be compared: {type(error).__name__}")
        if place == 0 and seen.columns and not a.opens_at_start:
            seen.evidence.append(
                f"They differ already before tick {a.tick}: trace an earlier tick."
            )
        else:
            with given_sources({**b.sources, **a.sources}):
                self._locate()
        return self._report_divergence(place)

    def _locate(self) -> None:
        """Name the operation, from the flows and the states that were written down."""
        seen, opens_at_start = self._seen, self._a.opens_at_start
        executions: dict[str, tuple[TracedExecution, ...]] = {
            side: file.executions for side, file in self._sides.items()
        }
        if self._unsteady:  # the two executions of that side stand for the two sides
            one, two = executions[self._unsteady[0]]
            executions = {"a": (one,), "b": (two,)}

        def serve(side: str, repeat: int, plan: Plan) -> Trace:
            if repeat >= len(executions[side]):
                return Trace(
                    caveats=("a trace file holds two executions; a third was not to be had",)
                )
            execution = executions[side][repeat]
            if isinstance(plan, FlowPlan):
                return execution.flow
            wanted = frozenset(plan.points)
            samples = [
                each for each in execution.samples.samples if (each.lane, each.index) in wanted
            ]
            return replace(execution.samples, samples=tuple(samples))

        held = {
            side: frozenset((each.lane, each.index) for each in pair[0].samples.samples)
            for side, pair in executions.items()
        }
        components = tuple((self._a.ending or {}).get("components", self._a.states))
        # Where no column differs, a side that is not steady differs from itself anywhere.
        names = seen.columns or (*components, "output", "streams")
        tracked = [root_of_column(name, components) for name in names]
        try:
            found = locate(serve, tracked=tracked, repeats=len(executions["a"]), held=held)
        except (TwiceError, KeyError, TypeError, ValueError, IndexError) as error:
            seen.caveats.append(f"the traces could not be compared: {type(error).__name__}")
            return
        seen.caveats += found.caveats
        if isinstance(found, Unlocated):
            seen.evidence += [found.reason, *found.evidence]
            seen.surer = found.surer
            return
        seen.evidence += found.evidence
        seen.located = move_to_first_use(found) if found.before_window else found
        if found.before_window and seen.located is found and not opens_at_start:
            seen.located = None  # nothing in the window made it, or let it in

    def _report_divergence(self, place: int) -> Divergence:
        """Of runs that part at a compare-point, with everything that the files gave."""
        a, seen = self._a, self._seen
        if seen.located is not None:
            seen.blind_spots = list_blind_spots(seen.located)
        # A file holds what the user's code read, and nothing of what libraries did.
        named = name_lines(seen.located, seen.fields, library_read=False)
        result = named.result
        sides = " and ".join(self._unsteady) or (seen.located and seen.located.non_reproducing)
        if sides:
            result = "non-reproducing"
            seen.evidence.append(
                f"run {sides} did not reproduce its own record where it was traced"
            )
        refs = [PointRef(point.index, point.tick, point.name) for point in a.points[: place + 1]]
        return self._report(
            result,
            compare_point=refs[-1],
            last_agreement=refs[-2] if place else None,
            components=tuple(seen.columns),
            fields=seen.fields,
            operation=named.operation,
            candidates=named.candidates,
            attribution=attribute(seen),
            blind_spots=seen.blind_spots,
        )

    def _report(self, result: Result, **found: Any) -> Divergence:
        """Build the verdict from the facts of the files and the other findings."""
        a, seen = self._a, self._seen
        components = (a.ending or {}).get("components", {})
        step = NextStep(
            "trace an earlier tick", f"twice trace RECORD --tick {max(-1, a.tick - 1)} -o FILE"
        )
        if result in {"same", "localised", "candidates"}:
            again = f"twice diagnose --traces {self._path_a} {self._path_b} --json"
            step = NextStep("read all of it", again)
        return Divergence(
            a=self._path_a,
            b=self._path_b,
            result=result,
            predicate=a.setup.predicate,
            subsystems=sorted({*components, "output", "streams"}),
            surroundings=[(factor.name, factor.a, factor.b) for factor in seen.factors],
            environment=diff_fingerprints(a.environment, self._b.environment),
            evidence=seen.evidence,
            caveats=seen.caveats,
            remedies=[seen.surer] if seen.surer else [],
            next=[step],
            **found,
        )


def _describe_window(file: TraceFile) -> str:
    """Describe the window in words: runs that end in one tick have other compare-points there."""
    names = ", ".join(point.name for point in file.points if point.tick == file.tick)
    return f"tick {file.tick} with the compare-points {names}"
