"""Opens a window earlier and earlier, until the operation lies inside of it.

For: a difference that stands there already at the first event of a window, seen or in an object that nobody can
look into. Before a longer window is
traced, its first event alone is looked at: where the difference stands there too, nothing in that
window made it, and a still longer one is tried. The last opening is always traced.

Not for: choosing where a window closes (``diagnosing``) or tracing one (``locating``).

Invariant: an opening is left out only when the difference was seen at its first event on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from twice.diagnosing.executions import Window
from twice.diagnosing.line_confidence import explains_itself
from twice.diagnosing.locating.located import Located, Unlocated
from twice.diagnosing.locating.locating import TraceCall, locate
from twice.diagnosing.tracing.trace import Sample, SamplePlan
from twice.worker.concurrency import run_concurrently

Tracer = Callable[[Window], TraceCall]


def locate_opening_earlier(
    openings: Sequence[Window],
    tracer: Tracer,
    *,
    tracked: Sequence[str],
    repeats: int,
    progress: Callable[[Window], None],
) -> Located | Unlocated:
    """What ``locate`` says of the first opening whose window holds the operation, or of the last.

    Args:
        openings: windows that close at one point, each opening earlier than the one before.
        tracer: gives the trace call of a window.
        tracked: as ``locate`` takes it.
        repeats: as ``locate`` takes it; with 1, nothing is left out, since the sides are one.
        progress: called with the window that is traced next.

    Raises:
        ProgramFailed: E-PROGRAM-003, an execution died.
    """
    at, last = 0, len(openings) - 1
    while True:
        progress(openings[at])
        located = locate(tracer(openings[at]), tracked=tracked, repeats=repeats)
        if at == last or (isinstance(located, Located) and not _may_be_older(located)):
            return located
        at += 1
        if isinstance(located, Located) and repeats > 1:
            while at < last and _stands_at_the_start(tracer(openings[at]), located):
                at += 1


def _may_be_older(located: Located) -> bool:
    """Whether the difference was there when the window opened, or in something that nobody can look into."""
    return located.before_window or (bool(located.unseen) and not explains_itself(located))


def _stands_at_the_start(trace: TraceCall, located: Located) -> bool:
    """Whether what differed at the first event of a shorter window does so in this one, too."""
    paths = [
        path
        for row in located.candidates
        if row.before_window and row.reaches_tracked
        for path in row.paths
    ]
    plan = SamplePlan(((located.thread, 0),))
    traces = run_concurrently([partial(trace, side, 0, plan) for side in ("a", "b")])
    one, two = (_first(each.samples) for each in traces)
    if not paths or one is None or two is None:
        return False
    return all(one.digests.get(path) != two.digests.get(path) for path in paths)


def _first(samples: Sequence[Sample]) -> Sample | None:
    return samples[0] if samples and samples[0].position.event == "start" else None
