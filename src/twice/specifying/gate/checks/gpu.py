"""Check 13: a GPU's switches are stated, set and read back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, absent, gaps, place, unexplained
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.outcome import Found
from twice.specifying.tiers import Tier, Trait

_KNOBS: Final = {
    "use_deterministic_algorithms": ("true",),
    "cudnn.deterministic": ("true",),
    "cudnn.benchmark": ("false",),
    "cublas_workspace_config": (":4096:8", ":16:8"),
    "tf32": (),
}
"""What has to be stated, by a part of its name, and which values keep the class; () for any."""
_OPEN: Final = "no run sets these switches and reads them back yet"


def _precondition(facts: Facts) -> str:
    if facts.tier < Tier.L:
        return f"sheet 09 is asked for from tier L on; the tier is {facts.tier}"
    return "" if _on_gpu(facts) else absent(facts, Trait.GPU)


def _on_gpu(facts: Facts) -> tuple[str, ...]:
    trial = facts.trial
    if isinstance(trial, Unavailable):
        return ()
    return tuple(name for name, each in trial.streams.items() if "cuda" in each.kind)


def _said(facts: Facts) -> Found:
    if facts.situation.traits.get(Trait.GPU) is False:
        return unexplained(facts, Trait.GPU)
    found, sheet = gaps(facts, "09"), facts.sheet("09")
    if sheet is None or found.faults:
        return found
    return found + Found(tuple(_knobs(facts, sheet)))


def _knobs(facts: Facts, sheet: Artifact) -> Iterator[str]:
    said = {
        str(row.get("name")).lower(): str(row.get("value")).lower() for row in sheet.rows("knobs")
    }
    where = place(facts, "09", "knobs")
    for part, good in _KNOBS.items():
        name = next((each for each in said if part in each), None)
        if name is None:
            yield f"{where}: {part} is not stated"
        elif good and said[name] not in good:
            yield f"{where}: {name} is {said[name]}, which does not keep the class; expected {' or '.join(good)}"


def _shown(facts: Facts) -> Found:
    there(facts.trial)
    streams = _on_gpu(facts)
    if facts.situation.traits.get(Trait.GPU) is False:
        if not streams:
            return Found((), ("no stream of the trial draws on a GPU",))
        said = f"by sheet 00 nothing runs on a GPU, and {', '.join(streams)} draw there"
        return Found((f"{place(facts, '00', 'traits')}: {said}",))
    return Found((), (f"{len(streams)} streams of the trial draw on a GPU",), (_OPEN,))


CHECK: Final = Check(
    13,
    "GPU determinism",
    "Does 09 state every switch of framework, driver and card, and are they in force?",
    ("09", "00"),
    ("trial",),
    _said,
    _shown,
    _precondition,
)
