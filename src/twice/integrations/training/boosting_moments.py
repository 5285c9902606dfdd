"""Moments of a training with XGBoost or LightGBM: each round of boosting.

XGBoost draws its samples from the seed and the number of the round that it is given, which begins at 0 again in a
training that goes on.

Invariant: ``update`` is called as the library called it.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twice.diagnosis.resume.moments import Moments


def watch(moments: Moments, module: ModuleType) -> None:
    """Watch the rounds of every booster."""
    own = module.Booster.update

    @functools.wraps(own)
    def update(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not moments.counts_here():
            return own(self, *args, **kwargs)
        number = kwargs.get("iteration", args[1] if len(args) > 1 else None)
        moments.reach("round", lambda: {"iteration": number})
        result = own(self, *args, **kwargs)
        moments.step(self)
        return result

    module.Booster.update = update
