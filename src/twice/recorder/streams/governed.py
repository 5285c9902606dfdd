"""What every kind of stream offers the registry: a lean position, a public state, a way back.

Invariant: ``write(read())`` changes nothing, and works in place, so that every alias of the
generator rewinds with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping


class Governed(ABC):
    """One generator under a name.

    Attributes:
        kind: what it is, for example ``numpy`` or ``torch:cpu``; a state of another kind is refused.
        generator: the object that the program draws from.
        views: raw memory that is the position, or part of it.
        moving: gives the rest of the position when asked; None where the views say it all.
    """

    kind: str
    generator: object
    views: tuple[memoryview, ...] = ()
    moving: Callable[[], bytes] | None = None

    @abstractmethod
    def read(self) -> dict[str, object]:
        """Return the public state as plain values, with its ``kind``."""

    @abstractmethod
    def write(self, state: Mapping[str, object]) -> None:
        """Put a state back, in place.

        Raises:
            StreamStateRefused: E-RNG-004, when the state does not fit.
        """

    def source(self) -> object:
        """Return the object that has the state: two streams with the same one have one position."""
        return self.generator

    def position(self) -> bytes:
        """Return the whole position, views and moving part."""
        return b"".join((*self.views, self.moving() if self.moving else b""))
