"""What every kind of stream offers the registry: a lean position, a public state, a way back.

Positions are read at every compare-point, where a view of memory costs far less than the public state. So a position is
defined as bytes of the public state, and a view is used where it was seen to show those very bytes; elsewhere (another
interpreter, byte order or numpy) the public state is read.

Rejected: public state alone. ``random``'s and numpy's shared generators stand in every point (``benchmarks/overhead.py``
shows what a tick costs).

Invariant: ``write(read())`` changes nothing, and works in place, so that every alias of the generator rewinds with it.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping

from twice.errors import StreamStateRefused


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

    def write(self, state: Mapping[str, object]) -> None:
        """Put a state back, in place.

        Raises:
            StreamStateRefused: E-RNG-004, when the state does not fit.
        """
        if state.get("kind") != self.kind:
            raise refuse_state(f"is of kind {state.get('kind')!r}", self.kind)
        self._put(state)

    @abstractmethod
    def _put(self, state: Mapping[str, object]) -> None:
        """Put a state of this kind back, or refuse it."""

    def source(self) -> object:
        """Return the object that has the state: two streams with the same one have one position."""
        return self.generator

    def position(self) -> bytes:
        """Return the whole position, views and moving part."""
        return b"".join((*self.views, self.moving() if self.moving else b""))


def view_memory(address: int, size_bytes: int) -> memoryview:
    """Return a read-only view of memory; it keeps nothing alive."""
    return memoryview((ctypes.c_ubyte * size_bytes).from_address(address)).cast("B").toreadonly()


def follows(
    views: tuple[memoryview, ...],
    pack: Callable[[], bytes],
    draws: Iterable[Callable[[], object]] = (),
) -> bool:
    """Return whether views show the bytes of the public state, now and after each of the draws."""
    if b"".join(views) != pack():
        return False
    for draw in draws:
        draw()
        if b"".join(views) != pack():
            return False
    return True


def refuse_state(why: str, kind: str) -> StreamStateRefused:
    """Build the error for a state that does not fit a generator."""
    return StreamStateRefused(
        f"The stored position {why}.",
        f"A generator of kind {kind!r} takes back what it gave.",
        "Restore it into the run that recorded it, with the same stream under the same name.",
        kind=kind,
    )
