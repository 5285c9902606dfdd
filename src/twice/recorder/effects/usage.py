"""What a process has used: time, memory, faults.

Covered: ``resource.getrusage``, recorded with whose usage was asked for.

Not covered: limits (``getrlimit``), which are the machine's and stay as they are.

Invariant: an answer has the type that the real function gives.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch


def patches(layer: EffectLayer, resource: Any) -> list[Patch]:
    """Return the patches of ``resource``, once it is loaded."""
    real: Callable[[int], Any] = resource.getrusage

    def getrusage(who: int, /) -> Any:
        asker = _getframe(1).f_code
        answer = layer.ask(ops.RUSAGE, lambda: tuple(real(who)), asker, int(who))
        return resource.struct_rusage(answer)

    return [Patch(resource, "getrusage", getrusage, lambda read: read(resource.RUSAGE_SELF))]
