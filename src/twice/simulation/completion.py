"""``asyncio.as_completed`` over tasks that were made in the order of its arguments.

It makes a task of each coroutine on its way through a set, so that the numbers of tasks would follow from addresses. A
recorded run and a simulated loop both replace it.

Invariant: importing this does not import ``asyncio``, which most recorded programs do without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from inspect import isgeneratorfunction
from typing import Any


def in_order(module: Any) -> Callable[..., Any]:
    """Build a replacement for ``asyncio.as_completed``, which takes coroutines in their order."""
    real = module.as_completed

    def begin(fs: Any) -> Any:
        running = module.events._get_running_loop()
        if running is None or module.futures.isfuture(fs) or module.coroutines.iscoroutine(fs):
            return fs
        return [module.ensure_future(one, loop=running) for one in dict.fromkeys(fs)]

    def as_completed(fs: Iterable[Any], *, timeout: float | None = None) -> Any:
        return real(begin(fs), timeout=timeout)

    def as_completed_later(fs: Iterable[Any], *, timeout: float | None = None) -> Iterator[Any]:
        yield from real(begin(fs), timeout=timeout)

    return as_completed_later if isgeneratorfunction(real) else as_completed
