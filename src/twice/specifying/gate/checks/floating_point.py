"""Check 12: arithmetic that comes out the same is pinned, and what is pinned holds in a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, absent, gaps, place, unexplained
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.outcome import Found
from twice.specifying.tiers import Tier, Trait

_OPEN: Final = (
    "no run asserts yet that sums are taken in the stated order, nor whether multiplications and additions "
    "are fused"
)


def _precondition(facts: Facts) -> str:
    if facts.tier < Tier.L:
        return f"sheet 08 is asked for from tier L on; the tier is {facts.tier}"
    trial = facts.trial
    if not isinstance(trial, Unavailable) and trial.floats:
        return ""
    return absent(facts, Trait.FLOATING_POINT)


def _said(facts: Facts) -> Found:
    if facts.situation.traits.get(Trait.FLOATING_POINT) is False:
        return unexplained(facts, Trait.FLOATING_POINT)
    return gaps(facts, "08")


def _shown(facts: Facts) -> Found:
    if facts.situation.traits.get(Trait.FLOATING_POINT) is False:
        if not there(facts.trial).floats:
            return Found((), ("no number with a fraction in the state of the trial",))
        said = "by sheet 00 no floating-point arithmetic reaches the state, and the trial's state holds some"
        return Found((f"{place(facts, '00', 'traits')}: {said}",))
    sheet, policies = facts.sheet("08"), there(facts.policies)
    if sheet is None:
        return Found()
    threads = sorted(set(policies.threads.values()))
    evidence = (
        f"{len(sheet.rows('pins'))} pins held against a fresh process and the trial's record",
        f"threads of BLAS in a run: {', '.join(map(str, threads)) or 'none is loaded'}",
        f"subnormal numbers are {'kept' if policies.denormals else 'flushed'}",
    )
    return Found(tuple(_wrong(facts, sheet)), evidence, (_OPEN,))


def _wrong(facts: Facts, sheet: Artifact) -> Iterator[str]:
    policies = there(facts.policies)
    where = place(facts, "08", "pins")
    for row in sheet.rows("pins"):
        library, pinned = str(row.get("library")), str(row.get("version"))
        for what, versions in (
            ("a run here", policies.libraries),
            ("the trial", policies.recorded),
        ):
            found = versions.get(library)
            if found != pinned:
                yield f"{where}: {library} is pinned to {pinned}, and {what} has {found or 'none'}"
                break
    wanted = sheet.get("threads")
    for count in sorted(set(policies.threads.values()) - {wanted}):
        yield f"{place(facts, '08', 'threads')}: {wanted} threads are stated, and BLAS has {count} in a run"
    if (sheet.said("denormals") == "kept") != policies.denormals:
        kept = "kept" if policies.denormals else "flushed"
        where = place(facts, "08", "denormals")
        yield f"{where}: subnormal numbers are stated as {sheet.said('denormals')}, and are {kept} in a run"


CHECK: Final = Check(
    12,
    "Floating-point policy",
    "Does 08 pin libraries, threads, the order of sums, FMA and subnormal numbers, and do they hold?",
    ("08", "00"),
    ("trial", "policies"),
    _said,
    _shown,
    _precondition,
)
