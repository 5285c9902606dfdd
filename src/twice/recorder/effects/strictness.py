"""Whether reads made by a piece of code are strict: user code, or a package that was opted in.

Invariant: the answer for one code object never changes.
"""

from __future__ import annotations

import os
from types import CodeType

from twice.recorder.user_code import is_user_file


class Strictness:
    """Tells strict code from other code, and remembers it.

    Args:
        opted_in: path prefixes of installed packages whose reads are strict as well.
    """

    def __init__(self, opted_in: tuple[str, ...]) -> None:
        self._opted_in = opted_in
        # By identity: hashing a code object reads all of its instructions. The code is kept, so
        # that its identity is not given to another.
        self._strictness: dict[int, tuple[CodeType, bool]] = {}

    def __call__(self, code: CodeType) -> bool:
        """Return whether reads made by this code are strict."""
        known = self._strictness.get(id(code))
        if known is not None:
            return known[1]
        strict = self.of_file(code.co_filename)
        self._strictness[id(code)] = (code, strict)
        return strict

    def of_file(self, name: str) -> bool:
        """Return whether reads made by code of a source file are strict."""
        return is_user_file(name) or (
            bool(self._opted_in) and os.path.realpath(name).startswith(self._opted_in)
        )
