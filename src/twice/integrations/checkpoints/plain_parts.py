"""Parts that need no library: dicts and lists of the program, and objects that have a ``state_dict`` of their own.

Invariant: a dict or a list stays the same object when its state is put back.
"""

from __future__ import annotations

from typing import Any

from twice.integrations.checkpoints.parts import Part, TargetPart
from twice.integrations.checkpoints.trees import MISFITS, from_tree, to_tree


class ContainerPart(TargetPart):
    """A dict or a list of plain values, such as the best loss so far."""

    def read(self) -> object:
        """Return its items as a tree."""
        return {"items": to_tree(self.target, self.name)}

    def write(self, state: object) -> None:
        """Replace its items."""
        plain: Any = state
        try:
            items = from_tree(plain["items"])
            if type(items) is not type(self.target):
                raise TypeError(f"it holds a {type(items).__name__}")
        except MISFITS as error:
            raise self.refuse(
                f"is not one of a {self.kind} ({error})", "what read() returned"
            ) from error
        self.target.clear()
        if isinstance(items, dict):
            self.target.update(items)
        else:
            self.target.extend(items)


class StateDictPart(TargetPart):
    """An object with ``state_dict`` and ``load_state_dict``: what the former returns, and nothing else."""

    def read(self) -> object:
        """Return the ``state_dict`` as a tree."""
        return to_tree(self.target.state_dict(), self.name)

    def write(self, state: object) -> None:
        """Put the state back."""
        plain: Any = state
        try:
            values = from_tree(plain)
            if values.keys() != self.target.state_dict().keys():
                raise ValueError(f"its fields are {', '.join(sorted(values))}")
            self.target.load_state_dict(values)
        except MISFITS as error:
            raise self.refuse(
                f"is not one of a {self.kind} ({error})", "the fields of its state_dict()"
            ) from error


def find_parts(name: str, target: object) -> dict[str, Part]:
    """Return the part of a dict, a list, or an object with a ``state_dict``; nothing for other objects."""
    if type(target) in (dict, list):
        return {name: ContainerPart(name, target)}
    if hasattr(target, "state_dict") and hasattr(target, "load_state_dict"):
        return {name: StateDictPart(name, target)}
    return {}
