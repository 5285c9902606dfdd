"""A substituted action in the form that the environment expects.

A branch may give an action as it was typed: a number, a list. It becomes what the program's own
action was (its dtype, its shape, its Python type) and must lie in the action space.

Invariant: an action that the program decided reaches the environment untouched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from twice.errors import UsageError


def fitted(value: Any, own: Any, space: gymnasium.Space[Any], name: str) -> Any:
    """A substituted action, shaped like the one it replaces.

    Args:
        value: what the branch gave.
        own: what the program decided; its dtype and shape are expected.
        space: where it must lie.
        name: of the input, for the error.

    Raises:
        UsageError: E-USE-001, when it cannot be made to fit or lies outside of the space.
    """
    try:
        action = _like(value, own)
        inside = bool(space.contains(action)) or not space.contains(own)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise _refused(value, space, name) from error
    if not inside:
        raise _refused(value, space, name)
    return action


def _like(value: Any, own: Any) -> Any:
    if isinstance(own, np.ndarray):
        given = np.asarray(value)
        array = given.astype(own.dtype)
        if own.dtype.kind in "iu" and not np.array_equal(array, given):
            raise ValueError("an integer action is expected")
        return np.full(own.shape, array) if array.ndim == 0 else array.reshape(own.shape).copy()
    if isinstance(own, (np.generic, bool, int, float)):
        scalar = type(own)(value)
        if scalar != value and not isinstance(own, (float, np.floating)):
            raise ValueError("an integer action is expected")
        return scalar
    if isinstance(own, Mapping):
        return {key: _like(value[key], own[key]) for key in own}
    if isinstance(own, (list, tuple)):
        if len(value) != len(own):
            raise ValueError("as many parts are expected")
        return type(own)(_like(a, b) for a, b in zip(value, own, strict=True))
    return value


def _refused(value: Any, space: gymnasium.Space[Any], name: str) -> UsageError:
    return UsageError(
        f"The input {name!r} was substituted by {value!r}, which is no action of this environment.",
        f"Expected a value in {space}.",
        f"For example: --input {name}=... with numbers of that shape.",
        name=name,
    )
