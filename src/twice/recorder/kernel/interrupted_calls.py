"""Calls that a signal interrupts while a keeper looks at them, and that no signal would interrupt otherwise.

Python calls again what a signal interrupts (PEP 475), but not what no local file system interrupts: listing a
folder, making, renaming and removing. The kernel gives such a call up before the keeper lets it proceed, so it
has not happened.

Not for: calls of code other than Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def retry_interrupted(call: Callable[P, T]) -> Callable[P, T]:
    """Return a function that calls again whenever a signal interrupted it.

    Handlers of signals run in between; what they raise ends it.
    """

    @wraps(call)
    def retry(*args: P.args, **options: P.kwargs) -> T:
        while True:
            try:
                return call(*args, **options)
            except InterruptedError:
                pass

    return retry
