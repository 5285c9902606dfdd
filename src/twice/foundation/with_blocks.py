"""Helpers for ``with`` blocks: close a resource at the end, or pause the cycle collector.

Invariant: an exception of the block goes on as it was.
"""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self


class Closing(ABC):
    """A context manager that calls its own ``close``, whatever happened in the block."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> object:
        """Release the resources; a second time does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@contextmanager
def gc_paused() -> Iterator[None]:
    """Keep the collector from walking objects made in the block, which all stay or all go.

    It runs again afterwards if it ran before.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
