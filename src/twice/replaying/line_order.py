"""Whether two outputs differ in the order of their lines alone.

``print`` writes a text and its line end one after the other, so threads that print at once leave lines such as
``job 0: 0job 1: 175`` and an empty one behind. Such a line counts as the lines that it is made of.

Not for: lines that were torn in the middle of a text, or that stand joined in both outputs and nowhere alone.

Invariant: two outputs with the same lines have the same bytes, in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

_DISTINCT_MAX: Final = 4096
"""Different lines that are looked for inside of others."""
_LENGTH_MAX: Final = 4096


def have_same_lines(one: bytes, other: bytes) -> bool:
    """Return whether two texts hold the same lines, each as often, in any order."""
    first, second = one.split(b"\n"), other.split(b"\n")
    if len(first) != len(second):
        return False
    missing, added = Counter(first), Counter(second)
    missing, added = missing - added, added - missing
    if not missing:
        return True
    words = sorted({line for line in (*first, *second) if line})
    if len(words) > _DISTINCT_MAX or max(map(len, words)) > _LENGTH_MAX:
        return False
    return _count_parts(missing, words) == _count_parts(added, words)


def _count_parts(lines: Counter[bytes], words: Collection[bytes]) -> Counter[bytes]:
    """Return how often each line occurs, joined lines by their parts; empty lines are ends of joined ones."""
    found: Counter[bytes] = Counter()
    for line, count in lines.items():
        for part in _split(line, words):
            found[part] += count
    return found


def _split(line: bytes, words: Collection[bytes]) -> list[bytes]:
    """Return a line as the most words that it is made of, itself apart; the line itself where it is not made of others."""
    if not line:
        return []
    inside = [word for word in words if word != line and word in line]
    best: list[list[bytes] | None] = [[], *([None] * len(line))]
    for end in range(1, len(line) + 1):
        for word in inside:
            before = best[end - len(word)] if len(word) <= end else None
            if before is None or not line.endswith(word, 0, end):
                continue
            known = best[end]
            if known is None or len(before) + 1 > len(known):
                best[end] = [*before, word]
    return best[-1] or [line]
