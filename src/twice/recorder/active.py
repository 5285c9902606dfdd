"""The session that governs this process now, for code that has no ``run`` at hand.

Invariant: at most one session governs a process.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from twice.errors import SessionMisuse
from twice.recorder.effects.calls import governed_call
from twice.recorder.session import Session

P = ParamSpec("P")
T = TypeVar("T")
_active: list[Session] = []


def enter(session: Session) -> None:
    """Let a session govern this process.

    Raises:
        SessionMisuse: E-REPLAY-002, when another one does.
    """
    require_none()
    _active.append(session)


def require_none() -> None:
    """Refuse to begin a run where another one is under way.

    Raises:
        SessionMisuse: E-REPLAY-002.
    """
    if _active:
        raise SessionMisuse(
            "A run is being recorded in this process already.",
            "Expected one run at a time in one process.",
            "End the first: leave its with-block.",
        )


def leave(session: Session) -> None:
    """End a session's government."""
    if session in _active:
        _active.remove(session)


def session() -> Session | None:
    """Return the session that governs this process, or None."""
    return _active[0] if _active else None


def effect(function: Callable[P, T]) -> Callable[P, T]:
    """Declare a function to be an effect: a model call, a C library, a device.

    Inside a run its result is recorded and, in replay, served without calling it. Outside of a run
    it is the plain function.

    Args:
        function: arguments and result must have a canonical form.

    Raises:
        EffectRefused: E-EFFECT-002, from the call, when they have none.
        EffectMismatch: E-EFFECT-001, from the call, in replay, when it differs from the record.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def governed(*args: P.args, **kwargs: P.kwargs) -> T:
        current = session()
        if current is None:
            return function(*args, **kwargs)
        result: Any = governed_call(current.wiring.layer, name, function, *args, **kwargs)
        return result  # type: ignore[no-any-return]

    return governed
