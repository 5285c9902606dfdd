"""What every kind of stream offers the registry: a lean position, a public state, a way back.

Invariant: ``write(read())`` changes nothing, and works in place, so that every alias of the
generator rewinds with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from twice.errors import StreamReseeded, StreamShared, StreamStateRefused


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
        """Give the public state as plain values, with its ``kind``."""

    @abstractmethod
    def write(self, state: Mapping[str, object]) -> None:
        """Put a state back, in place.

        Raises:
            StreamStateRefused: E-RNG-004, when the state does not fit.
        """

    def source(self) -> object:
        """Give the object that holds the state: two that share it have one position."""
        return self.generator

    def position(self) -> bytes:
        """Give the whole position, views and moving part."""
        return b"".join((*self.views, self.moving() if self.moving else b""))


def sharing_refused(name: str, what: str) -> StreamShared:
    """Make the error for a stream that would get a second owner."""
    return StreamShared(
        f"The stream {name!r} was {what}.",
        "A stream has one owner: two that draw from it depend on each other's order.",
        f"Take a stream of its own for the other owner, such as {name + '/copy'!r}.",
        name=name,
    )


def reseeding_refused(name: str) -> StreamReseeded:
    """Make the error for a stream that would get another seed."""
    return StreamReseeded(
        f"The stream {name!r} was given a new seed.",
        "A stream keeps the seed that its name derives, for the whole run.",
        f"Take another name for fresh numbers, such as {name + '/2'!r}.",
        name=name,
    )


def state_refused(why: str, kind: str) -> StreamStateRefused:
    """Make the error for a state that does not fit a generator."""
    return StreamStateRefused(
        f"The stored position {why}.",
        f"A generator of kind {kind!r} takes back what it gave.",
        "Restore it into the run that recorded it, with the same stream under the same name.",
        kind=kind,
    )
