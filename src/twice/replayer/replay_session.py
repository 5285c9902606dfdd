"""The read-only session: look around in a run, forwards and back, without changing anything.

``start`` validates, ``step`` and ``seek`` move, ``state`` and ``effects`` observe, ``end`` stops. Going forwards
executes the program in a process of its own, every point held against the record; going back starts
again from the nearest snapshot. Where that does not hold, or nothing would show whether it does, it starts from the top.
States that were looked at are remembered, so looking at one again executes nothing.

Invariant: a read-only session never substitutes an input and never writes a record.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from twice.errors import FileNotRebuilt, RecordOutOfRange, ReplayRefused, SessionMisuse, TwiceError
from twice.foundation.printable import pluralize
from twice.foundation.with_blocks import Closing
from twice.recorder.inputs import InputEvent, read_input
from twice.recorder.record_form import INPUT
from twice.recorder.runrecord import RunRecord
from twice.recorder.states import Migration
from twice.replayer.branch_session import BranchingSession, decode_states
from twice.replayer.located_reads import LocatedEffect
from twice.replayer.preconditions import require_rerunnable, require_same_code
from twice.replayer.replay_job import Start, exact_snapshot, job_for, start_child
from twice.worker.process import Worker

_REMEMBERED_BYTES_MAX = 256 << 20


class ReplaySession(Closing):
    """A run to look around in; a context manager.

    Attributes:
        record: the replayed record.
        tick: the next tick, whose body has not run yet; ``record.ticks`` is the end.
        informational: the code differs from the recorded one, and the user wanted to go on.
        migrated: states that the last execution found in another version than the code's, and migrated.
        incomplete: how a run left its record that began at a snapshot, where one that began at the top did not; or None.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        at: int = 0,
        informational: bool = False,
        start: Start = start_child,
    ) -> None:
        self._start = start
        self.record = RunRecord.open(path)
        self._child: Worker | None = None
        self._child_tick = -1
        self._ended = self._is_killed = self._is_restored = False
        self.migrated: list[Migration] = []
        self.incomplete: TwiceError | None = None
        self._states: OrderedDict[int, dict[str, bytes]] = OrderedDict()
        try:
            self.record.reader.fetch()
            self.record.reader.check()
            require_rerunnable(self.record)
            self.informational = bool(require_same_code(self.record, informational=informational))
            self._require(at)
        except BaseException:
            self.record.close()
            raise
        self.tick = at

    def step(self, count: int = 1) -> int:
        """Move that many ticks on; return the tick that comes next.

        Raises:
            RecordOutOfRange: E-RECORD-006, beyond the end. ReplayRefused: E-REPLAY-001, when the
            program leaves its record.
        """
        return self.seek(self.tick + count)

    def back(self, count: int = 1) -> int:
        """Go that many ticks back; as ``step`` otherwise."""
        return self.seek(self.tick - count)

    def seek(self, tick: int) -> int:
        """Move to a tick, 0 to ``record.ticks``; nothing is executed until a state is asked for."""
        self._require_open()
        self._require(tick)
        self.tick = tick
        return tick

    def state(self, component: str | None = None) -> Any:
        """Return plain values of all components, or of one, before the current tick's body.

        Raises:
            ReplayRefused: E-REPLAY-001, when the program leaves its record on the way.
        """
        self._require_open()
        encoded = self._states.get(self.tick)
        if encoded is None:
            encoded = self._states[self.tick] = self._go().ask({"do": "state"})["state"]
            # Looking around in a long run would otherwise keep every state that was ever shown.
            total = sum(len(part) for state in self._states.values() for part in state.values())
            while total > _REMEMBERED_BYTES_MAX and len(self._states) > 1:
                _, dropped = self._states.popitem(last=False)
                total -= sum(map(len, dropped.values()))
        return decode_states(encoded, component)

    def frames(self) -> dict[str, dict[str, Any]]:
        """Return the pictures that components draw before the current tick's body, by their names.

        A component draws by a method ``frame()`` that returns an array of uint8, (height, width, 3 or 4). An
        environment of Gymnasium that was made with ``render_mode="rgb_array"`` does.

        Returns:
            ``shape``: height, width, channels, and ``bytes``: in that order.

        Raises:
            ReplayRefused: E-REPLAY-001, when the program leaves its record on the way.
        """
        self._require_open()
        frames: dict[str, dict[str, Any]] = self._go().ask({"do": "frames"})["frames"]
        self._hang_up()  # to draw may move what the program goes on with
        return frames

    def effects(self, tick: int | None = None, *, most: int | None = None) -> list[LocatedEffect]:
        """Return reads of the world of a tick in the order of the record, each with the user's line that made it.

        A record holds no lines, so this executes the program through that tick in a process of its own. It begins where no
        thread, task or job lived.

        Args:
            tick: -1 for construction; the current tick by default.
            most: return no more than the first of them; None for all.

        Raises:
            RecordOutOfRange: E-RECORD-006. ReplayRefused: E-REPLAY-001, when the program leaves its record on the way.
        """
        self._require_open()
        tick = self.tick if tick is None else tick
        self._require(tick, first=-1)
        if tick == self.record.ticks:
            return []  # the end of the run has no body
        child = self._begin(tick, until=tick + 1, lines_of=(tick, most))
        return [*map(LocatedEffect.from_message, child.ask({"do": "effects"})["effects"])]

    @property
    def caveats(self) -> list[str]:
        """What restricts the state that was last asked for, as sentences."""
        found = [str(each) for each in self.migrated]
        if self.incomplete is not None:
            found.append(
                "no snapshot holds all that the run goes on with, so it was executed from the start; from a snapshot: "
                f"{self.incomplete.happened} {self.incomplete.remedy}"
            )
        return found

    def inputs(self) -> list[InputEvent]:
        """Return the inputs of the current tick as it counted, from the record."""
        after = self.record.begins_after(self.tick)
        frames = self.record.reader.tick_frames(self.tick, (INPUT,))
        return [read_input(self.tick, each.payload) for each in frames if each.point > after]

    def branch(
        self, out: str | os.PathLike[str], *, force: bool = False, sealed: bool = False
    ) -> BranchingSession:
        """Leave the record here: a session of another kind, with a record of its own."""
        self._require_open()
        return BranchingSession(
            self.record, self.tick, out, force=force, sealed=sealed, start=self._start
        )

    def kill(self) -> None:
        """Kill what executes now or next, from any thread: its caller gets an error, and can only end the session."""
        self._is_killed = True
        if (child := self._child) is not None:
            child.kill()

    def end(self) -> None:
        """Stop; a session that ended cannot be used again."""
        self._hang_up()
        if not self._ended:
            self._ended = True
            self.record.close()

    def _go(self) -> Worker:
        """Return a process whose next tick is the current one."""
        if self._child is not None and self._child_tick == self.tick:
            return self._child
        # A process cannot go back: an earlier tick is reached by a new one.
        if self._child is not None and self._child_tick < self.tick:
            after = self.record.begins_after(self.tick)
            ahead = {"do": "go", "until": self.tick, "after": after}
            return self._arrive(self._child, ahead, self.tick)
        return self._begin(self.tick, until=self.tick)

    def _begin(self, tick: int, *, until: int, **fields: object) -> Worker:
        """Return a new process that began at or before one tick, and stands before another."""
        snapshot = exact_snapshot(self.record, tick) if self.incomplete is None else None
        return self._begin_at(snapshot, until, fields)

    def _begin_at(self, snapshot: int | None, until: int, fields: Mapping[str, object]) -> Worker:
        self._hang_up()
        self._is_restored = snapshot is not None
        after = self.record.begins_after(until)
        job = job_for(self.record, "replay", snapshot=snapshot, until=until, after=after, **fields)
        child = self._child = self._start(self.record)
        if self._is_killed:
            child.kill()
        return self._arrive(child, job, until, fields)

    def _arrive(
        self,
        child: Worker,
        request: Mapping[str, Any],
        tick: int,
        fields: Mapping[str, object] = MappingProxyType({}),
    ) -> Worker:
        """Let a process go on to a tick; E-REPLAY-001 where none gets there, not even from the top."""
        try:
            message = child.ask(request)
            if message["kind"] == "at" and message["tick"] == tick:
                self._child_tick = tick
                self.migrated = [*map(Migration.from_json, message["migrated"])]
                return child
            left: TwiceError = self._explain(message, tick)
        except FileNotRebuilt as error:
            left = error
        self._hang_up()  # the process has ended: another one gives the next state
        if not self._is_restored or self._is_killed:
            raise left
        # What the program keeps outside of its components is there when all of it is executed.
        arrived = self._begin_at(None, tick, fields)
        self.incomplete = left
        return arrived

    def _explain(self, message: Mapping[str, Any], tick: int) -> ReplayRefused:
        """Return why a process did not get to a tick."""
        if message["kind"] != "failure":
            return ReplayRefused(
                f"The program ended before tick {tick}.",
                f"The record holds {pluralize(self.record.ticks, 'tick')}.",
                f"See: twice show {self.record.path}",
                tick=tick,
            )
        restores = " --restores" if self._is_restored else ""
        return ReplayRefused(
            f"The program leaves its record at {message['name']} of tick {message['tick']}: "
            f"{', '.join(message['columns'])} differ.",
            "Expected every compare-point on the way to agree.",
            f"See where and why: twice verify {self.record.path}{restores} --diagnose",
            tick=message["tick"],
        )

    def _hang_up(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None

    def _require(self, tick: int, first: int = 0) -> None:
        if not first <= tick <= self.record.ticks:
            raise RecordOutOfRange(
                f"Tick {tick} lies outside of {self.record.path}.",
                f"It holds {self.record.ticks_held}; {self.record.ticks} is its end.",
                f"See: twice show {self.record.path}",
                tick=tick,
            )

    def _require_open(self) -> None:
        if self._ended:
            raise SessionMisuse(
                "This session has ended.",
                "Expected calls between start and end.",
                "Open a new one: twice.replay(path, at=...)",
            )

    def close(self) -> None:
        """End the session, like ``end``."""
        self.end()


def replay(
    path: str | os.PathLike[str], *, at: int = 0, informational: bool = False
) -> ReplaySession:
    """Open a read-only session on a record.

    Args:
        path: the record.
        at: stand before this tick.
        informational: go on although the code differs from the recorded one.

    Raises:
        ProgramChanged: E-PROGRAM-004. ProgramNotRerunnable: E-PROGRAM-002.
        RecordOutOfRange: E-RECORD-006.
    """
    return ReplaySession(path, at=at, informational=informational)
