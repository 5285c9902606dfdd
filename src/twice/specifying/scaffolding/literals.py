"""Values as Python writes them, laid out so that a formatter changes nothing.

Whatever fits stays on its line; what does not stands one item a line with a comma after the last, which
formatters leave alone whatever line length they are set to.

Invariant: evaluating the text gives the value back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

_WIDTH: Final = 79  # What the narrowest usual setting of a formatter takes.
_INDENT: Final = "    "


def literal(value: object, *, before: int = 0, depth: int = 0) -> str:
    """Write a value: texts, numbers, truths, None, tuples, lists and maps of them.

    Args:
        value: what is written.
        before: columns that stand before it in its first line.
        depth: how deep the line is indented, in steps of four.
    """
    flat = _flat(value)
    if before + len(flat) < _WIDTH or not isinstance(value, Mapping | tuple | list) or not value:
        return flat
    inner = _INDENT * (depth + 1)
    opening, closing = _brackets(value)
    lines = [opening]
    if isinstance(value, Mapping):
        for key, each in value.items():
            named = f"{inner}{_flat(key)}: "
            lines.append(f"{named}{literal(each, before=len(named) + 1, depth=depth + 1)},")
    else:
        lines += [
            f"{inner}{literal(each, before=len(inner) + 1, depth=depth + 1)}," for each in value
        ]
    return "\n".join([*lines, _INDENT * depth + closing])


def assigned(name: str, value: object, kind: str = "Final") -> str:
    """Write an assignment to a constant."""
    said = f"{name}: {kind} = "
    return said + literal(value, before=len(said))


def _flat(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_flat(key)}: {_flat(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple | list):
        opening, closing = _brackets(value)
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return opening + ", ".join(map(_flat, value)) + comma + closing
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    """Write a text in double quotes where that takes no more escapes, as formatters do."""
    said = repr(value)
    if said[0] == "'" and '"' not in value:
        return f'"{said[1:-1]}"'
    return said


def _brackets(value: object) -> tuple[str, str]:
    if isinstance(value, Mapping):
        return "{", "}"
    return ("(", ")") if isinstance(value, tuple) else ("[", "]")


def shown(text: str) -> str:
    """Write a text so that it can stand within double quotes, in Python and in YAML."""
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', "'")


def prose(words: Iterable[str]) -> str:
    """Join words as prose does: "a, b and c"."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
