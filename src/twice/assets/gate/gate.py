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

_PER_ASSET: Final[tuple[Callable[[AssetFacts], Iterator[GateRow]], ...]] = (
    checks.check_integrity,
    checks.check_completeness,
    checks.check_promise,
    recipe_checks.check_seeds,
    provenance_checks.check_evidence,
    recipe_checks.check_versions,
    recipe_checks.check_recipe,
    figures.check_figures,
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
    return AssetGateReport(
        [row for each in every for row in (_check_log(each) or checks.check_integrity(each))]
    )


def judge_facts(every: Sequence[AssetFacts]) -> AssetGateReport:
    """Judge facts."""
    rows: list[GateRow] = []
    sets: dict[tuple[str, str], list[AssetFacts]] = defaultdict(list)
    for facts in every:
        unlogged = _check_log(facts)
        rows += unlogged or [facts.green("log-present", facts.log_path)]
        if not unlogged:
            rows += [row for check in _PER_ASSET for row in check(facts)]
            if facts.log.work_unit is not None and facts.log.kind is not None:
                sets[facts.log.work_unit, facts.log.kind].append(facts)
    for (unit, kind), members in sorted(sets.items()):
        if len(members) > 1:
            rows += _check_set(f"{unit} ({kind})", members)
    return AssetGateReport(rows)


def _check_log(facts: AssetFacts) -> list[GateRow]:
    """Say of an asset without a log, or of a log that cannot be read, that it is one."""
    if not facts.log_path:
        fix = f"log it: twice asset seal {facts.name} --log DRAFT"
        return [facts.red("log-present", "no determinism log is about this file", fix)]
    fix = "write it anew from where it came, or seal the asset again"
    return [facts.red("log-readable", facts.trouble, fix)] if facts.trouble else []


def _check_set(name: str, members: list[AssetFacts]) -> Iterator[GateRow]:
    """Compare what the logs of a set say under one key each."""
    rules = {
        "set-model": (_find_model, "render them with one version"),
        "set-seeds": (_find_seeding, "seed all of them, or none"),
        "set-loudness": (_find_loudness, "export them to one target"),
    }
    for check, (find, fix) in rules.items():
        found: dict[str, dict[str, list[AssetFacts]]] = defaultdict(lambda: defaultdict(list))
        for facts in members:
            key, value = find(facts)
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


def _find_model(facts: AssetFacts) -> tuple[str | None, str]:
    model = value_of(facts.log.model)
    if model is None or (model.version is None and model.sha256 is None):
        return None, ""
    version, sha256 = value_of(model.version) or "?", value_of(model.sha256) or "?"
    return value_of(model.name), f"version {version}, sha256 {sha256[:12]}"


def _find_seeding(facts: AssetFacts) -> tuple[str | None, str]:
    seed = value_of(facts.log.seed)
    is_unsaid = facts.log.seed is None or (seed is not None and seed.effective is None)
    is_seeded = facts.log.get("/seed/effective") is not None
    return None if is_unsaid else facts.log.get(
        "/model/name"
    ), "seeded" if is_seeded else "not seeded"


def _find_loudness(facts: AssetFacts) -> tuple[str | None, str]:
    target = facts.log.get("/audio/loudness/target_lufs")
    return facts.log.get("/audio/source/kind"), "" if target is None else f"{float(target):g} LUFS"
