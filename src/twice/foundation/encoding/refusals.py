"""Why a value has no canonical form, before anyone knows where it stands.

Encoders raise ``Refusal``; only the walk in ``walking.py`` knows the path and turns it into an
error of the public tree.

Invariant: a ``Refusal`` never leaves the encoding room.
"""

from __future__ import annotations

from twice.errors import EncodingRefused


class Refusal(Exception):  # not an error a caller sees
    """A value without a canonical form.

    Args:
        what: the value or type, as the subject of a sentence that the path completes.
        expected: what has a canonical form instead.
        remedy: what to do.
        leaf: the public error it becomes.
    """

    def __init__(
        self,
        what: str,
        expected: str,
        remedy: str,
        leaf: type[EncodingRefused] = EncodingRefused,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.remedy = remedy
        self.leaf = leaf


def unknown_type(cls: type) -> Refusal:
    """The refusal of a type that nobody described."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    base = next((b for b in cls.__mro__[1:] if b.__module__ == "builtins"), object)
    if base is not object:
        return Refusal(
            f"a {name}, a subclass of {base.__name__} that is not registered",
            f"Expected {base.__name__} itself: a subclass may hold state that twice cannot see.",
            f"Convert it to {base.__name__}, or register {cls.__qualname__} with "
            "twice.foundation.encoding.register.",
        )
    return Refusal(
        f"a {name}, which has no canonical form",
        "Expected plain values, arrays, enums, dataclasses or a registered type.",
        f"Return plain values instead, or register {cls.__qualname__} with "
        "twice.foundation.encoding.register.",
    )
