"""A few words of what was found, fit to be printed.

Invariant: an excerpt is one printable line of at most ``LONGEST`` characters, and shows no secret.
"""

from __future__ import annotations

import re
from typing import Final

from twice.foundation.printable import printable

LONGEST: Final = 120
_SECRET: Final = re.compile(
    r"\bsk-[\w-]{8,}|\bAKIA[0-9A-Z]{8,}|\bgh[pousr]_\w{8,}|\bgithub_pat_\w+|\bhf_\w{8,}|\bAIza[\w-]{8,}|\bxox[abp]-[\w-]{8,}"
    r"|(?<=BEGIN )[A-Z ]{0,20}PRIVATE KEY.*|(?<=[:=] )[\w-]{24,}$",
    re.DOTALL,
)


def excerpt(data: bytes, start: int, end: int, *, secret: bool) -> str:
    """Return the words from start to end, with a little text around them.

    Args:
        data: the bytes that contain them.
        start: the first byte.
        end: after the last.
        secret: whether they are a secret; if so, show four characters at most.
    """
    if secret:
        return f"{_plain(data[start:end])[:4]}{'*' * 8}"
    words = _plain(data[max(start - 16, 0) : min(max(end, start + 48), start + 2 * LONGEST)])
    text = _SECRET.sub(lambda found: f"{found[0][:4]}{'*' * 8}", words)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _plain(data: bytes) -> str:
    if data[1:2] == b"\0" or data[:1] == b"\0":
        data = data.replace(b"\0", b"")
    text = data.replace(b"\0", b" ").decode("utf-8", "replace")
    return printable(" ".join(text.split())).strip()
