"""Names of files as a record holds them, also those that are no text.

A name is bytes to the system. Python gives the bytes that are not UTF-8 as lone surrogates, which no text of a
record may hold. Each stands in a record as NUL and two hexadecimal digits: no name of a file has a NUL of its own.

Not for: what a program makes of a name. A state or an output that holds such a name is the program's to encode.

Invariant: ``told(kept(name)) == name``, and a name that is text is kept as it is.
"""

from __future__ import annotations

import re
from typing import AnyStr, Final

_UNDECODED: Final = re.compile("[\udc80-\udcff]")
_KEPT: Final = re.compile("\0([89a-f][0-9a-f])")
_FIRST: Final = 0xDC00  # The surrogate of a byte is this and the byte.


def kept(name: AnyStr) -> AnyStr:
    """Convert a name, or a path, to its recorded form; bytes stay as they are."""
    if isinstance(name, bytes):
        return name
    if name.isascii():
        return name
    return _UNDECODED.sub(lambda match: f"\0{ord(match[0]) - _FIRST:02x}", name)


def told(name: AnyStr) -> AnyStr:
    """Convert a name from its recorded form to the one that the program sees."""
    if isinstance(name, bytes):
        return name
    if "\0" not in name:
        return name
    return _KEPT.sub(lambda match: chr(_FIRST + int(match[1], 16)), name)
