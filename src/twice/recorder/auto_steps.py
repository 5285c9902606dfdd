"""Steps of a program's libraries as its ticks, each with a compare-point, in programs that do not know twice.

A step that a library reports ends a tick: everything that the program did since the step before it, and the step
itself. The point at its end compares what the step gave, and streams, reads, inputs and output besides. Every step up
to 10,000 has a point, every tenth up to 100,000, every hundredth up to a million, and so on: a run of any length has a
few ten thousand.

Not counted: steps on other threads and in processes that the program forks; the first are a caveat.

Invariant: whether a step has a point depends on its number alone. A program without these libraries runs as if this
were not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from threading import get_ident
from types import ModuleType
from typing import Final

from twice.errors import EncodingRefused
from twice.foundation.encoding import encode
from twice.recorder.components import Component
from twice.recorder.imports import ImportWatch
from twice.recorder.session import Session

Undo = Callable[[], None]

WATCHED: Final[Mapping[str, str]] = {
    "gymnasium.core": "twice.integrations.gymnasium_steps",
    "gymnasium.vector.vector_env": "twice.integrations.gymnasium_steps",
    "torch.optim.optimizer": "twice.integrations.torch_steps",
}
"""Module of a library -> module that knows its steps, loaded once the first was imported.

Its ``watch(steps, module)`` returns what undoes it. Names, because nothing below imports an integration."""

_FORM = "automatic"
_EVERY_STEP_DIGITS = 4
_PLAIN = frozenset({bool, int, float})
_NUMBERS = frozenset({"float32", "float64", "int64", "int32", "uint8", "bool"})


def has_point(step: int) -> bool:
    """Return whether a step, counted from 0, has a compare-point."""
    stride: int = 10 ** max(0, len(str(step)) - _EVERY_STEP_DIGITS)
    return step % stride == 0


class LatestStep:
    """What a library's latest step gave: the target of one component.

    Attributes:
        state: plain values and arrays, by name.
        moved: whether a step was made since the state was digested.
        last: returns the state for the last compare-point of the run; None for that of the latest step.
    """

    def __init__(self, last: Callable[[], Mapping[str, object]] | None) -> None:
        self.state: dict[str, object] = {}
        self.moved, self.last = True, last

    def list_changed(self) -> list[str] | None:
        """Return None, which means all keys, after a step, and no keys without one."""
        moved, self.moved = self.moved, False
        return None if moved else []


class AutoSteps:
    """Counts the steps of one governed session of a whole program and takes their points."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._thread = get_ident()
        self._latest: dict[str, LatestStep] = {}
        self._undo: list[Undo] = []
        self._watch = ImportWatch(dict.fromkeys(WATCHED, self._begin))
        self._opened = False
        self._elsewhere: set[str] = set()
        self._left_out: set[str] = set()

    def watch(self) -> None:
        """Watch the steps of known libraries, now or when they are imported."""
        self._watch.install()

    def _begin(self, module: ModuleType) -> None:
        self._undo.append(import_module(WATCHED[module.__name__]).watch(self, module))

    def counts(self, library: str) -> bool:
        """Return whether a step that begins here and now counts as a step of the run."""
        if os.getpid() != self._session.owner:
            return False
        if get_ident() == self._thread:
            return True
        if library not in self._elsewhere:
            self._elsewhere.add(library)
            self._session.caveats.append(
                f"steps of {library} on other threads than the main one are not compared"
            )
        return False

    def begin(self) -> None:
        """Start the run at its first step; everything before that is construction."""
        if not self._opened:
            self._opened = True
            self._session.start()
            self._open()

    def latest(
        self, library: str, *, last: Callable[[], Mapping[str, object]] | None
    ) -> LatestStep:
        """Return the component of a library, and make it at the library's first step."""
        if library not in self._latest:
            step = self._latest[library] = LatestStep(last)
            changed = None if last is None else step.list_changed
            self._session.points.add(
                Component(library, step, lambda: step.state, None, changed, _FORM)
            )
        return self._latest[library]

    def to_plain(self, library: str, name: str, value: object) -> object:
        """Return the value if it can be compared; else add a caveat and return None."""
        if type(value) in _PLAIN or (
            type(value).__module__ == "numpy" and getattr(value, "dtype", None) in _NUMBERS
        ):
            return value
        kind = f"{library} {name} of type {type(value).__qualname__}"
        if kind in self._left_out:
            return None
        try:
            encode(value)
        except EncodingRefused:
            self._left_out.add(kind)
            self._session.caveats.append(f"not compared, it has no canonical form: {kind}")
            return None
        return value

    @property
    def takes_point(self) -> bool:
        """Return whether the step that ends now has a point."""
        return has_point(self._session.tick)

    def end(self) -> None:
        """End a step: take its point, and open the next tick."""
        if self.takes_point:
            self._session.take("tick")
        self._open()

    def finish(self) -> None:
        """End the program: stop counting steps, and give the last tick to the last step."""
        while self._undo:
            self._undo.pop()()
        self._watch.remove()
        if not self._opened or os.getpid() != self._session.owner:
            return
        self._session.tick -= 1
        for latest in self._latest.values():
            if latest.last is not None:
                latest.state, latest.moved = dict(latest.last()), True

    def _open(self) -> None:
        session = self._session
        session.tick += 1
        session.wiring.control.before_tick(session, session.tick)
