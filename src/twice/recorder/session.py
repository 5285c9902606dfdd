"""One execution of a program: its ticks, components, streams, effects and inputs.

Recording, verifying, branching and tracing are this class with other parts (``session_parts``). A resumed session
constructs the program from its top in silence, and puts the snapshot back where the loop begins.

Invariant: what a session does to the program's state does not depend on its parts.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from time import perf_counter  # The real one: bound before anything is patched.
from typing import TYPE_CHECKING, Any

from twice.errors import TickMisuse
from twice.foundation.comparison import Tolerance
from twice.foundation.encoding import encode, encode_parts
from twice.recorder.cadence import RateGuard, TickLoop
from twice.recorder.compare_points import ComparePoint, ComparePoints, is_judged
from twice.recorder.components import SCHEDULE
from twice.recorder.config import Config
from twice.recorder.inputs import Inputs
from twice.recorder.numeric_guard import NumericGuard
from twice.recorder.output import Results
from twice.recorder.record_form import LEFT, LOOP
from twice.recorder.session_parts import Resume, Wiring
from twice.recorder.setup import Setup
from twice.recorder.snapshots import STREAMS, Captured, Cursors, RollbackBuffer
from twice.recorder.states import Migration, capture_components, decode_state, restore_components

if TYPE_CHECKING:
    from twice.recorder.effects.clock import ClockPolicy
    from twice.simulation.trace import Schedule


def _make_schedule(
    setup: Setup, given: Schedule | None
) -> tuple[Schedule | None, ClockPolicy | None]:
    """Make the schedule of a simulated loop, and the clock of the run."""
    if setup.order is None:
        return None, setup.clock
    # Here, because they load asyncio, which most runs do without.
    from twice.simulation.installation import SimulatedClock
    from twice.simulation.trace import Schedule

    schedule = given or Schedule.make(setup.order, setup.seed)
    return schedule, setup.clock or SimulatedClock(schedule)


class Session:
    """One execution of a program, by its setup and the parts that it is wired with; ``Run`` has what the program calls."""

    def __init__(self, setup: Setup, wiring: Wiring) -> None:
        self.setup = setup
        self.config = Config(setup.config)
        self.wiring = wiring
        wiring.make_parts(setup, self.frame)
        self.tolerances: dict[str, Tolerance] = {}
        self.compared_within: dict[str, Tolerance] = {}
        self.inputs_position = b""
        self.inputs_last: dict[str, Any] = {}
        self.tick, self.tick_open, self.point_count = -1, False, 0
        self.muted = wiring.resume is not None
        self.schedule, self.clock = _make_schedule(setup, wiring.schedule)
        self.points = ComparePoints(
            setup.algorithm,
            {
                **({} if self.schedule is None else {SCHEDULE: self.schedule.digest}),
                "streams": wiring.streams.positions,
                "inputs": lambda: self.inputs_position,
                "effects": wiring.layer.position,
                "output": wiring.output.position,
            },
            lambda column: is_judged(column, setup.predicate, self.tolerances),
        )
        self._resume = wiring.resume
        self._next_tick = 0
        self._open_loop: weakref.ref[TickLoop] | None = None
        self.loop_number = -1
        self._loop_first = 0
        self._started = False
        self.inputs_count = 0
        self.decided = self.episode_ended = False
        self.rolled_back_to: int | None = None
        self.kept = RollbackBuffer()
        self.rate: RateGuard | None = None
        self.guard = NumericGuard(
            setup.float_profile, setup.gpu_policy, audits=setup.audit_operations
        )
        self._pending: BaseException | None = None
        self.caveats: list[str] = []
        self.migrated: list[Migration] = []
        self.results = Results()
        self.silent_reads: Mapping[str, Any] = {"strict": {}, "lenient": {}}
        self.owner = os.getpid()

    def follow(self, schedule: Schedule) -> None:
        """Belong to this process, a fork of the one that made the session, with a schedule of its own."""
        from twice.simulation.installation import SimulatedClock

        self.owner, self.schedule = os.getpid(), schedule
        if isinstance(self.clock, SimulatedClock):
            self.clock.schedule = schedule

    def next_tick(self, loop: TickLoop) -> int | None:
        """Close the open tick, and open the next one; None ends the loop."""
        self.raise_pending()
        # Weakly held: a loop that nobody holds any more is over.
        current = self._open_loop() if self._open_loop is not None else None
        if current is not None and current is not loop:
            raise TickMisuse(
                f"run.ticks() was started inside the open tick {self.tick}.",
                "Expected one loop over ticks at a time; a second one may follow the first.",
                "Use a plain loop inside a tick, and run.phase(name) for finer compare-points.",
                tick=self.tick,
            )
        if self.tick_open:
            self._close_tick("completed")
        if loop.first is None and not self._enter(loop):
            return None
        assert loop.first is not None, "an entered loop has a first tick"
        if loop.count is not None and self._next_tick - loop.first >= loop.count:
            self._end_loop(loop)
            return None
        tick = self._next_tick
        first = tick == self._loop_first and self.loop_number == 0
        due = self.setup.cadence.due(
            tick, first=first, decided=self.decided, episode_ended=self.episode_ended
        )
        self.decided = self.episode_ended = False
        if due and not self.muted and tick not in self.kept:
            self._snapshot(tick)
        self.wiring.control.before_tick(self, tick)
        self.tick, self.tick_open = tick, True
        return tick

    def leave(self, loop: TickLoop) -> None:
        """Close the open tick after the loop was left by break, return or an exception."""
        if loop.closed or self._open_loop is None or os.getpid() != self.owner:
            return
        try:
            self._end_loop(loop)
        # An iterator that is being dropped may raise nothing: the next call of the program does, or its end.
        except BaseException as error:  # noqa: BLE001
            self._pending = self._pending or error

    def _enter(self, loop: TickLoop) -> bool:
        self.loop_number += 1
        resume = self._resume
        if resume is not None and self.loop_number < resume.captured.cursors.loop:
            # This loop ended before the snapshot: only its cursors count, and its body is not executed.
            span = resume.spans[self.loop_number]
            self._next_tick = span.next_tick
            self.tick = span.next_tick - 1
            self.wiring.layer.restore(span.effects)
            self.inputs_count = span.inputs
            self.wiring.inputs.seek(span.inputs)
            loop.first, loop.closed = 0, True
            return False
        loop.first = self._loop_first = self._next_tick
        self._open_loop = weakref.ref(loop)
        if resume is not None:
            self._resume_at(resume)
            loop.first = self._loop_first
        elif not self._started:
            self.start()
        return True

    def start(self) -> None:
        """Take the point that begins the run; everything before it is construction."""
        self._started = True
        self.take("start")

    def _end_loop(self, loop: TickLoop) -> None:
        if self.tick_open:
            self._close_tick("left")
        loop.closed = True
        self._open_loop = None
        effects = self.wiring.layer.snapshot()
        cursors = (self._next_tick, effects["reads"], effects["asked"], self.inputs_count)
        self.frame(LOOP, encode(cursors))

    def _close_tick(self, how: str) -> None:
        if how != "completed":
            self.frame(LEFT, encode((self.tick, how)))
        self.tick_open = False
        to, self.rolled_back_to = self.rolled_back_to, None
        self._next_tick = self.tick + 1 if to is None else to
        if self.setup.granularity == "tick":
            self.take("tick" if to is None else "abandoned")

    def frame(self, kind: str, payload: bytes, actor: int = 0) -> None:
        """Hand something to the journal, unless the session is still catching up."""
        if not self.muted:
            self.wiring.sink.frame(kind, payload, self.tick, actor)

    def take(self, name: str) -> None:
        """Take a compare-point over all columns."""
        if self.muted or not self.wiring.in_force.points:
            return
        taken = self.points.take(self.tick, name)
        # A digest cannot be compared within a tolerance.
        for column, within in self.tolerances.items():
            if (component := self.points.components.get(column)) is not None:
                payload = encode((column, within.to_json(), component.read()))
                self.wiring.sink.value(column, payload, self.tick)
        self.hand_on(taken)

    def hand_on(self, taken: ComparePoint) -> None:
        """Pass a compare-point on, and let the control act on it."""
        self.guard.at_point(self.tick, taken.name)
        self.wiring.sink.point(taken)
        self.point_count += 1
        self.wiring.control.at_point(self, taken)

    def _snapshot(self, tick: int) -> None:
        """Capture the whole present state before a tick, for whoever has a use for it."""
        if self.setup.granularity == "snapshot":
            self.take("snapshot")
        wiring = self.wiring
        wanted = wiring.sink.wants_snapshots
        if not wanted and not wiring.may_roll_back:
            return
        began = perf_counter()
        subsystems, versions = capture_components(self.points.components)
        subsystems[STREAMS] = encode_parts(wiring.streams.snapshot())
        cursors = Cursors(
            effects=wiring.layer.snapshot(),
            inputs=self.inputs_count,
            inputs_chain=self.inputs_position,
            loop=self.loop_number,
            loop_first=self._loop_first,
            points=self.point_count,
            chain=self.points.chain,
            printed=wiring.output.count(),
        )
        algorithm = self.setup.algorithm
        captured = Captured(tick, subsystems, cursors, wiring.marks, algorithm, versions)
        if wanted:
            wiring.sink.snapshot(captured)
        if wiring.may_roll_back:
            self.kept.keep(captured)
        if self.rate is not None:
            self.rate.spent(perf_counter() - began)

    def _resume_at(self, resume: Resume) -> None:
        captured = resume.captured
        cursors = captured.cursors
        self.put_back(captured)
        self.silent_reads = self.wiring.layer.manifest()
        self.wiring.layer.restore(cursors.effects)
        self.wiring.inputs.seek(cursors.inputs)
        self.inputs_count, self.inputs_position = cursors.inputs, cursors.inputs_chain
        self.wiring.output.restart(*resume.output)
        self.points.chain = cursors.chain
        self.point_count = cursors.points
        self._next_tick = captured.tick
        self._loop_first = cursors.loop_first
        self.tick = captured.tick - 1
        self._resume, self.muted, self._started = None, False, True
        for each in (*resume.kept, captured):
            self.kept.keep(each)

    def put_back(self, captured: Captured) -> None:
        """Put back components first, then streams: a ``restore`` may draw."""
        with self.wiring.streams.restoring():
            migrated = restore_components(self.points.components, captured)
        for each in migrated:
            self.wiring.sink.pass_over(each.component)
        self.migrated += migrated
        self.caveats += map(str, migrated)
        self.wiring.streams.restore(decode_state(captured.subsystems[STREAMS]))
        self.points.forget()

    def end(self) -> BaseException | None:
        """Close everything open and take the last point, once; return the error meanwhile, if any."""
        for step in (self._end_open_loop, self._take_last, self.wiring.layer.flush_all):
            # A last state that cannot be read, by the user's code, must not cost the record its ending.
            try:
                step()
            except Exception as error:  # noqa: BLE001
                self._pending = self._pending or error
        problem, self._pending = self._pending, None
        return problem

    def close(self, ending: Mapping[str, Any]) -> dict[str, Any]:
        """Close the sink with the ending; return the whole of it, caveats included."""
        whole = {**ending, "caveats": self.caveats}
        self.wiring.sink.close(whole)
        return whole

    def _end_open_loop(self) -> None:
        if self._open_loop is not None and (loop := self._open_loop()) is not None:
            self._end_loop(loop)

    def _take_last(self) -> None:
        if self._resume is not None:
            self.caveats.append("the program ended before the tick it was to start at")
            return
        if not self._started:
            self.start()
        self.take("end")

    def disown(self) -> None:
        """Stop writing, serving and comparing in a forked child."""
        self.muted = True
        self.wiring.inputs = Inputs()
        self.wiring.layer.disown()
        self.wiring.sink.disown()

    def require_open_tick(self, what: str) -> None:
        """Refuse a call outside of a tick: E-TICK-001."""
        self.raise_pending()
        if not self.tick_open:
            raise TickMisuse(
                f"{what} was called outside of a tick.",
                "Expected a loop: for tick in run.ticks(n): ...",
                "Call it inside the loop's body.",
            )

    def raise_pending(self) -> None:
        """Raise the error that a dropped loop left behind."""
        if self._pending is not None:
            pending, self._pending = self._pending, None
            raise pending
