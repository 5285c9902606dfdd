"""The root of the tree, and what every room may raise.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

TYPE_CHECKING = False  # As in ``twice/__init__.py``.
if TYPE_CHECKING:
    from typing import ClassVar


class TwiceError(Exception):
    """What went wrong, what was expected and what to do.

    Args:
        happened: one sentence with the offending value.
        expected: one sentence that says what would have been right.
        remedy: one sentence or command that mends it.
        **fields: the same facts as values, for programs that read them.
    """

    id: ClassVar[str] = "E-TWICE-000"

    def __init__(self, happened: str, expected: str, remedy: str, **fields: object) -> None:
        super().__init__(happened)
        self.happened = happened
        self.expected = expected
        self.remedy = remedy
        self.fields = fields

    def __str__(self) -> str:
        indent = " " * (len(self.id) + 2)
        lines = map(_shorten, (self.happened, self.expected, self.remedy))
        return f"{self.id}  " + f"\n{indent}".join(
            line.replace("\n", f"\n{indent}") for line in lines if line
        )


_WORD_MAX = 400


def _shorten(line: str) -> str:
    """The line with the middle of every overlong word left out: a path of a megabyte says nothing."""
    if len(line) <= _WORD_MAX:
        return line
    import re  # only here: what raises nothing does not load it

    half = _WORD_MAX // 2
    return re.sub(rf"\S{{{_WORD_MAX},}}", lambda word: f"{word[0][:half]}…{word[0][-half:]}", line)


class UsageError(TwiceError):
    """E-USE: the call or the command line does not make sense."""

    id = "E-USE-001"


class OutputExists(UsageError):
    """The output file is there already."""

    id = "E-OUTPUT-001"


class OutputUnwritable(TwiceError):
    """The output cannot be written: read-only folder, full disk."""

    id = "E-OUTPUT-002"


class ExtraMissing(UsageError, ImportError):
    """An optional library is asked for and not installed."""

    id = "E-EXTRA-001"
