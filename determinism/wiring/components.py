# Laid down by twice scaffold from sheet 04; owned by it: change the sheet, or eject the file.
"""The components of 04: each says its state, and takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    import twice

COMPONENTS: Final = ("checker", "names", "tree", "values")


@runtime_checkable
class Component(Protocol):
    """What is tracked."""

    def state(self) -> object:
        """Give plain values and arrays: all that the future depends on."""

    def restore(self, state: Any, /) -> None:
        """Become what ``state`` gave."""


T = TypeVar("T", bound=Component)


def track(run: twice.Run, name: str, target: T) -> T:
    """Track a component that the specification has."""
    if name not in COMPONENTS:
        raise LookupError(f"sheet 04 has no component {name!r}")
    if not isinstance(target, Component):
        raise TypeError(f"component {name!r} lacks state() or restore(state)")
    return run.track(name, target)
