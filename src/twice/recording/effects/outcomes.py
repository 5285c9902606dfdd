"""How a read ended, in plain values: what it returned, or the exception that it raised.

An exception is a result like another: a folder that was not there while recording is not there in
replay. Nothing of an exception but its type's name and its arguments is kept.

Not for: what an exception's attributes hold beside its arguments (a file's name).

Invariant: no type is loaded for the sake of a record.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any

RETURNED, RAISED = "returned", "raised"


class EffectFailed(RuntimeError):
    """Stands in replay for an exception whose type is not loaded."""


def outcome_of(function: Callable[..., object], /, *args: Any) -> tuple[str, Any]:
    """Call a function; what it returned or raised, in plain values if its result is plain."""
    try:
        return (RETURNED, function(*args))
    except Exception as error:  # noqa: BLE001  (whatever it raises is its result)
        return raised(error)


def raised(error: Exception) -> tuple[str, Any]:
    """The outcome of a call that raised."""
    kind = type(error)
    plain = tuple(
        part if isinstance(part, str | int | float) else repr(part) for part in error.args
    )
    return (RAISED, (kind.__module__, kind.__qualname__, plain))


def result(outcome: object) -> Any:
    """What an outcome returned; raises again what it raised."""
    assert isinstance(outcome, tuple), "an outcome is how it ended and with what"
    how, value = outcome
    if how == RETURNED:
        return value
    raise _exception(*value)


def _exception(module: str, qualname: str, args: tuple[Any, ...]) -> Exception:
    """The recorded exception again: a builtin one, or one whose type is already loaded."""
    home = builtins if module == "builtins" else sys.modules.get(module)
    kind = getattr(home, qualname, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(*args)
        except TypeError:
            pass
    return EffectFailed(f"{module}.{qualname}: {', '.join(map(str, args))}")
