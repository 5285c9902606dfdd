"""How two outputs differ: the first line, the order of lines, the raised exception, and an option to leave it out.

``print`` writes a text and its line end one after the other. Threads that print together produce lines such as
``job 0: 0job 1: 175`` and an empty line. Such a line counts as its parts.

Not for: lines torn in the middle of a text, or lines that are alone in neither output and joined with no other that is.

Invariant: two outputs with the same lines have the same bytes, in another order. A proposed pattern matches both
lines, and only numbers get a proposal.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import Final

from twice.foundation.printable import pluralize
from twice.recorder.output import select_compared
from twice.replayer.outcome import Failure

_LINE_CHARACTERS: Final = 160
_TRACEBACK: Final = b"Traceback (most recent call last):"
_TRACEBACK_CHARACTERS: Final = 4000
_DISTINCT_MAX: Final = 4096
"""Different lines that are looked for inside of others."""
_LENGTH_MAX: Final = 4096
_MEASUREMENTS_MAX: Final = 20
"""Patterns for lines with measurements; more of them are no few lines beside a result."""
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*(?:e[+-]?\d+)?")
_TIME_UNIT: Final = re.compile(
    r" ?(?:[mun\u00b5\u03bc]?s|sec(?:ond)?s?|min(?:ute)?s?|hours?|it/s)\b"
)
_LINE: Final = re.compile(r"(?:standard error, )?line \d+: (.*)", re.DOTALL)
_AROUND: Final = 16
"""Characters of a line that a pattern quotes on each side of a number."""


def compare_outputs(
    recorded: tuple[bytes, bytes],
    replayed: tuple[bytes, bytes],
    ignored: Sequence[str],
    folders: Sequence[str],
) -> tuple[tuple[str, str] | None, bool]:
    """Return where two outputs differ, and whether they have the same lines in another order.

    Args:
        recorded: standard output and error.
        replayed: the same of the replay.
        ignored: regular expressions for lines that are not compared.
        folders: of the program; standard error is compared without them.

    Returns:
        The first line that differs, as both have it, with its number from 1; None where all are equal.
    """
    place, is_reordered = None, True
    for is_errors, streams in enumerate(zip(recorded, replayed, strict=True)):
        one, other = (
            select_compared(stream, ignored, folders, is_errors=bool(is_errors))
            for stream in streams
        )
        if place is None and one != other:
            place = _locate_line(one, other, "standard error, " if is_errors else "")
        is_reordered = is_reordered and have_same_lines(one, other)
    return place, is_reordered


def list_measurements(
    one: tuple[bytes, bytes],
    other: tuple[bytes, bytes],
    ignored: Sequence[str],
    folders: Sequence[str],
) -> tuple[str, ...]:
    """Return patterns without which two outputs are equal; empty where they differ in more than numbers.

    Args:
        one: standard output and error.
        other: the same of the other run.
        ignored: regular expressions for lines that are not compared anyway.
        folders: of the program; standard error is compared without them.
    """
    found: list[str] = []
    while len(found) <= _MEASUREMENTS_MAX:
        place, _ = compare_outputs(one, other, [*ignored, *found], folders)
        if place is None:
            return tuple(found)
        first, second = map(_LINE.fullmatch, place)
        pattern = find_pattern(first[1], second[1]) if first and second else ""
        if not pattern:
            return ()
        found.append(pattern)
    return ()


def have_same_lines(one: bytes, other: bytes) -> bool:
    """Return whether two texts have the same lines, each as often, in any order."""
    first, second = one.split(b"\n"), other.split(b"\n")
    if len(first) != len(second):
        return False
    missing, added = Counter(first), Counter(second)
    missing, added = missing - added, added - missing
    if not missing:
        return True
    alone = sorted({line for line in (*first, *second) if line})
    if len(alone) > _DISTINCT_MAX:
        return False
    # A line that is joined in both outputs is left over where another one is taken away.
    rest = {
        line.removeprefix(word).removesuffix(word)
        for line in (*missing, *added)
        for word in alone
        if line.startswith(word) != line.endswith(word)
    }
    words = sorted({*alone, *rest})
    if len(words) > _DISTINCT_MAX or max(map(len, words)) > _LENGTH_MAX:
        return False
    # Joined lines count by their parts; empty lines are the ends of joined ones.
    first_parts, second_parts = (
        Counter(part for line in lines.elements() for part in _split(line, words))
        for lines in (missing, added)
    )
    return first_parts == second_parts


def _split(line: bytes, words: Collection[bytes]) -> list[bytes]:
    """Split a line into the most other lines that form it; return the line itself if no others do."""
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


def find_new_traceback(recorded: bytes, replayed: bytes) -> str:
    """Return the last traceback that a replay printed and the recorded run did not; empty without one."""
    at = replayed.rfind(_TRACEBACK)
    if at < 0 or replayed[at:] in recorded:
        return ""
    text = replayed[at:].decode("utf-8", "replace")
    lines = [line[:_LINE_CHARACTERS] for line in text.splitlines()]
    while len(lines) > 2 and sum(map(len, lines)) > _TRACEBACK_CHARACTERS:
        del lines[1]  # the exception and its place are at the end
    return "\n".join(lines)


def _locate_line(recorded: bytes, replayed: bytes, stream: str) -> tuple[str, str]:
    one, other = (data.decode("utf-8", "replace").splitlines() for data in (recorded, replayed))
    for number, pair in enumerate(zip_longest(one, other), 1):
        if pair[0] != pair[1]:
            was, now = (
                "nothing more" if text is None else f"line {number}: {text[:_LINE_CHARACTERS]}"
                for text in pair
            )
            return f"{stream}{was}", f"{stream}{now}"
    lengths = [pluralize(len(each), "byte") for each in (recorded, replayed)]
    return f"{stream}{lengths[0]}, with another end of line", f"{stream}{lengths[1]}"


def suggest_ignored_output(failure: Failure | None, *, times_only: bool = False) -> str:
    """Return how to leave a volatile line of output out; empty where the lines differ in more than a number.

    Args:
        failure: the first difference.
        times_only: whether the first number that differs must be one of seconds or the like.
    """
    if failure is None or tuple(failure.columns) != ("output",):
        return ""
    recorded, replayed = _LINE.fullmatch(failure.recorded), _LINE.fullmatch(failure.replayed)
    if recorded is None or replayed is None:
        return ""
    pattern = find_pattern(recorded[1], replayed[1])
    if not pattern or (times_only and not _differ_in_a_time(recorded[1], replayed[1])):
        return ""
    return (
        "if this line holds a time or a measurement that no run repeats, record with "
        f"--ignore-output {shlex.quote(pattern)}"
    )


def _differ_in_a_time(one: str, other: str) -> bool:
    pairs = zip(_NUMBER.finditer(one), _NUMBER.finditer(other), strict=True)
    first = next(number for number, its in pairs if number[0] != its[0])
    return _TIME_UNIT.match(one, first.end()) is not None


def find_pattern(one: str, other: str) -> str:
    """Return a regular expression for two lines that differ in numbers alone; empty for any others."""
    if one == other or _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return ""
    for first, second in zip(_NUMBER.finditer(one), _NUMBER.finditer(other), strict=True):
        if first[0] != second[0]:
            before = _quote(one[max(0, first.start() - _AROUND) : first.start()])
            after = _quote(one[first.end() : first.end() + _AROUND])
            pattern = f"{before}[0-9][0-9.,:e+-]*{after}"
            is_right = all(re.search(pattern, line) for line in (one, other))
            return pattern if is_right and (before or after) else ""
    return ""


def _quote(text: str) -> str:
    return _NUMBER.sub("[0-9.,:]+", re.sub(r"[\\^$.|?*+()\[\]{}]", r"\\\g<0>", text))
