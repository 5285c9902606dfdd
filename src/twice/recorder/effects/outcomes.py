"""How a call ended, as plain values that a record can hold, and given again from there.

A function returns or raises, and either is its result. An exception is kept as the place of its type
and its arguments; an ``OSError`` with its error number, text and file names, from which Python makes
the right subclass again.

Not for: tracebacks, causes and notes of an exception, nor attributes that are not among its
arguments.

Invariant: nothing is imported to give an outcome again; an unknown type becomes ``EffectFailed``.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable
from typing import Any

from twice.errors import EffectRefused, SimulationRefused
from twice.recorder.kernel.paths import escape_path, unescape_path

RETURNED, RAISED = "returned", "raised"
Outcome = tuple[str, Any]


class EffectFailed(RuntimeError):
    """Stands in replay for an exception whose type is not loaded."""


def outcome_of(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Outcome:
    """Call a function; ``("returned", value)`` or ``("raised", (module, class, arguments))``.

    The value is as it was returned: whether it has a canonical form is the caller's to see.
    """
    try:
        return (RETURNED, function(*args, **kwargs))
    except (EffectRefused, SimulationRefused):
        raise  # Said by what records it, not by what is recorded.
    except Exception as error:  # noqa: BLE001  (whatever it raises is its result)
        return raised(error)


def raised(error: Exception) -> Outcome:
    """Build the outcome of an exception: the place of its type, and its arguments."""
    kind, arguments = type(error), tuple(map(_plain, error.args))
    if isinstance(error, OSError) and error.errno is not None and len(error.args) == 2:
        files = () if error.filename is None else (_path(error.filename),)
        if error.filename2 is not None:
            files = (*files, None, _path(error.filename2))
        arguments = (error.errno, error.strerror, *files)
    return (RAISED, (kind.__module__, kind.__qualname__, arguments))


def given(outcome: object) -> Any:
    """Return or raise the content of an outcome, live and recorded alike."""
    assert isinstance(outcome, tuple), "an outcome is how a call ended and with what"
    how, value = outcome
    if how == RETURNED:
        return value
    raise exception(*value)


def exception(module: str, qualname: str, args: tuple[Any, ...]) -> Exception:
    """Rebuild the recorded exception: a builtin one, or one whose type is already loaded."""
    kind: Any = builtins if module == "builtins" else sys.modules.get(module)
    for part in qualname.split("."):
        kind = getattr(kind, part, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        if issubclass(kind, OSError):
            args = (
                *args[:2],
                *(unescape_path(each) if isinstance(each, str) else each for each in args[2:]),
            )
        try:
            return kind(*args)
        except (TypeError, ValueError):
            pass
    return EffectFailed(f"{module}.{qualname}: {', '.join(map(str, args))}")


def _path(name: Any) -> Any:
    found = os.fspath(name) if isinstance(name, os.PathLike) else _plain(name)
    return escape_path(found) if isinstance(found, str) else found


def _plain(part: object) -> object:
    return part if isinstance(part, str | bytes | int | float | None) else repr(part)
