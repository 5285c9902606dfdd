"""Check 13: a GPU's switches are stated, set and read back.

Invariant: that a system has no GPU is believed of a run only that says what it reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, absent, gaps, place, unexplained
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.machine import Gpu
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


def _precondition(facts: Facts) -> str:
    if facts.tier < Tier.L:
        return f"sheet 09 is asked for from tier L on; the tier is {facts.tier}"
    reason = absent(facts, Trait.GPU)
    trial = facts.trial
    if not reason or isinstance(trial, Unavailable) or trial.gpu is None or _on_gpu(facts):
        return ""  # What no run shows cannot be said to be absent.
    return f"{reason}; and the trial loaded no driver of one and drew on none"


def _on_gpu(facts: Facts) -> tuple[str, ...]:
    """What of the trial shows that a GPU was used."""
    trial = there(facts.trial)
    streams = [f"stream {name}" for name, each in trial.streams.items() if "cuda" in each.kind]
    return (*streams, *(trial.gpu.reached if trial.gpu else ()))


def _said(facts: Facts) -> Found:
    if facts.situation.traits.get(Trait.GPU) is False:
        return unexplained(facts, Trait.GPU)
    found, sheet = gaps(facts, "09"), facts.sheet("09")
    if sheet is None or found.faults:
        return found
    return found + Found(tuple(_stated(facts, sheet)))


def _knobs(sheet: Artifact) -> dict[str, str]:
    return {str(row.get("name")): str(row.get("value")) for row in sheet.rows("knobs")}


def _stated(facts: Facts, sheet: Artifact) -> Iterator[str]:
    said = {name.lower(): value.lower() for name, value in _knobs(sheet).items()}
    where = place(facts, "09", "knobs")
    for part, good in _KNOBS.items():
        name = next((each for each in said if part in each), None)
        if name is None:
            yield f"{where}: {part} is not stated"
        elif good and said[name] not in good:
            yield f"{where}: {name} is {said[name]}, which does not keep the class; expected {' or '.join(good)}"


def _shown(facts: Facts) -> Found:
    gpu, used = there(facts.trial).gpu, _on_gpu(facts)
    if gpu is None and not used:
        return Found(open=("the trial's record does not say whether a GPU was reached",))
    if facts.situation.traits.get(Trait.GPU) is False:
        if not used:
            return Found((), ("the trial loaded no driver of a GPU and drew on none",))
        said = f"by sheet 00 nothing runs on a GPU, and the trial reached one: {', '.join(used)}"
        return Found((f"{place(facts, '00', 'traits')}: {said}",))
    sheet = facts.sheet("09")
    if sheet is None:
        return Found()
    if gpu is None or not used:
        where = place(facts, "09", "sku")
        cards = f"run the gate where there is {sheet.said('sku')}"
        return Found(open=(f"{where}: the trial reached no GPU, so no switch is shown: {cards}",))
    found = Found((), (f"the trial reached a GPU: {', '.join(used)}",))
    return found + _in_force(facts, sheet, gpu) + _machine(facts, sheet, gpu)


def _in_force(facts: Facts, sheet: Artifact, gpu: Gpu) -> Found:
    """Hold each stated switch against what was read back."""
    where = place(facts, "09", "knobs")
    faults, evidence, unknown = [], [], []
    for name, value in _knobs(sheet).items():
        now = _read_back(name, gpu.switches)
        if not now:
            unknown.append(f"{where}: nothing reads {name} back")
        elif now != {value.lower()}:
            faults.append(f"{where}: {name} is stated as {value}, and was {', '.join(sorted(now))}")
        else:
            evidence.append(f"{name} was {value}")
    return Found(tuple(faults), tuple(evidence), tuple(unknown))


def _read_back(name: str, switches: Mapping[str, str]) -> set[str]:
    """Give the values that a name stands for: a switch, a variable, or all switches that end in it."""
    short = name.lower().removeprefix("torch.").removeprefix("backends.")
    return {
        value.lower()
        for switch, value in switches.items()
        if switch.lower() == short or switch.lower().endswith(f".{short}")
    }


def _machine(facts: Facts, sheet: Artifact, gpu: Gpu) -> Found:
    """Hold the driver and the cards against those that the trial ran on."""
    faults, unknown = [], []
    where = place(facts, "09", "driver")
    if not gpu.driver:
        unknown.append(f"{where}: this system does not tell the driver's version")
    elif not f"{gpu.driver}.".startswith(f"{sheet.said('driver')}."):
        faults.append(f"{where}: {sheet.said('driver')} is stated, and the trial had {gpu.driver}")
    where = place(facts, "09", "sku")
    if not gpu.cards:
        unknown.append(f"{where}: no library tells the cards' names")
    other = sorted({each for each in gpu.cards if each.lower() not in sheet.said("sku").lower()})
    faults += [f"{where}: the trial ran on {each}, which the sheet does not name" for each in other]
    evidence = (f"driver {gpu.driver}; {', '.join(gpu.cards)}",) if not (faults or unknown) else ()
    return Found(tuple(faults), evidence, tuple(unknown))


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
