"""Holds a run to its floating-point profile: asked when it begins, at its compare-points, and when a thread ends.

Modes of the floating-point unit and switches of libraries are read at every compare-point. What takes longer, threads
and kernels of every loaded library, is read when the run begins and ends, when a module has been imported since, and at
every ``_CADENCE``-th point. A knob that moved stops the run at the next point, and the error names it.

Not seen: a knob that moves and is put back between two points; the mode of a thread that C code started.

Invariant: a run that ends well had its profile in force wherever it was read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from twice.errors import NumericPolicyBroken
from twice.recorder.effects.actors import outside

if TYPE_CHECKING:
    from twice.recorder.environment.knobs import Knob, KnobReading

_CADENCE: Final = 64
_ENDS: Final = ("start", "end")


class NumericGuard:
    """The profile of one session; without one it holds nothing."""

    def __init__(self, profile: str) -> None:
        self._profile = profile
        self._environ = dict(os.environ)
        self._modes: list[tuple[Knob, str]] = []
        self._modules = self._count = 0
        self._broken: NumericPolicyBroken | None = None
        self._last: list[KnobReading] = []

    def begin(self, *, is_recording: bool) -> None:
        """Refuse to begin where a knob does not hold: E-POLICY-002.

        A replay that was given other variables is an experiment of a diagnosis, and is not held.
        """
        if not self._profile:
            return
        from twice.recorder.environment.knobs import has_variables_of, list_modes

        if not is_recording and not has_variables_of(self._profile, self._environ):
            self._profile = ""
            return
        self._modes = list_modes(self._profile)
        outside(self._judge, "when the run begins")
        self._stop()

    def at_point(self, tick: int, name: str) -> None:
        """Stop a run whose profile does not hold any more: E-POLICY-002."""
        if not self._profile:
            return
        self._count += 1
        where = f"at tick {tick}" if tick >= 0 else f"at the run's {name}"
        due = name in _ENDS or len(sys.modules) != self._modules or self._count % _CADENCE == 0
        outside(self._judge if due else self._look, where)
        self._stop()

    def at_thread_end(self) -> None:
        """Look at the modes of a thread that ends; the next point stops the run where one does not hold."""
        if self._profile:
            outside(self._look, "in a thread that ended")

    def list_late(self) -> list[str]:
        """Return sentences on variables that the program set too late for their library."""
        changed = {
            name: value for name, value in os.environ.items() if self._environ.get(name) != value
        }
        if not changed:
            return []
        from twice.recorder.environment.knobs import judge_knobs

        return [
            f"the program set {row.name}={changed[row.name]}, without effect: {row.why}; "
            f"give it to the run: --env {row.name}={changed[row.name]}"
            for row in judge_knobs(changed)
            if row.name in changed and row.holds is False
        ]

    def describe(self) -> Mapping[str, object]:
        """Return what a record keeps: the profile, and every knob as it was read last; nothing without a profile."""
        rows = [row.to_json() for row in self._last]
        return {"profile": self._profile, "knobs": rows} if self._profile else {}

    def _look(self, where: str) -> None:
        from twice.recorder.environment.knob_readers import read

        for knob, wanted in self._modes:
            for place, value in read(knob.read).items():
                if value != wanted:
                    self._break(knob.name, f"{value} ({place})", wanted, where)

    def _judge(self, where: str) -> None:
        from twice.recorder.environment.knobs import judge_knobs

        self._look(where)
        self._modules = len(sys.modules)
        self._last = judge_knobs(self._environ, self._profile)
        for row in self._last:
            if row.holds is False:
                shown = f"{row.read_back or row.wanted} ({row.why})"
                self._break(row.name, shown, row.wanted, where)

    def _break(self, name: str, found: str, wanted: str | None, where: str) -> None:
        self._broken = self._broken or NumericPolicyBroken(
            f"{name} is {found} {where}, and the profile {self._profile} wants {wanted or 'none'}.",
            "Expected every knob as the profile promises it, from the run's begin to its end.",
            f"Leave {name} alone in the program, or record without --float-profile; see: twice env --float",
            knob=name,
            where=where,
            profile=self._profile,
        )

    def _stop(self) -> None:
        if self._broken is not None:
            raise self._broken
