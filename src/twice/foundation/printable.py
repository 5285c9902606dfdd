"""Words for people: text that a terminal shows but does not interpret, and numbers with their nouns.

Invariant: what comes out of `printable` is printable, and printable text does not change.
"""

from __future__ import annotations


def printable(text: object) -> str:
    """Return a text on one line: control characters, newlines and surrogates become escapes."""
    said = str(text)
    if said.isprintable():
        return said
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in said
    )


def printable_lines(text: str) -> str:
    """Return a text of several lines, each made printable, with its tabs."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def pluralize(number: int, singular: str, plural: str = "") -> str:
    """Return a number before its noun, as in `1 file` and `2,000 files`.

    Give a plural that is not the singular with an s. A verb may follow the noun in both.
    """
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"
