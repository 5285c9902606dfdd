"""Rules on where values come from.

Invariant: a deterministic promise never rests on what a person said alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.assets.gate.facts import Facts, faulty
from twice.assets.gate.row import Row
from twice.assets.log.io import escape, to_document
from twice.assets.log.models import EvidenceLevel, LogEvidence
from twice.foundation.printable import pluralize

CHECKS: Final = {
    "evidence": "Every value that decides the result has evidence, of its own or from above.",
    "evidence-source": "Evidence names its source: a record, a file with place and digest, or a person "
    "and a time.",
    "evidence-strength": "A deterministic promise rests on a seed, model or recipe that was recorded or "
    "imported, not on declarations alone.",
}
_MAKING: Final = ("model", "seed", "art", "audio", "environment", "recipe")
_DECIDING: Final = ("seed", "model", "recipe")
_WITNESSED: Final = frozenset({EvidenceLevel.RECORDED, EvidenceLevel.IMPORTED})
_NEEDED: Final = {
    EvidenceLevel.RECORDED: ("record",),
    EvidenceLevel.IMPORTED: ("file", "sha256", "chunk"),
    EvidenceLevel.DECLARED: ("who", "when"),
}


def judge(facts: Facts) -> Iterator[Row]:
    """Judge one log."""
    if facts.log.evidence is None or faulty(facts, "/evidence"):
        return
    evidence = facts.log.evidence
    for pointer, each in evidence.items():
        needed = _NEEDED[each.level] if each.level is not None else ()
        lacking = [name for name in needed if getattr(each, name) is None]
        if lacking:
            at = f"/evidence/{escape(pointer)}"
            yield facts.red(
                f"evidence-source:{at}",
                f"{at} is {each.level} and does not say {', '.join(lacking)}",
                f"set {at}/{lacking[0]}",
            )
        if facts.records.get(each.record or "") not in {None, each.sha256}:
            at = f"/evidence/{escape(pointer)}"
            yield facts.red(
                f"evidence-source:{at}",
                f"{each.record} is another record than the one that was named",
                "record it anew, or restore the record",
            )
    if not facts.log.deterministic:
        return
    used: dict[str, LogEvidence] = {}
    bare: list[str] = []
    for pointer in _values(facts, evidence):
        found = nearest(evidence, pointer)
        if found is None:
            bare.append(pointer)
        else:
            used[found] = evidence[found]
    if bare:
        more = f" and {len(bare) - 3} more" if len(bare) > 3 else ""
        fix = f'say where it comes from: evidence["{bare[0]}"] = {{"level": …}}'
        yield facts.red("evidence", f"no evidence for {', '.join(bare[:3])}{more}", fix)
    else:
        yield facts.green(
            "evidence", f"for every value, by {pluralize(len(used), 'entry', 'entries')}"
        )
    yield from _strength(facts, used, bare=bool(bare))


def _strength(facts: Facts, used: Mapping[str, LogEvidence], *, bare: bool) -> Iterator[Row]:
    """Judge whether more than a person's word stands behind what decides the result.

    A size or a steps count that was imported carries no seed that was typed in.
    """
    strong = [at for at, each in used.items() if each.level in _WITNESSED]
    fix = "render it under a record: twice asset record, or import what the generator wrote"
    if any(
        at in {"", f"/{name}"} or at.startswith(f"/{name}/") for at in strong for name in _DECIDING
    ):
        levels = {each.level for each in used.values()}
        yield facts.green("evidence-strength", " and ".join(sorted(filter(None, levels))))
    elif strong and not bare:
        seen = (
            f"seed, model and recipe are declared by a person alone; beyond that {strong[0]} alone"
        )
        yield facts.red("evidence-strength", seen, fix)
    elif not bare:
        yield facts.red("evidence-strength", "every value is declared by a person alone", fix)


def _values(facts: Facts, evidence: Mapping[str, LogEvidence]) -> Iterator[str]:
    """Point at each value in the blocks that decide the result; a reason is a value as well.

    A block of which no entry speaks piece by piece is pointed at as a whole.
    """
    for name in _MAKING:
        block = getattr(facts.log, name)
        if block is not None and any(each.startswith(f"/{name}/") for each in evidence):
            yield from _leaves(to_document(block), f"/{name}")
        elif block is not None:
            yield f"/{name}"


def _leaves(value: Any, at: str) -> Iterator[str]:
    if isinstance(value, dict) and "not_applicable" not in value:
        for name, part in value.items():
            yield from _leaves(part, f"{at}/{escape(name)}")
    elif isinstance(value, list) and value:
        for number, part in enumerate(value):
            yield from _leaves(part, f"{at}/{number}")
    else:
        yield at


def nearest(evidence: Mapping[str, LogEvidence], pointer: str) -> str | None:
    """Find the entry that speaks of a value: its own, or the nearest above it."""
    while pointer not in evidence:
        if not pointer:
            return None
        pointer = pointer.rpartition("/")[0]
    return pointer
