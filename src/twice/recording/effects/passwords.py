"""What somebody types unseen: asked by ``getpass`` while recording, never in replay, and never written down.

Covered: ``getpass.getpass``, by the program or a library, from a terminal or from standard input.

Not covered: terminals that are read in another way (``/dev/tty`` opened by hand, ``curses``).

Invariant: the record holds stars, as many as what was typed has bytes.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from twice.recording.effects import ops
from twice.recording.effects.actors import outside
from twice.recording.effects.layer import EffectLayer
from twice.recording.effects.outcomes import RETURNED, given, outcome_of
from twice.recording.effects.patches import Patch


def patches(layer: EffectLayer, module: ModuleType) -> list[Patch]:
    """What stands in ``getpass`` during a session, once it is loaded."""
    real = module.getpass

    def getpass(prompt: str = "Password: ", stream: Any = None, **options: Any) -> str:
        typed: list[str] = []

        def live() -> object:
            outcome = outside(outcome_of, real, prompt, stream, **options)
            if outcome[0] != RETURNED:
                return outcome
            typed.append(outcome[1])
            return (RETURNED, layer.redaction.typed(outcome[1], ops.GETPASS.name))

        actor = layer.actor()
        if actor is None:
            layer.count_ungoverned(ops.GETPASS)
            return str(real(prompt, stream, **options))
        told = given(layer.read(actor, ops.GETPASS, live, str(prompt)))
        return typed[0] if typed else str(told)

    return [Patch(module, "getpass", getpass)]
