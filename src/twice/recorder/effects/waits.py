"""Waits of threads that end by themselves: how many did, how many go on, and how each ended.

What another thread does before such a wait ends, it does before it in replay too: a reply that came after a deadline
comes after it, and a wait that somebody ended in time is given the time for it. Covered:
``threading.Condition.wait``, and with it events, queues and futures; ``time.sleep``. Not covered: ``Thread.join`` and
``Lock.acquire`` with a timeout; a wait that timed out while recording and is ended earlier in replay.

Invariant: a wait that was ended by somebody is not counted.
"""

from __future__ import annotations

import threading
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.actors import Actor
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch

_PATIENCE_SECONDS = 20.0
"""How long a wait may take in replay that somebody ended while recording."""


def patches(layer: EffectLayer) -> list[Patch]:
    """Return the patches of ``threading.Condition.wait``, for a session."""
    real, waits = threading.Condition.wait, layer.owners.waits

    def wait(self: Any, timeout: float | None = None) -> bool:
        actor = None if timeout is None or timeout <= 0 else layer.actor()
        if actor is None or timeout is None:
            return real(self, timeout)
        outcome = None if layer.live or layer.source.leaves else _find_outcome(layer, actor)
        was_ended = outcome is True and waits.fit
        with waits.waiting():
            was_notified = real(self, max(timeout, _PATIENCE_SECONDS) if was_ended else timeout)
        actor.note_lenient(ops.WAITED.number, was_notified)
        waits.fit = waits.fit and outcome in {None, was_notified}
        waits.ended += not was_notified
        return was_notified

    return [Patch(threading.Condition, "wait", wait)]


def _find_outcome(layer: EffectLayer, actor: Actor) -> object:
    """Return whether somebody ended this wait in the recorded run; None if the record does not say."""
    return layer.source.lenient(ops.WAITED, lambda: None, layer.owners.find_owner(actor).key)
