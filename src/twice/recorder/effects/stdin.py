"""Standard input: what a program reads from ``sys.stdin`` is recorded, and served in replay.

Covered: ``read``, ``readline``, ``readlines`` and iteration of ``sys.stdin``, the same of
``sys.stdin.buffer``, ``input()``, and ``sys.stdin.isatty()``; whoever asks, because there is only one
standard input and a library that reads it reads it for the program.

Not covered: descriptor 0 read by itself (``os.read(0)``, ``open(0)``), ``sys.__stdin__``, what a
process that the program starts reads from it, and ``input()`` at a terminal in the user's own process.

Invariant: in replay nothing is read from this process's standard input.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import attrgetter
from sys import _getframe
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.outcomes import Outcome, given, outcome_of
from twice.recorder.effects.patches import Patch
from twice.recorder.effects.streams import TextReader


class StandardInput(TextReader):
    """Stands for ``sys.stdin`` during a session.

    Args:
        layer: answers its reads.
        real: what stood there before.
    """

    def __init__(self, layer: EffectLayer, real: Any) -> None:
        self._layer, self._real = layer, real
        encoding = getattr(real, "encoding", None) or "utf-8"
        super().__init__(_questions(layer, real), real.close, encoding=encoding)

    @property
    def name(self) -> Any:
        """Its name."""
        return getattr(self._real, "name", "<stdin>")

    @property
    def mode(self) -> str:
        """Return the mode in which it is open."""
        return "r"

    def fileno(self) -> int:
        """Return its descriptor; uses of the descriptor are not governed."""
        return int(self._real.fileno())

    def isatty(self) -> bool:
        """Return whether it is a terminal, or was one when the run was recorded."""
        asker = _getframe(1).f_code
        return bool(self._layer.ask(ops.STDIN_ISATTY, self._real.isatty, asker))


def patches(layer: EffectLayer) -> list[Patch]:
    """Return the patch of standard input for a session; nothing if the process has none."""
    if sys.stdin is None:  # a process may be started without one
        return []
    stand_in = StandardInput(layer, sys.stdin)
    return [Patch(sys, "stdin", stand_in, lambda stream: stream.isatty())]


def _questions(layer: EffectLayer, real: Any) -> Callable[[str, Any], Any]:
    def ask(method: str, size: int) -> Any:
        def live() -> Outcome:
            return outside(outcome_of, attrgetter(method)(real), size)  # type: ignore[no-any-return]

        actor = layer.actor()
        if actor is None:
            layer.count_ungoverned(ops.STDIN_READ)
        return given(layer.read(actor, ops.STDIN_READ, live, (method, size)))

    return ask
