"""Text that a terminal shows and does not obey.

Invariant: what comes out is printable, and text that was is itself.
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
