"""What somebody types unseen: asked by ``getpass`` while recording, never in replay, and never written down.

Covered: ``getpass.getpass``, by the program or a library, from a terminal or from standard input.

What it asks with on standard error is written there again in replay.

Not covered: terminals that are read in another way (``/dev/tty`` opened by hand, ``curses``).

Invariant: the record holds stars, as many as what was typed has bytes.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stderr
from types import ModuleType
from typing import Any, TextIO, cast

from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.outcomes import RETURNED, Outcome, given, outcome_of
from twice.recorder.effects.patches import Patch


def patches(layer: EffectLayer, module: ModuleType) -> list[Patch]:
    """Return the patches of ``getpass``, once it is loaded."""
    real = module.getpass

    def getpass(prompt: str = "Password: ", stream: Any = None, **options: Any) -> str:
        typed: list[Outcome] = []

        def live() -> object:
            errors = _Tee(sys.stderr)
            with redirect_stderr(cast(TextIO, errors)):
                outcome = outside(outcome_of, real, prompt, stream, **options)
            typed.append(outcome)
            if outcome[0] == RETURNED:
                outcome = (RETURNED, layer.redaction.hide_typed(outcome[1], ops.GETPASS.name))
            return (*outcome, errors.written)

        actor = layer.actor()
        if actor is None:
            layer.count_ungoverned(ops.GETPASS)
            return str(real(prompt, stream, **options))
        *told, written = cast(
            tuple[str, Any, str], layer.read(actor, ops.GETPASS, live, str(prompt))
        )
        if not typed and written and sys.stderr is not None:
            sys.stderr.write(written)
        return str(given(typed[0] if typed else tuple(told)))

    return [Patch(module, "getpass", getpass)]


class _Tee:
    """Keeps what is written to a stream, and lets it through."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream, self.written = stream, ""

    def write(self, text: str) -> int:
        """Write a text where it was meant to go."""
        self.written += text
        return len(text) if self._stream is None else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
