"""Reading files with every rule, in any number of processes; the heavy half of a check.

It is imported when a file has to be read anew.

Invariant: the number of processes does not change what comes out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from twice.checker import packing
from twice.checker.findings import Violation
from twice.checker.housekeeping import BANNED_NAME, HOUSEKEEPING
from twice.checker.local import analyze_file
from twice.checker.looked import FileResult, unreadable
from twice.checker.reader import Reader
from twice.checker.reading import decoded, read
from twice.checker.rule import RuleFacts
from twice.checker.rules import streams
from twice.checker.rules.engine import Index, every_rule
from twice.checker.sharing import can_share, share
from twice.foundation.with_blocks import gc_paused

_FEW_BYTES: Final = 300_000  # Below, starting a process costs more than it saves.
_PIECES_PER_JOB: Final = 8


@dataclass(frozen=True, slots=True)
class Task:
    """A file to be read.

    Args:
        path: as findings name it.
        package: the dotted package that it is in.
        size: in bytes, to share the work evenly.
    """

    path: str
    package: str
    size: int


def look(tasks: Sequence[Task], reader: Reader, jobs: int) -> dict[str, tuple[str, FileResult]]:
    """Read files; for each the digest of the bytes that were read, and what they gave."""
    total = sum(each.size for each in tasks)
    workers = min(jobs, len(tasks), 1 + total // _FEW_BYTES)
    arranged = reader.index()  # The rules are imported once, before processes are made.
    with gc_paused():
        if workers <= 1:
            return {each.path: _one(each, reader, arranged) for each in tasks}
        if can_share():
            return _shared(tasks, reader, arranged, workers)
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(workers) as pool:
        pieces = _pieces(tasks, total // (workers * _PIECES_PER_JOB))
        found = pool.map(_several, pieces, [reader] * len(pieces))
        return {path: one for piece in found for path, one in piece}


def _shared(
    tasks: Sequence[Task], reader: Reader, arranged: Index, workers: int
) -> dict[str, tuple[str, FileResult]]:
    """Share files among this process and copies of it; what they found comes back as plain values."""

    def looked(number: int) -> list[Any]:
        digest, one = _one(tasks[number], reader, arranged)
        return [digest, packing.pack(one), one.facts]

    largest_first = sorted(range(len(tasks)), key=lambda number: -tasks[number].size)
    found = share(looked, largest_first, workers)
    return {
        each.path: (digest, replace(packing.looked_of(packed), facts=facts))
        for each, (digest, packed, facts) in zip(tasks, found, strict=True)
    }


def _pieces(tasks: Sequence[Task], size: int) -> list[list[Task]]:
    pieces: list[list[Task]] = [[]]
    filled = 0
    for each in tasks:
        if filled > size:
            pieces.append([])
            filled = 0
        pieces[-1].append(each)
        filled += each.size
    return pieces


def _several(tasks: Sequence[Task], reader: Reader) -> list[tuple[str, tuple[str, FileResult]]]:
    arranged = reader.index()
    with gc_paused():
        return [(each.path, _one(each, reader, arranged)) for each in tasks]


def _one(task: Task, reader: Reader, arranged: Index) -> tuple[str, FileResult]:
    raw = read(task.path)
    if raw.data is None:
        return "", FileResult((unreadable(raw.reason),))
    return raw.digest, analyze_bytes(task.path, raw.data, task.package, reader, arranged)


def analyze_bytes(
    path: str, data: bytes, package: str, reader: Reader, arranged: Index
) -> FileResult:
    """Read one file's bytes."""
    try:
        text = decoded(data)
    except ValueError as error:
        return FileResult((unreadable(str(error)),))
    looked = analyze_file(
        path,
        text,
        package=package,
        index=arranged,
        catalogue=reader.catalogue,
        follows=reader.follows,
    )
    if not looked.facts:
        return looked
    # What the cache gives back, so that fresh facts and cached ones are alike.
    facts = json.loads(json.dumps(looked.facts))
    return FileResult(looked.found, facts, looked.lines, looked.remarks)


def concluded(facts: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Violation]]:
    """Give what the facts of all files together show."""
    by_name: dict[str, dict[str, Any]] = {}
    for path, gathered in sorted(facts.items()):
        for name, one in gathered.items():
            by_name.setdefault(name, {})[path] = one
    found: list[tuple[str, Violation]] = []
    for rule in every_rule():
        if rule.conclude is not None:
            found.extend(rule.conclude(by_name.setdefault(rule.fact_name, {})))
    return found


def lent(facts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Give the files among tests that the program itself imports."""
    return streams.Project(
        {
            path: one["streams.gather"]
            for path, one in sorted(facts.items())
            if "streams.gather" in one
        }
    ).lent()


def rule_table() -> dict[str, RuleFacts]:
    """Give what has to be known of every rule to judge what it found, by its name."""
    return {rule.name: rule.facts for rule in (*every_rule(), *HOUSEKEEPING, BANNED_NAME)}
