"""The gate: facts in, a report out.

Invariant: the report depends on the facts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from twice.assets.gate.facts import PRODUCER, Facts
from twice.assets.gate.gathering import Doing, gather
from twice.assets.gate.report import Report
from twice.assets.gate.row import Row
from twice.assets.gate.rules import PER_ASSET, PER_SET, integrity


def run_gate(path: Path, *, measure: bool = False, doing: Doing | None = None) -> Report:
    """Judge an asset, a set or a build.

    Args:
        path: an asset, a sidecar, or a folder.
        measure: whether files are decoded and measured again.
        doing: told how many logs of how many are read.

    Raises:
        AssetMissing: E-ASSET-FILE-001: the path is not there.
        UsageError: E-USE-001: a folder without assets and logs.
    """
    return judged(gather(path, measure=measure, doing=doing))


def verified(path: Path, *, doing: Doing | None = None) -> Report:
    """Judge only whether logs and files belong together; every file is measured again.

    Raises:
        AssetMissing, UsageError: as ``run_gate``.
    """
    every = gather(path, measure=True, doing=doing)
    rows = [row for each in every for row in (_unlogged(each) or integrity.judge(each))]
    return Report(rows)


def judged(every: Sequence[Facts]) -> Report:
    """Judge facts."""
    rows = [row for each in every for row in _of_one(each)]
    readable = [each for each in every if each.log_path and not each.trouble]
    rows += [row for rule in PER_SET for row in rule(readable)]
    return Report(rows)


def _of_one(facts: Facts) -> Iterator[Row]:
    unlogged = _unlogged(facts)
    if unlogged:
        yield from unlogged
        return
    yield facts.green("log-present", facts.log_path)
    for rule in PER_ASSET:
        yield from rule(facts)


def _unlogged(facts: Facts) -> list[Row]:
    """Say of an asset without a log, or of a log that cannot be read, that it is one."""
    if not facts.log_path:
        fix = f"log it: twice asset seal {facts.name} --log DRAFT"
        return [facts.red("log-present", "no determinism log is about this file", fix, PRODUCER)]
    if facts.trouble:
        fix = "write it anew from where it came, or seal the asset again"
        return [facts.red("log-readable", facts.trouble, fix, PRODUCER)]
    return []
