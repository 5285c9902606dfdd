"""Putting fixes into a file's bytes: all that are disjoint at once, then what the next look offers.

The encoding, the newlines and every byte that no edit names stay. What can no longer be parsed is
given up, and the file stays as it was.

Invariant: what comes out parses, or nothing comes out.
"""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from twice.checker.findings import Edit, Finding, Fix, SourceSpan
from twice.checker.reading import decoded, encoding_of
from twice.foundation.printable import printable

ROUNDS_MAX: Final = 5
"""A fix can make room for another one, but none needs more than a few."""

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")

Looking = Callable[[bytes], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Mended:
    """A file after its fixes.

    Args:
        before: its bytes.
        after: its bytes with all fixes.
        fixes: how many were applied.
    """

    before: bytes
    after: bytes
    fixes: int


def mended(data: bytes, findings: Sequence[Finding], look: Looking, *, unsafe: bool) -> Mended:
    """Apply the fixes of a file, look again, and apply what is offered then, a few times.

    Args:
        data: the file's bytes, as the findings were found in them.
        findings: those of this file.
        look: finds what is left in other bytes of the file.
        unsafe: whether fixes that may change the meaning are applied.
    """
    current, applied = data, 0
    for _ in range(ROUNDS_MAX):
        fixes = [
            each.found.fix
            for each in findings
            if each.found.fix is not None and (unsafe or each.found.fix.safe)
        ]
        taken = _together(fixes)
        changed = _applied(current, [edit for fix in taken for edit in fix.edits])
        if not taken or changed is None or changed == current:
            break
        current, applied = changed, applied + len(taken)
        findings = look(current)
    return Mended(data, current, applied)


def difference(path: str, one: Mended) -> str:
    """Give what fixes change, as a unified diff."""
    before, after = (_NEWLINE.split(decoded(each)) for each in (one.before, one.after))
    shown = printable(path)
    lines = difflib.unified_diff(before, after, f"a/{shown}", f"b/{shown}", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _together(fixes: Iterable[Fix]) -> list[Fix]:
    """Choose the fixes, in source order, that do not overlap; several may share one edit."""
    taken: list[Fix] = []
    edits: dict[Edit, None] = {}
    for fix in sorted(fixes, key=lambda each: min(_span(edit) for edit in each.edits)):
        fresh = [edit for edit in fix.edits if edit not in edits]
        if any(_touch(one, other) for one in fresh for other in edits):
            continue
        if fresh:
            taken.append(fix)
            edits.update(dict.fromkeys(fresh))
    return taken


def _span(edit: Edit) -> tuple[tuple[int, int], tuple[int, int]]:
    place = edit.place
    return (place.line, place.column), (place.end_line, place.end_column)


def _touch(one: Edit, other: Edit) -> bool:
    (start, end), (others_start, others_end) = _span(one), _span(other)
    if start == others_start:
        return True
    return start < others_end and others_start < end


def _applied(data: bytes, edits: Iterable[Edit]) -> bytes | None:
    """Apply edits to bytes; return None if they do not fit, or the result would not parse."""
    text = decoded(data)
    starts = [0, *(each.end() for each in _NEWLINE.finditer(text))]
    newline = _newline_of(text)
    done = text
    cut = len(text) + 1
    for edit in sorted(dict.fromkeys(edits), key=_span, reverse=True):
        span = _offsets(edit.place, starts, len(text))
        if span is None or span[1] > cut:
            return None
        start, end = span
        done = done[:start] + edit.text.replace("\n", newline) + done[end:]
        cut = start
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(done)
        return done.encode(encoding_of(data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _offsets(place: SourceSpan, starts: Sequence[int], length: int) -> tuple[int, int] | None:
    if not 1 <= place.line <= place.end_line <= len(starts):
        return None
    start = starts[place.line - 1] + place.column - 1
    end = starts[place.end_line - 1] + place.end_column - 1
    return (start, end) if start <= end <= length else None


def _newline_of(text: str) -> str:
    """Return the newline that most lines end with."""
    counts: dict[str, int] = {}
    for each in _NEWLINE.findall(text):
        counts[each] = counts.get(each, 0) + 1
    return max(counts, key=lambda each: counts[each], default="\n")
