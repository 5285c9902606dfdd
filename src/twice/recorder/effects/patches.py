"""What a source replaces in the standard library, one row for each name.

A row says where the name lives, what stands there while a session runs, and how to see that it
does: a probe that reads the world once. Rows are built for this Python version; a name that should
be there and is not is an error when the session begins, never a hope.

Invariant: a row names a public place, or says why no public one would do.
"""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from twice.foundation.dataclass import dataclass

MISSING = object()
_SUPPORTED = (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks)

if TYPE_CHECKING:
    _Unbound = staticmethod[..., Any]
else:
    _Unbound = staticmethod


class StandIn(_Unbound):
    """A function in the place of one that is made in C: unbound, and pickled and copied by its name as well."""

    def __init__(self, function: Callable[..., Any], original: Any, holder: str, name: str) -> None:
        super().__init__(function)
        self.__module__, self.__name__ = holder, name
        for attribute in ("__qualname__", "__doc__"):
            setattr(self, attribute, getattr(original, attribute, getattr(function, attribute)))
        for supported in _SUPPORTED:
            if function in supported:
                supported.add(self)

    def __reduce__(self) -> str:
        return self.__name__


@dataclass(frozen=True)
class Patch:
    """One name of the standard library and what stands in its place during a session."""

    holder: Any  # module or class that has the name
    name: str
    replacement: Any
    # Given what now stands there, reads the world once as a program would; None for a name that asks nothing by itself
    # (it starts an actor, say).
    probe: Callable[[Any], object] | None = None

    @property
    def full_name(self) -> str:
        """``module.name``, as messages print it."""
        return f"{self.holder.__name__}.{self.name}"

    def install(self) -> Any:
        """Put the replacement in place; return the original."""
        original = vars(self.holder).get(self.name, MISSING)
        value = self.replacement
        if isinstance(self.holder, ModuleType) and original is not MISSING:
            value = binding_as(original, value, self.holder.__name__, self.name)
        _set(self.holder, self.name, value)
        return original

    def restore(self, original: Any) -> None:
        """Put the original back."""
        _set(self.holder, self.name, original)


def binding_as(original: Any, replacement: Any, holder: str, name: str) -> Any:
    """Make a replacement that becomes a method of a class only where the original would.

    Functions made in C do not: ``logging.Formatter`` has ``converter = time.localtime`` among its
    attributes and calls ``self.converter(seconds)``; so do classes of programs.
    """
    if not isinstance(replacement, FunctionType) or hasattr(type(original), "__get__"):
        return replacement
    return StandIn(replacement, original, holder, name)


def _set(holder: Any, name: str, value: Any) -> None:
    if not isinstance(holder, type) or holder.__flags__ & _HEAP_OR_MUTABLE:
        if value is MISSING:
            delattr(holder, name)
        else:
            setattr(holder, name, value)
        return
    # A type made in C takes no attributes, and a subclass in its place would not be the type of
    # values that exist already; so its own dictionary is changed, as its maker could have.
    members: dict[str, Any] = gc.get_referents(holder.__dict__)[0]
    members[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(holder))


_HEAP_OR_MUTABLE = 1 << 9
"""``Py_TPFLAGS_HEAPTYPE``: a class made by a class statement, whose attributes can be set."""
