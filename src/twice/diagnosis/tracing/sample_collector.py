"""Counts the events of user code and digests the reachable state at the chosen ones.

For: a ``SamplePlan``. A lane is two numbers, how many events it had and which one is wanted next; the
event sources compare them and call ``take`` when they are equal. Nothing else is known of the events in
between, so the stack is read from the frames when a sample is taken.

After the last wanted event of a lane its thread needs no events, and after the last of all lanes none does.

Not for: finding the events (``event_sources``).

Invariant: a lane's count is the index that the event has in a flow, as long as the lane is not done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter as _perf_counter  # the real one: bound before anything is patched
from types import FrameType

from twice.diagnosis.object_digest.graphdigest import digest_layers
from twice.diagnosis.tracing.collector import (
    NO_VALUE,
    Collector,
    Roots,
    UserCode,
    do_nothing,
    name_entry,
)
from twice.diagnosis.tracing.paths import frame_prefix, returned
from twice.diagnosis.tracing.trace import Point, Position, Sample, SamplePlan, Trace
from twice.diagnosis.tracing.value_preview import show


class SampleLane:
    """How far one thread is.

    Args:
        collector: digests the state.
        name: the thread's name.
        wanted: indices of the wanted events, rising.

    Attributes:
        count: events so far, so the index of the next one.
        due: index of the next wanted event; -1 when none is left.
    """

    __slots__ = ("_collector", "_wanted", "count", "due", "name")

    def __init__(self, collector: SampleCollector, name: str, wanted: list[int]) -> None:
        self._collector, self.name = collector, name
        self.count = 0
        self.want(wanted)

    @property
    def done(self) -> bool:
        """Whether no wanted event is left."""
        return self.due < 0

    def want(self, wanted: list[int]) -> None:
        """Wait for other events than before."""
        self._wanted = iter(wanted)
        self.due = next(self._wanted, -1)

    def take(self, frame: FrameType, line: int, event: str, value: object = NO_VALUE) -> None:
        """Sample the state at the wanted event that was just counted."""
        index, self.due = self.due, next(self._wanted, -1)
        self._collector.take(self.name, index, frame, line, event, value)
        if self.done:
            self._collector.on_lane_done()


class SampleCollector(Collector[SampleLane]):
    """Keeps the state at the chosen events.

    Args:
        plan: which events, and which values are shown.
        user: the user's code.
        roots: the tracked state by name; globals of a user's module as ``module:name``.
        positions: digest of the stream positions.
        own_modules: modules whose class attributes are state, asked at each sampled event.
        drawn: parts of the names of temporary files, and what stands for each; asked likewise.

    Attributes:
        on_done: called when the last wanted event of all threads was sampled.
        on_first: called before the first wanted event is; it may ask for other events (``want``).
        seconds: when each sample was taken, after the begin of the window.
    """

    def __init__(
        self,
        plan: SamplePlan,
        user: UserCode,
        roots: Roots,
        positions: Callable[[], bytes],
        own_modules: Callable[[], tuple[str, ...]],
        drawn: Callable[[], Mapping[str, str]],
    ) -> None:
        self._plan, self._roots, self._streams, self._own = plan, roots, positions, own_modules
        self._drawn = drawn
        self._left = len(set(plan.points))
        self._samples: list[Sample] = []
        self.on_done: Callable[[], None] = do_nothing
        self.on_first: Callable[[], None] = do_nothing
        self.seconds: dict[Point, float] = {}
        self._began = _perf_counter()
        super().__init__(user)

    def want(self, plan: SamplePlan) -> None:
        """Sample other events from here on; those that have passed are lost."""
        self._plan, self._left = plan, len(set(plan.points))
        self._began = _perf_counter()
        for name, lane in self.lanes.items():
            lane.want([index for index in self._wanted_in(name) if index >= lane.count])

    def ask_before_first(self, ask: Callable[[], tuple[SamplePlan, bool]]) -> None:
        """Call a function before the first sample is taken: what is wanted instead, and whether to call it again."""

        def first() -> None:
            plan, again = ask()
            self.want(plan)
            if again:
                self.on_first = first

        self.on_first = first

    @property
    def done(self) -> bool:
        """Whether every wanted event was sampled."""
        return self._left == 0

    def begin(self, frame: FrameType) -> list[FrameType]:
        """Take the first event of the window and return the user frames that stand already."""
        self._mark(frame, "start")
        return self.user.find_frames(frame)

    def end(self, frame: FrameType) -> None:
        """Take the last event of the window."""
        self._mark(frame, "stop")

    def trace(self) -> Trace:
        """Return what was kept."""
        return Trace(samples=tuple(self._samples), caveats=tuple(sorted(self.caveats)))

    def take(
        self, lane: str, index: int, frame: FrameType, line: int, event: str, value: object
    ) -> None:
        """Digest the state at an event."""
        if self.on_first is not do_nothing:
            with self.lock:  # two threads may come to their first events at once
                asked, self.on_first = self.on_first, do_nothing
            asked()
            if (lane, index) not in self._plan.points:
                return
        with self.lock:
            self._left -= 1
        self.seconds[lane, index] = _perf_counter() - self._began
        try:
            self._samples.append(self._sample(lane, index, frame, line, event, value))
        except Exception as error:  # noqa: BLE001  (raised here, it would be raised in the program)
            self.caveats[f"a state could not be read: {type(error).__name__}: {error}"] = None
        if self.done:
            self.on_done()

    def _sample(
        self, lane: str, index: int, frame: FrameType, line: int, event: str, value: object
    ) -> Sample:
        roots = dict(self._roots())
        roots["(positions)"] = bytes(self._streams())
        layers: list[Mapping[str, object]] = [roots]
        stack: list[Position] = []
        standing = self.user.find_frames(frame)
        for depth, each in enumerate(standing):
            layers.append(_locals(each, depth))
            code = each.f_code
            at = line if each is frame else each.f_lineno
            stack.append(Position(code.co_filename, code.co_qualname, at, "line"))
        if value is not NO_VALUE:
            layers.append({returned(len(standing) - 1, frame.f_code.co_qualname): value})
        graph = digest_layers(layers, own_modules=self._own(), drawn=self._drawn())
        for caveat in graph.caveats:
            self.caveats[caveat] = None
        code = frame.f_code
        return Sample(
            lane=lane,
            index=index,
            position=Position(code.co_filename, code.co_qualname, line, name_entry(code, event)),
            stack=tuple(stack),
            digests=graph.digests,
            aliases=graph.aliases,
            references=graph.references,
            shown=show(self._plan.show, graph.objects),
        )

    def _make_lane(self, name: str) -> SampleLane:
        return SampleLane(self, name, self._wanted_in(name))

    def _wanted_in(self, name: str) -> list[int]:
        # no event has a negative index, and -1 stands for none
        return sorted({index for lane, index in self._plan.points if lane == name and index >= 0})

    def _mark(self, frame: FrameType, event: str) -> None:
        lane = self.here.lane
        index = lane.count
        lane.count = index + 1
        if index == lane.due:
            top = (self.user.find_frames(frame) or [frame])[-1]
            lane.take(top, top.f_lineno, event)


def _locals(frame: FrameType, depth: int) -> dict[str, object]:
    prefix = frame_prefix(depth, frame.f_code.co_qualname)
    return {
        f"{prefix}{name}": value
        for name, value in dict(frame.f_locals).items()
        if not (name.startswith("__") and name.endswith("__"))
    }
