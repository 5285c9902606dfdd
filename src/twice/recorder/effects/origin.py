"""Whose code reads the world: the program's own, a library on its behalf, a package that is being imported.

``random.SystemRandom`` asks for entropy on behalf of its caller, ``glob`` for a listing. Whether a read
is the program's own is judged by the first code on the stack that is no such wrapper.

Invariant: a wrapper is known by the whole path of its file (a user's own ``random.py`` is none).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from types import CodeType, FrameType
from typing import Any

from twice.recorder.user_code import is_user_file

_FILES_OF_THEIR_OWN = ("<frozen ", "<stdin>", "<ipython")


def asker_of(frame: FrameType, wrappers: Collection[str]) -> CodeType:
    """Return the first code, from a frame outwards, whose file is not one of the wrappers.

    Code without a file (of ``eval``, of a dataclass) asks on behalf of its caller as well.
    """
    found: FrameType | None = frame
    while found is not None:
        name = found.f_code.co_filename
        is_generated = name.startswith("<") and not name.startswith(_FILES_OF_THEIR_OWN)
        if name not in wrappers and not is_generated:
            return found.f_code
        found = found.f_back
    return frame.f_code


def while_imported(frame: FrameType | None) -> bool:
    """Return whether code runs because a package is imported, and not as the user's own code."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return True
        if is_user_file(name):
            return False
        frame = frame.f_back
    return False


def files_of(*functions: Callable[..., Any]) -> frozenset[str]:
    """Return the files of Python functions, as their code names them; frozen modules have own names."""
    return frozenset(function.__code__.co_filename for function in functions)


def files_behind(*classes: type) -> frozenset[str]:
    """Return the files of the methods of classes and of their bases."""
    members = [
        value for one in classes for base in one.__mro__ for value in list(vars(base).values())
    ]
    codes = [getattr(getattr(each, "__func__", each), "__code__", None) for each in members]
    return frozenset(code.co_filename for code in codes if isinstance(code, CodeType))
