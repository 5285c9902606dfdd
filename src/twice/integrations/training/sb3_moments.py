"""Moments of a training with Stable-Baselines3: each rollout begins between two transitions, so its state is whole.

Invariant: ``collect_rollouts`` is called as the algorithm called it.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twice.diagnosis.resume.moments import Moments

_CLASSES = {
    "stable_baselines3.common.on_policy_algorithm": "OnPolicyAlgorithm",
    "stable_baselines3.common.off_policy_algorithm": "OffPolicyAlgorithm",
}


def watch(moments: Moments, module: ModuleType) -> None:
    """Watch the rollouts of a family of algorithms."""
    algorithm = getattr(module, _CLASSES[module.__name__])
    own = algorithm.collect_rollouts

    @functools.wraps(own)
    def collect_rollouts(self: Any, *args: Any, **kwargs: Any) -> Any:
        if moments.counts_here():
            moments.reach("rollout")
        return own(self, *args, **kwargs)

    algorithm.collect_rollouts = collect_rollouts
