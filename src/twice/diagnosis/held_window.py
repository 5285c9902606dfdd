"""The parent's side of a process that is held where a window opens (``process_holder``).

Not for: runs whose executions would meet each other's files: those that start processes, and those in which
code other than Python writes.

Invariant: what a held process answers is what an execution from the top would; where that cannot be known it
gives no answer, and the caller executes from the top.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from twice.foundation.with_blocks import Closing
from twice.recorder.runrecord import RunRecord
from twice.worker.process import ForkedWorker

HELD: Final = "held"
"""What a process answers that stops where its window opens."""
_FURTHER_MAX = 8  # processes that one keeps held behind later events
_WORTH_S = 0.05  # time up to an event for which a process is held there
_MOST = 0.8  # part of that time that lies before the event


def may_be_held(record: RunRecord) -> bool:
    """Whether executions of this run leave nothing that another one, forked beside it, would find."""
    ending = record.ending
    if ending is None or record.native_writes():
        return False
    effects = ending.get("effects", {})
    asked = [name for kind in ("strict", "lenient") for name in effects.get(kind, ())]
    left = [entry["source"] for entry in ending.get("inventory", ()) if entry["count"]]
    return not any(name.startswith("process.") for name in (*asked, *left))


class HeldWindow(Closing):
    """One held process, and those that were forked from it and are held further on; a context manager.

    What lies between the opening and the first event that is asked for would be executed by every fork.
    Where it took long, a fork is held behind it, and later executions are forked from that one.

    Args:
        process: a fork that has no job yet.
        job: what it executes, up to where it is held.
        lane: of the event that it is held at; empty at the opening of the window.
        at: index of that event.

    Attributes:
        fit: whether it may be asked.
        why: what keeps it from being held, if anything does.
    """

    def __init__(
        self, process: ForkedWorker, job: Mapping[str, Any], lane: str = "", at: int = -1
    ) -> None:
        self._lock = threading.Lock()
        self._process, self._lane, self._at = process, lane, at
        self._control = process.channel.copy()
        self._seconds: dict[int, float] = {}
        self._further: list[HeldWindow] = []
        process.channel.send(job)
        answer = process.receive() or {"kind": "nothing"}
        self.fit = answer["kind"] == HELD and bool(answer["fit"])
        self.is_spent = bool(answer.get("is_spent"))
        self.why = str(answer.get("why", answer["kind"]))
        if not self.fit:
            self.close()

    def ask(self, plan: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Ask a fork of it under a plan; return None if it gives no valid answer."""
        with self._lock:
            held = self._find_further(plan)
            if held is not None and (message := held.ask(plan)) is not None:
                return message
            if not self.fit:
                return None
            try:
                with ForkedWorker(self._control) as fork:
                    fork.channel.send({"plan": plan, "holds": False})
                    message = fork.receive()
            except (BrokenPipeError, ConnectionResetError):
                message = None
            # It wrote through a file that is open, which every later fork would find changed.
            if message is None or message.get("is_spent"):
                self.fit = False
            else:
                for lane, index, seconds in message["seconds"]:
                    if lane in {"", self._lane} or not self._lane:
                        self._lane = lane
                        self._seconds[index] = seconds
            return message

    def _find_further(self, plan: Mapping[str, Any] | None) -> HeldWindow | None:
        """Return a process held further on, before every sample of a plan; make it if worthwhile."""
        points = () if plan is None else plan.get("points", ())
        if not points or {lane for lane, _ in points} != {self._lane}:
            return None
        first = min(index for _, index in points)
        passed = {at: after for at, after in self._seconds.items() if at <= first}
        # Held where most of the time is over: what is left is executed by each fork again.
        longest = max(passed.values(), default=0.0)
        if self.fit and longest > _WORTH_S:
            at = min(index for index, after in passed.items() if after >= _MOST * longest)
            if at > self._at and not any(
                held._at >= at for held in self._further if held._at <= first
            ):
                self._hold_further(at)
        fit = [held for held in self._further if held._at <= first and held.fit]
        return max(fit, key=lambda held: held._at, default=None)

    def _hold_further(self, at: int) -> None:
        plan = {"points": [[self._lane, at]], "show": []}
        with suppress(BrokenPipeError, ConnectionResetError):
            held = HeldWindow(
                ForkedWorker(self._control), {"plan": plan, "holds": True}, self._lane, at
            )
            self.fit = self.fit and not held.is_spent
            self._further.append(held)
            if len(self._further) > _FURTHER_MAX:
                self._further.pop(0).close()

    def close(self) -> None:
        """End it and what it forked; without waiting where a fork of it has not answered yet."""
        for held in self._further:
            held.close()
        self._further.clear()
        if self._lock.acquire(blocking=False):
            with suppress(BrokenPipeError, ConnectionResetError, OSError):
                self._control.send_descriptors([])
                self._process.read_keeper_report()
            self._lock.release()
        self.fit = False
        self._control.close()
        self._process.close()
