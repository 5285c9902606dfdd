"""The gate: facts in, a report out; each asset by itself, then those of one work unit and kind as a set.

Invariant: the report depends on the facts alone; a field that a log does not say makes no set inconsistent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from twice.assets.gate import checks, figures, provenance_checks, recipe_checks
from twice.assets.gate.collector import ProgressCallback, collect_facts
from twice.assets.gate.facts import AssetFacts
from twice.assets.gate.report import AssetGateReport, GateRow, RowStatus, clip
from twice.assets.log.block import value_of
from twice.foundation.printable import pluralize

_OF_FILES: Final[tuple[Callable[[AssetFacts], Iterator[GateRow]], ...]] = (
    checks.check_hash,
    checks.check_container,
    checks.check_store,
)
_PER_ASSET: Final = (
    lambda facts: iter([facts.green("log-present", facts.log_path)]),
    *_OF_FILES,
    checks.check_dates,
    checks.check_completeness,
    checks.check_promise,
    checks.check_verdict,
    recipe_checks.check_seeds,
    provenance_checks.check_sources,
    provenance_checks.check_strength,
    provenance_checks.check_records,
    provenance_checks.check_imports,
    recipe_checks.check_versions,
    recipe_checks.check_recipe,
    figures.check_measures,
    figures.check_sound,
    figures.check_image,
)


def run_gate(
    path: Path, *, measure: bool = False, progress: ProgressCallback | None = None
) -> AssetGateReport:
    """Judge an asset, a set or a build.

    Args:
        path: an asset, a sidecar, or a folder.
        measure: whether files are decoded and measured again.
        progress: told how many logs of how many are read.

    Raises:
        AssetMissing: E-ASSET-FILE-001: the path is not there.
        UsageError: E-USE-001: a folder without assets and logs.
    """
    return judge_facts(collect_facts(path, measure=measure, progress=progress))


def verify_files(path: Path, *, progress: ProgressCallback | None = None) -> AssetGateReport:
    """Judge only whether logs and files belong together; every file is measured again.

    Raises:
        AssetMissing, UsageError: as ``run_gate``.
    """
    every = collect_facts(path, measure=True, progress=progress)
    return AssetGateReport([row for each in every for row in _judge_asset(each, _OF_FILES)])


def judge_facts(every: Sequence[AssetFacts]) -> AssetGateReport:
    """Judge facts."""
    rows: list[GateRow] = []
    sets: dict[tuple[str, str], list[AssetFacts]] = defaultdict(list)
    for facts in every:
        rows += _judge_asset(facts, _PER_ASSET)
        if facts.log.work_unit is not None and facts.log.kind is not None:
            sets[facts.log.work_unit, facts.log.kind].append(facts)
    for (unit, kind), members in sorted(sets.items()):
        if len(members) > 1:
            rows += _check_set(f"{unit} ({kind})", members)
    return AssetGateReport(rows)


def _judge_asset(
    facts: AssetFacts, checks: Sequence[Callable[[AssetFacts], Iterator[GateRow]]]
) -> list[GateRow]:
    """Judge an asset by some checks; without a log, or with one that cannot be read, it has one row."""
    if not facts.log_path:
        fix = f"log it: {facts.sealing} DRAFT"
        return [facts.red("log-present", "no determinism log is about this file", fix)]
    if facts.trouble:
        fix = "write it anew from where it came, or seal the asset again"
        return [facts.red("log-readable", facts.trouble, fix)]
    return [row for check in checks for row in check(facts)]


def _check_set(name: str, members: list[AssetFacts]) -> Iterator[GateRow]:
    """Compare what the logs of a set say under one key each."""
    fixes = {
        "set-model": "render them with one version",
        "set-seeds": "seed all of them, or none",
        "set-loudness": "export them to one target",
    }
    for check, fix in fixes.items():
        found: dict[str, dict[str, list[AssetFacts]]] = defaultdict(lambda: defaultdict(list))
        for facts in members:
            key, value = _list_shared(facts)[check]
            if key and value:
                found[key][value].append(facts)
        split = {key: values for key, values in sorted(found.items()) if len(values) > 1}
        if found and not split:
            seen = f"{pluralize(len(members), 'asset')}, {', '.join(found)}"
            yield GateRow(name, check, RowStatus.GREEN, clip(seen))
        for key, values in split.items():
            ordered = sorted(values.items(), key=lambda each: (-len(each[1]), each[0]))
            named = [(value, sorted(each.name for each in who)[:3]) for value, who in ordered]
            seen = f"{key}: " + "; ".join(f"{value}: {', '.join(who)}" for value, who in named)
            odd, owner = f"{fix}, beginning with {', '.join(named[-1][1])}", ordered[-1][1][0].owner
            yield GateRow(name, f"{check}:{key}", RowStatus.RED, clip(seen), clip(odd), owner)


def _list_shared(facts: AssetFacts) -> dict[str, tuple[str | None, str]]:
    """Say what the logs of a set have to share: a key and its value; "" where a log does not say it."""
    log, model, seed = facts.log, value_of(facts.log.model), value_of(facts.log.seed)
    version, sha256 = log.get("/model/version") or "?", log.get("/model/sha256") or "?"
    is_versioned = model is not None and (model.version or model.sha256) is not None
    is_seed_said = log.seed is not None and (seed is None or seed.effective is not None)
    seeding = "seeded" if log.get("/seed/effective") is not None else "not seeded"
    name, target = log.get("/model/name"), log.get("/audio/loudness/target_lufs")
    loudness = "" if target is None else f"{float(target):g} LUFS"
    return {
        "set-model": (name, f"version {version}, sha256 {sha256[:12]}" if is_versioned else ""),
        "set-seeds": (name, seeding if is_seed_said else ""),
        "set-loudness": (log.get("/audio/source/kind"), loudness),
    }
