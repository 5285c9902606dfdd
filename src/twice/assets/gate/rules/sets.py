"""Rules on assets that belong together: those of one work unit and kind, or more of them in one build.

Invariant: a field that a log does not say makes no set inconsistent; completeness speaks of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from twice.assets.gate.facts import Facts, value_of
from twice.assets.gate.row import Row, Status, clipped
from twice.foundation.printable import pluralize

CHECKS: Final = {
    "set-model": "Within a set, one model has one version and one file.",
    "set-seeds": "Within a set, one model is seeded for all assets or for none.",
    "set-loudness": "Within a set, sounds of one kind of source aim at one loudness.",
}


def judge(every: Sequence[Facts]) -> Iterator[Row]:
    """Judge all assets together."""
    sets: dict[tuple[str, str], list[Facts]] = defaultdict(list)
    for facts in every:
        if facts.log.work_unit is not None and facts.log.kind is not None:
            sets[facts.log.work_unit, facts.log.kind].append(facts)
    for (unit, kind), members in sorted(sets.items()):
        if len(members) > 1:
            name = f"{unit} ({kind})"
            yield from _same(name, "set-model", members, _model, "render them with one version")
            yield from _same(name, "set-seeds", members, _seeding, "seed all of them, or none")
            yield from _same(name, "set-loudness", members, _loudness, "export them to one target")


def _same(
    name: str, check: str, members: list[Facts], told: Callable[[Facts], Any], fix: str
) -> Iterator[Row]:
    """Compare what members say under one key each; ``told`` gives key and value, or None."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for facts in members:
        said = told(facts)
        if said is not None:
            found[said[0]][said[1]].append(facts.name)
    if not found:
        return
    split = {key: values for key, values in found.items() if len(values) > 1}
    if not split:
        yield Row(
            name,
            check,
            Status.GREEN,
            clipped(f"{pluralize(len(members), 'asset')}, {', '.join(found)}"),
        )
    for key, values in sorted(split.items()):
        ordered = sorted(values.items(), key=lambda each: (-len(each[1]), each[0]))
        seen = "; ".join(f"{value}: {', '.join(sorted(who)[:3])}" for value, who in ordered)
        odd = ", ".join(sorted(ordered[-1][1])[:3])
        owner = next(each.owner for each in members if each.name in ordered[-1][1])
        yield Row(
            name, f"{check}:{key}", Status.RED, clipped(f"{key}: {seen}"),
            clipped(f"{fix}, beginning with {odd}"), owner,
        )  # fmt: skip


def _model(facts: Facts) -> tuple[str, str] | None:
    model = value_of(facts.log.model)
    name = value_of(model.name) if model is not None else None
    if name is None:
        return None
    version, sha256 = value_of(model.version), value_of(model.sha256)
    if version is None and sha256 is None:
        return None
    return name, f"version {version or '?'}, sha256 {(sha256 or '?')[:12]}"


def _seeding(facts: Facts) -> tuple[str, str] | None:
    model, seed = value_of(facts.log.model), facts.log.seed
    name = value_of(model.name) if model is not None else None
    if name is None or seed is None:
        return None
    block = value_of(seed)
    if block is not None and block.effective is None:
        return None
    return name, "seeded" if block is not None and value_of(block.effective) else "not seeded"


def _loudness(facts: Facts) -> tuple[str, str] | None:
    audio = facts.log.audio
    source = value_of(audio.source) if audio is not None else None
    loudness = value_of(audio.loudness) if audio is not None else None
    target = value_of(loudness.target_lufs) if loudness is not None else None
    if source is None or source.kind is None or target is None:
        return None
    return source.kind, f"{float(target):g} LUFS"
