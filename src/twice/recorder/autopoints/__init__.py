"""Compare-points in programs that never heard of twice, where a known library says what a step is.

``steps`` counts and takes them; each other module knows one library and does not import it: it is
handed the module when the program has imported it. Another library is one more row in ``KNOWN``.

Invariant: a program without these libraries runs as if this package were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from twice.recorder.autopoints import environments, optimisers
from twice.recorder.autopoints.steps import AutoSteps, Undo

KNOWN: Mapping[str, Callable[[AutoSteps, ModuleType], Undo]] = {
    "gymnasium.core": environments.watch_envs,
    "gymnasium.vector.vector_env": environments.watch_vectors,
    "torch.optim.optimizer": optimisers.watch,
}
"""Module -> what is done once it was imported; called with the steps and the module."""

__all__ = ["KNOWN", "AutoSteps"]
