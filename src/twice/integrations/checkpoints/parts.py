"""Parts: the named pieces of a training's state, and how they are found in the objects of a program.

What the state of a library's objects is, the module of that library in this folder says. It is imported when an object
of that library comes.

Invariant: what ``read`` returns is a copy of plain values, and ``write`` of it leads to the same ``read``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from twice.errors import CheckpointUnfit

if TYPE_CHECKING:
    from numpy import ndarray

ADAPTERS: Final = {
    "random": "generator_parts",
    "numpy": "generator_parts",
    "torch": "torch_parts",
    "stable_baselines3": "sb3_parts",
    "sb3_contrib": "sb3_parts",
    "lightning": "lightning",
    "transformers": "huggingface",
    "xgboost": "boosting_parts",
    "lightgbm": "boosting_parts",
    "sklearn": "sklearn_parts",
    "builtins": "plain_parts",  # last in every order of classes: what no library knows
}
"""Top-level module of a class -> module of this folder that knows its objects."""


@runtime_checkable
class Part(Protocol):
    """One named piece of the state of a training.

    A state is a plain tree: dicts with text as keys, lists, None, bool, int, float, text, bytes, and numpy arrays of
    numbers.
    """

    def read(self) -> object:
        """Return the state as a plain tree: a copy, without views of memory that the training goes on to change."""

    def write(self, state: object) -> None:
        """Put a state back in place.

        Raises:
            CheckpointUnfit: E-CHECKPOINT-003: names, shapes, dtypes or classes do not fit. Nothing was changed.
        """


class TargetPart:
    """A part that is an object of a library: the base of the adapters' parts.

    Args:
        name: the name of the part in the checkpoint, such as ``model``.
        target: the object whose state it is.
    """

    device: str = ""
    """Where the tensors of the state lie, such as ``cpu``; empty for a state without tensors."""
    is_renewed: bool = False
    """Whether ``save`` puts the state that it wrote back into the object, which has more state than can be read."""

    def __init__(self, name: str, target: Any) -> None:
        self.name = name
        self.target = target

    @property
    def kind(self) -> str:
        """The class of the object, without its module: a script's classes are in ``__main__`` or in its name."""
        return type(self.target).__qualname__

    @property
    def libraries(self) -> list[str]:
        """The libraries whose versions must be the same when the state is put back."""
        return sorted(dict.fromkeys(_list_libraries(self.target)))

    def refuse(self, what: str, expected: str) -> CheckpointUnfit:
        """Return the error for a state that does not fit the object."""
        return CheckpointUnfit(
            f"The state of {self.name} in the checkpoint {what}.",
            f"Expected {expected}.",
            "Build the same objects as when the checkpoint was written, or name another checkpoint file.",
            part=self.name,
        )


def find_parts(name: str, target: object) -> dict[str, Part]:
    """Return the parts of an object's state.

    Args:
        name: what the object is called. A part has this name, or this name, a dot and more, such as
            ``agent.replay_buffer``.
        target: an object of a library in ``ADAPTERS``; a ``Part``, which is taken as it is; a dict or list of plain
            values; or an object with ``state_dict`` and ``load_state_dict``.

    Returns:
        The parts by name; at least one.

    Raises:
        CheckpointUnfit: E-CHECKPOINT-003: nothing is known of objects of this type.
    """
    if isinstance(target, Part):
        return {name: target}
    for library in _list_libraries(target):
        adapter = import_module(f"{__package__}.{ADAPTERS[library]}")
        # An adapter returns nothing for a class of its library that it leaves to the next one: the policy of an
        # agent is a plain module of torch.
        found: dict[str, Part] = adapter.find_parts(name, target)
        if found:
            return found
    raise CheckpointUnfit(
        f"{name} is of the type {type(target).__module__}.{type(target).__qualname__}, whose state is not known.",
        f"Expected an object of {', '.join(sorted(ADAPTERS.keys() - {'builtins'}))}, a dict or list of plain values, or "
        "an object with read() and write(state), or with state_dict() and load_state_dict(state).",
        "Give it read and write: read returns plain values and arrays, write puts them back.",
        part=name,
    )


def find_library_version(library: str) -> str:
    """Return the version of a loaded library; empty where it has none."""
    return str(getattr(sys.modules.get(library), "__version__", ""))


def _list_libraries(target: object) -> Iterator[str]:
    """Return the libraries of the classes of an object, its own class first."""
    for cls in type(target).__mro__:
        library = cls.__module__.partition(".")[0]
        if library in ADAPTERS:
            yield library


def is_array(value: object) -> bool:
    """Return whether a value is a numpy array; numpy is not imported to find out."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def copy_tree(value: object) -> object:
    """Return a plain tree of its own: copies of all containers and arrays; other values as they are."""
    if isinstance(value, dict):
        return {key: copy_tree(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy_tree(item) for item in value]
    if is_array(value):
        array: ndarray[Any, Any] = value  # type: ignore[assignment]
        return array.copy()
    return value
