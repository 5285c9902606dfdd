"""One difference, as a value.

Invariant: every field is plain data; printing it cannot run a user's code.
"""

from __future__ import annotations

import enum
import math
from bisect import bisect
from typing import Literal

from twice.foundation.dataclass import dataclass

Kind = Literal["value", "order", "missing", "type", "shape"]

_RANKS: dict[Kind, int] = {"value": 0, "order": 1, "missing": 2, "shape": 3, "type": 4}
ABSENT = "(absent)"
_SHORT = 80
_BEFORE_PARTING = 20


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A place where two values differ.

    Args:
        path: how the place is reached: ``swarm.position[3, 1]``, ``state['key']``. Of several
            elements, the first that differs.
        kind: ``value``; ``order`` (the same elements elsewhere); ``missing`` (on one side only);
            ``type`` (or dtype); ``shape`` (or length).
        a: the value on the first side, short and printable; ``(absent)`` where there is none.
        b: the value on the second side.
        ulps: for floats, representable values between the two; the largest of all elements. None
            under a tolerance.
        differing: how many elements differ.
        of: how many elements there are.
        magnitude: for numbers, the largest absolute difference. None under a tolerance.
        distance: under a tolerance, the largest distance in its unit, found at ``path``; None
            without one, and where nothing measures it.
    """

    path: str
    kind: Kind
    a: str
    b: str
    ulps: int | None = None
    differing: int = 1
    of: int = 1
    magnitude: float | None = None
    distance: float | None = None

    def rank(self) -> tuple[float, int, float, int, str]:
        """Return the key of the order: the smallest number of steps first, the unmeasurable last."""
        size = math.inf if self.magnitude is None else self.magnitude
        steps = size if self.ulps is None else float(self.ulps)
        return (steps, _RANKS[self.kind], size, self.differing, self.path)

    def to_json(self) -> dict[str, object]:
        """Return an entry of ``fields`` in ``twice.divergence/1``; JSON has no infinite magnitude."""
        is_finite = self.magnitude is not None and math.isfinite(self.magnitude)
        return {
            "path": self.path,
            "kind": self.kind,
            "a": self.a,
            "b": self.b,
            "ulps": self.ulps,
            "magnitude": self.magnitude if is_finite else None,
            "differing": self.differing,
            "of": self.of,
        }


def short(value: object) -> str:
    """Return a value on one line, at most 80 characters.

    Containers, whose ``repr`` may be long or a user's, are only named by type and size.
    """
    return clip(_spell(value))


def contrast(a: object, b: object) -> tuple[str, str]:
    """Return two values as ``short`` does; two long texts with one beginning from shortly before where they part."""
    return contrast_texts(_spell(a), _spell(b))


def contrast_texts(a: str, b: str) -> tuple[str, str]:
    """Return two texts, each cut to 80 characters: from shortly before where they part, if they do so behind that."""
    one, two = clip(a), clip(b)
    if one != two or a == b:
        return one, two
    sizes = range(1, min(len(a), len(b)) + 1)
    start = bisect(sizes, False, key=lambda size: a[:size] != b[:size]) - _BEFORE_PARTING
    return clip(f"...{a[start:]}"), clip(f"...{b[start:]}")


def _spell(value: object) -> str:
    if isinstance(value, list | tuple | dict | set | frozenset):
        return f"{type(value).__name__} of {len(value)}"
    if type(value).__module__ == "numpy" and hasattr(value, "dtype"):
        shape = getattr(value, "shape", ())
        return f"array of {value.dtype} {list(shape)}" if shape else str(value)
    if isinstance(value, enum.Enum):
        return f"{type(value).__qualname__}.{value._name_}"
    if type(value).__module__ in _PRINTABLE:
        return _spell_plain(value)
    return f"<{type(value).__module__}.{type(value).__qualname__}>"


_PRINTABLE = (
    "builtins", "datetime", "decimal", "fractions", "pathlib", "pathlib._local", "uuid",
    "twice.foundation.encoding.opaque",
)  # fmt: skip


def print_value(value: object) -> str:
    """Return the ``repr`` of a plain value, cut; an integer too wide for decimal digits by its width."""
    return clip(_spell_plain(value))


def _spell_plain(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # Python refuses to print more than some thousand digits
        bits = f" of {value.bit_length()} bits" if isinstance(value, int) else ""
        return f"{type(value).__name__}{bits}"


def clip(text: str) -> str:
    """Return a text cut to 80 characters, with an ellipsis where it was cut."""
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 3]}..."
