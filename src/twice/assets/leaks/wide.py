"""Text of two and of four bytes a letter, UTF-16 and UTF-32, wherever it stands among other bytes.

Letters beyond ASCII end a run: what technique says is in ASCII.

Invariant: the time is that of a search for one word, where there is no such text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LETTERS: Final = frozenset(b"\t\n\r") | frozenset(range(0x20, 0x7F))
_PRINTABLE: Final = frozenset(range(32, 127))
_MARKS: Final = bytes(
    ord("x") if each in _LETTERS else ord("0") if not each else 32 for each in range(256)
)
_FEWEST: Final = 8  # letters in a row
# Big-endian text has this form as well, one byte further on; its last letter stands behind it.
_WIDE: Final = re.compile(rb"(?:[\t\n\r\x20-\x7e]\x00){8,}+")
_WIDEST: Final = re.compile(rb"(?:[\t\n\r\x20-\x7e]\x00\x00\x00){8,}+")
_MANY: Final = 64


def is_wide(data: bytes) -> bool:
    """Whether bytes begin with text of two bytes a letter."""
    return _WIDE.match(data) is not None


def wide_texts(raw: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Yield the encoding, offset and letters of each wide text; join them if they are many."""
    if b"\0" not in raw:
        return
    marks = raw.translate(_MARKS)
    if b"x0" * _FEWEST in marks:
        yield from _few(
            "UTF-16", [(each.start(), _narrow(raw, each)) for each in _WIDE.finditer(raw)]
        )
    if b"x000" * (_FEWEST - 1) in marks:
        found = _WIDEST.finditer(raw)
        yield from _few("UTF-32", [(each.start(), _last(raw, each)) for each in found])


def _few(name: str, runs: list[tuple[int, bytes]]) -> Iterator[tuple[str, int, bytes]]:
    if len(runs) > _MANY:  # One text costs less than many.
        runs = [(runs[0][0], b"\n".join(text for _, text in runs))]
    for start, text in runs:
        yield name, start, text


def _narrow(raw: bytes, found: re.Match[bytes]) -> bytes:
    """Return the letters of a run of two bytes each, with the last one if it is big-endian."""
    start, end = found.span()
    is_big = raw[max(start - 1, 0) : start] == b"\0" and raw[end : end + 1] != b"\0"
    last = raw[end : end + 1] if is_big and end < len(raw) and raw[end] in _PRINTABLE else b""
    return found[0][::2] + last


def _last(raw: bytes, found: re.Match[bytes]) -> bytes:
    """Return the letters of a run of four bytes each, with the last one if it is big-endian."""
    end = found.end()
    is_big = raw[max(found.start() - 3, 0) : found.start()] == b"\0\0\0"
    last = raw[end : end + 1] if is_big and end < len(raw) and raw[end] in _PRINTABLE else b""
    return found[0][::4] + last
