"""What is closed at the end of a ``with`` block, whatever happened in it.

Invariant: an exception of the block goes on as it was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """A context manager that calls its own ``close``."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> object:
        """Let go of what is held; a second time does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
