"""Text of programs inside Markdown: escaped, or as a code span.

Invariant: a text stays on its line, and none of it is markup.
"""

from __future__ import annotations

import re
from typing import Final

_MARKS: Final = re.compile(r"[\\*`<\[]|(?<!\w)_|_(?!\w)")


def escape_markdown(text: str) -> str:
    """Return Markdown that shows a text as it is; an underscore inside of a word is no mark."""
    return _MARKS.sub(lambda found: f"\\{found[0]}", text)


def quote_markdown(text: str) -> str:
    """Return a text as a code span on one line, with any backquotes and bars in it."""
    flat = " ".join(text.split()).replace("|", "\\|")
    if "`" not in flat:
        return f"`{flat}`"
    return f"`` {flat} ``"
