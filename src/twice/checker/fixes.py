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
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from twice.checker.files import decode, find_encoding
from twice.checker.findings import Edit, Finding, Fix
from twice.foundation.printable import printable

ROUNDS_MAX: Final = 5
"""A fix can make room for another one, but none needs more than a few."""

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")

Checking = Callable[[bytes], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class FixedFile:
    """A file after its fixes."""

    before: bytes
    after: bytes
    fixes: int


def apply_fixes(
    data: bytes, findings: Sequence[Finding], check: Checking, *, unsafe: bool
) -> FixedFile:
    """Apply the fixes of a file, check again, and apply the fixes that are offered then, a few times.

    Args:
        data: the file's bytes, as the findings were found in them.
        findings: those of this file.
        check: finds what is left in other bytes of the file.
        unsafe: whether fixes that may change the meaning are applied.
    """
    current, applied = data, 0
    for _ in range(ROUNDS_MAX):
        fixes = [
            each.found.fix
            for each in findings
            if each.found.fix is not None and (unsafe or each.found.fix.safe)
        ]
        taken = _choose_disjoint(fixes)
        changed = _edit(current, [edit for fix in taken for edit in fix.edits])
        if not taken or changed is None or changed == current:
            break
        current, applied = changed, applied + len(taken)
        findings = check(current)
    return FixedFile(data, current, applied)


def render_diff(path: str, one: FixedFile) -> str:
    """Give what fixes change, as a unified diff."""
    before, after = (_NEWLINE.split(decode(each)) for each in (one.before, one.after))
    shown = printable(path)
    lines = difflib.unified_diff(before, after, f"a/{shown}", f"b/{shown}", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _choose_disjoint(fixes: Iterable[Fix]) -> list[Fix]:
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


def _edit(data: bytes, edits: Iterable[Edit]) -> bytes | None:
    """Apply edits to bytes; return None if they do not fit, or the result would not parse."""
    text = decode(data)
    starts = [0, *(each.end() for each in _NEWLINE.finditer(text))]
    newlines = Counter(_NEWLINE.findall(text)).most_common(1)
    newline = newlines[0][0] if newlines else "\n"
    done, cut = text, len(text)
    for edit in sorted(dict.fromkeys(edits), key=_span, reverse=True):
        place = edit.place
        if not 1 <= place.line <= place.end_line <= len(starts):
            return None
        start = starts[place.line - 1] + place.column - 1
        end = starts[place.end_line - 1] + place.end_column - 1
        if not start <= end <= cut:
            return None
        done = done[:start] + edit.text.replace("\n", newline) + done[end:]
        cut = start
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(done)
        return done.encode(find_encoding(data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
