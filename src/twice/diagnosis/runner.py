"""Traces windows of two runs, opened earlier and earlier until the operation lies inside of one.

For: a difference that stands there already at the first event of a window, seen or in an object that nobody can
look into. Before a longer window is traced, its first event alone is looked at: where the difference stands there
too, nothing in that window made it, and a still longer one is tried. The last opening is always traced.

Not for: choosing where a window closes (``diagnose``), or what a trace tells (``localization``).

Invariant: an opening is left out only when the difference was seen at its first event on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from twice.diagnosis.executions import FIRST, SECOND, SHIFTED, Side, Window
from twice.diagnosis.line_judgement import explains_itself
from twice.diagnosis.localization.locate import TraceCall, locate
from twice.diagnosis.localization.result import Located, Unlocated
from twice.diagnosis.tracing.trace import Plan, SamplePlan, Trace
from twice.foundation.dataclass import dataclass
from twice.recorder.environment.surroundings import Surroundings
from twice.worker.concurrency import run_concurrently

_OPENINGS: Final = (1, 4, 32, 256)
"""How many compare-points before its last one a window opens; at last before the program."""


@dataclass(frozen=True)
class Runner:
    """What executes the two sides of a localisation.

    Attributes:
        a: side ``a``.
        b: side ``b``; the same side again, where a run that does not reproduce itself is compared with itself.
        given: surroundings in which side a stands for side b, or None for b's own.
    """

    a: Side
    b: Side
    given: Surroundings | None = None

    @property
    def is_alone(self) -> bool:
        """Whether both sides are one."""
        return self.a is self.b

    def trace(self, window: Window, label: str, repeat: int, plan: Plan) -> Trace:
        """Execute one side of a window under a plan."""
        is_b = label == "b"
        side = self.b if is_b and self.given is None else self.a
        fork_of = FIRST
        if self.is_alone and is_b:
            fork_of = SECOND
        elif repeat:
            # Noise is what differs from another process, not from another fork of one. Of two sides that are forks of
            # one, nothing else can differ than the program's own objects; otherwise one side shows what else does.
            is_one_process = self.given is None and self.a.shares_process(self.b)
            fork_of = SHIFTED if is_b or is_one_process else SECOND
        executed = side.execute(window, plan, self.given if is_b else None, fork_of=fork_of)
        assert executed.trace is not None, "an execution under a plan gives a trace"
        return executed.trace

    def openings(self, window: Window) -> list[Window]:
        """List the same window, opened earlier and earlier, at last before everything."""
        earliest = max(self.a.earliest, self.b.earliest)
        firsts = [max(window.last - back, earliest) for back in (*_OPENINGS, window.last + 1)]
        return [replace(window, first=first) for first in dict.fromkeys(firsts)]


def locate_operation(
    runner: Runner, window: Window, tracked: Sequence[str], progress: Callable[[str], None]
) -> Located | Unlocated:
    """Locate the operation in the first opening whose window contains it, or else in the last.

    Raises:
        ProgramFailed: E-PROGRAM-003, an execution died.
    """
    # Of one side alone nothing is noise, and nothing is left out.
    repeats = 1 if runner.is_alone else 2
    openings = runner.openings(window)
    at, last = 0, len(openings) - 1
    while True:
        progress(f"tracing from after compare-point {openings[at].first}")
        located = locate(partial(runner.trace, openings[at]), tracked=tracked, repeats=repeats)
        if at == last:
            return located
        # It was there when the window opened, or it may be in something that nobody can look into.
        if isinstance(located, Located) and not (
            located.before_window or (located.unseen and not explains_itself(located))
        ):
            return located
        at += 1
        if isinstance(located, Located) and repeats > 1:
            while at < last and _stands_at_start(partial(runner.trace, openings[at]), located):
                at += 1


def _stands_at_start(trace: TraceCall, located: Located) -> bool:
    """Whether what differed at the first event of a shorter window does so in this one, too."""
    paths = [
        path
        for row in located.candidates
        if row.before_window and row.reaches_tracked
        for path in row.paths
    ]
    plan = SamplePlan(((located.thread, 0),))
    traces = run_concurrently([partial(trace, side, 0, plan) for side in ("a", "b")])
    firsts = [each.samples[0] for each in traces if each.samples]
    if not paths or len(firsts) < 2 or any(each.position.event != "start" for each in firsts):
        return False
    one, two = firsts
    return all(one.digests.get(path) != two.digests.get(path) for path in paths)
