"""Checks 12 and 13: how numbers come out, and what runs on a GPU.

Each is about every system, whatever its tier, but one of which sheet 00 says with a reason that it has no
such thing, and whose trial shows none. Below the tier that asks for the sheet, what the run shows is judged.

Invariant: what is told of a run was read back from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.diagnosis.vary.report import FactorResult
from twice.foundation.determinism_class import Scope
from twice.foundation.printable import pluralize
from twice.specification.gate.checks.concurrency import find_trait_gaps, judge_factor
from twice.specification.gate.evidence.context import ReportedFinding
from twice.specification.gate.evidence.runs import GateTrial, keeps_subnormals
from twice.specification.gate.model import (
    GateFacts,
    Observed,
    Undecided,
    check,
    is_complete,
    is_within,
    make_absence,
    optional,
    require,
)
from twice.specification.gate.plan import FIXED_ORDERS, INSTRUCTIONS, THREADS
from twice.specification.sheet import Sheet
from twice.specification.tiers import Trait

_FUSING: Final = ("FMA", "ASIMD", "NEON_VFPV4", "VSX", "VX", "SVE", "AVX512")
"""How numpy's names of instruction sets begin that fuse a multiplication and an addition."""
_NOT_FUSING: Final = frozenset(
    {
        "Athlon", "Atom", "Bobcat", "Core2", "Dunnington", "Katmai", "Nano", "Nehalem", "Northwood",
        "Opteron", "Penryn", "Prescott", "Sandybridge",
    }
)  # fmt: skip
"""OpenBLAS' kernels for processors without such instructions."""
_KNOBS: Final = {
    "use_deterministic_algorithms": ("true",),
    "cudnn.deterministic": ("true",),
    "cudnn.benchmark": ("false",),
    "cublas_workspace_config": (":4096:8", ":16:8"),
    "tf32": (),
}
"""What has to be stated, by a part of its name, and which values keep the class; () for any."""


@check(
    12, "Floating-point policy", "08", "00", "01", needs=("trial", "policies", "varied"),
    absent=make_absence(
        Trait.FLOATING_POINT, lambda _, trial: trial.floats or not trial.snapshots,
        "no state of the trial holds any",
    ),
)  # fmt: skip
def check_floating_point(facts: GateFacts) -> Iterator[str]:
    """Check that 08 pins libraries, threads, sums, FMA and subnormals, and that they are in force."""
    spec, gaps = facts.workspace, find_trait_gaps(facts, "08", Trait.FLOATING_POINT)
    yield from gaps
    denies, sheet = facts.denies(Trait.FLOATING_POINT), spec.get("08")
    own, promised = spec.value("08", "epsilon"), spec.value("01", "epsilon")
    if None not in {own, promised} and not denies and is_complete(gaps) and own != promised:
        yield facts.tell("08", "epsilon", f"{own} is stated, and 01 promises {promised}")
    if own is not None and not denies and spec.text("01", "class") == "bit-exact":
        yield facts.tell("08", "epsilon", f"{own} is stated, and the class bit-exact has none")
    trial, fresh = require(facts.trial), require(facts.policies)
    factors = {each.factor: each for each in require(facts.varied)}
    if denies:
        if trial.floats:
            holds = f"and the trial's state of {trial.floats} holds some"
            none = "by sheet 00 no floating-point arithmetic reaches the state"
            yield facts.tell("00", "traits", f"{none}, {holds}")
        elif trial.snapshots:
            yield Observed("no number with a fraction in the state of the trial")
        else:
            shows = "that would show whether its state holds floats"
            yield Undecided(f"the trial keeps no snapshot {shows}")
        return
    of_trial = trial.numerics.get("threads", {}).values()
    threads = sorted({*(each.threads for each in fresh.blas), *of_trial})
    keeps = keeps_subnormals(fresh.probes) and trial.keeps_subnormals
    kept = "kept" if keeps else "flushed"
    if sheet is not None:
        pins = f"{pluralize(len(sheet.rows('pins')), 'pin')} compared"
        yield Observed(f"{pins} against a fresh process and the trial's record")
    elif not facts.is_unasked("08"):
        return
    yield Observed(f"threads of BLAS in a run: {', '.join(map(str, threads)) or 'none is loaded'}")
    yield Observed(f"subnormal numbers are {kept}")
    if sheet is None:
        return
    yield from _judge_profile(facts, sheet)
    yield from _judge_pins(facts, sheet)
    wanted, stated = sheet.get("threads"), sheet.text("denormals")
    for count in threads:
        if count != wanted:
            has = f"threads: {wanted} stated, and BLAS has {count} in a run"
            yield facts.tell("08", "threads", has)
    if (stated == "kept") != keeps:
        are = f"subnormal numbers are stated as {stated}, and are {kept} in a run"
        yield facts.tell("08", "denormals", are)
    yield from _judge_fusing(facts, sheet)
    order = sheet.text("reductions")
    if order in FIXED_ORDERS:
        untried = FactorResult(THREADS, "", "unavailable", "it was not varied")
        other = "another number of threads"
        same = f"sums are stated as {order}; with {other} they are the same"
        parts = f"sums are stated to be {order}, and with {other}"
        parts, other = (facts.tell("08", "reductions", each) for each in (parts, other))
        yield from judge_factor(factors.get(THREADS, untried), same, parts, other)
    else:
        yield Observed("sums are taken in the order of the stated threads, which were read back")
    if spec.text("01", "scope") == Scope.CROSS_HOST:
        yield from _judge_other_hosts(facts, factors)


def _judge_profile(facts: GateFacts, sheet: Sheet) -> Iterator[str]:
    """Hold the profile of 08 against the one that the trial was held to."""
    stated, numerics = sheet.text("profile"), require(facts.trial).numerics
    held = numerics.get("profile", "")
    if stated and held != stated:
        yield facts.tell(
            "08", "profile", f"{stated} is stated, and the trial was held to {held or 'none'}"
        )
    elif held:
        count = sum(row["holds"] is True for row in numerics["knobs"])
        yield Observed(f"the trial was held to {held}: {pluralize(count, 'knob')} read back")


def _judge_pins(facts: GateFacts, sheet: Sheet) -> Iterator[str]:
    """Hold each pin against the versions in runs, and BLAS, NumPy and libm against the pins, where they are used."""
    fresh, trial = require(facts.policies), require(facts.trial)
    pins = {str(row.get("library")): str(row.get("version")) for row in sheet.rows("pins")}
    for library, kind in fresh.arithmetic.items():
        if library not in pins and (trial.numpy or kind == "libm"):
            has = f"a run here has {library} {fresh.versions[library]}"
            yield facts.tell("08", "pins", f"no row pins {kind}, and {has}")
    for library, pinned in pins.items():
        here, there = fresh.versions.get(library), trial.environment.versions.get(library)
        found, what = (here, "a run here") if here != pinned else (there, "the trial")
        if found != pinned:
            has = f"{library} is pinned to {pinned}, and {what} has {found or 'none'}"
            yield facts.tell("08", "pins", has)


def _judge_fusing(facts: GateFacts, sheet: Sheet) -> Iterator[str]:
    """Hold "forbidden" against the instructions that numpy and BLAS chose."""
    trial = require(facts.trial)
    dispatch = trial.environment.dispatch.get("numpy", "").split()
    kernels = {*trial.numerics.get("kernels", {}).values()}
    fusing = [each for each in dispatch if each.startswith(_FUSING)]
    fusing += sorted(each for each in kernels if each and each not in _NOT_FUSING)
    used = f"{', '.join(fusing[:3])} {'fuse' if len(fusing) > 1 else 'fuses'}" if fusing else ""
    of_trial = f"of numpy and BLAS in the trial {used or 'nothing fuses'}"
    if used and sheet.text("fma") == "forbidden":
        yield facts.tell("08", "fma", f"fusing is forbidden, and {of_trial}")
    else:
        yield Observed(of_trial)


def _judge_other_hosts(facts: GateFacts, factors: Mapping[str, FactorResult]) -> Iterator[str]:
    """Hold a promise that reaches other hosts against instructions that other hosts have."""
    found: list[str] = []
    same = [name for name in INSTRUCTIONS if name in factors and factors[name].result == "same"]
    for name in (each for each in INSTRUCTIONS if each in factors and each not in same):
        parts = f"other hosts are promised the same, and with other {name}"
        found += judge_factor(factors[name], "", facts.tell("01", "scope", parts), name)
    broken = [each for each in found if not isinstance(each, Undecided)]
    yield from broken
    if same:
        yield Observed(f"the same with other {', '.join(same)}")
    elif not broken:
        why = "; ".join(found) or "none are known"
        yield Undecided(f"no other instructions could be tried: {why}")


def _find_gpu_uses(trial: GateTrial) -> list[str]:
    """Return what of the trial shows that a GPU was used."""
    streams = [name for name, each in trial.streams.items() if "cuda" in str(each["kind"])]
    return [*(f"stream {name}" for name in streams), *(trial.gpu or {}).get("reached", ())]


def _list_gpu_code(facts: GateFacts) -> list[ReportedFinding]:
    """Return what twice check reports of the sources that sheet 09 settles."""
    sources = facts.workspace.strings("00", "sources")
    reported = require(facts.code).reported
    return [one for one in reported if one.sheet == "09" and is_within(one.place.path, sources)]


def _may_use_gpu(facts: GateFacts, trial: GateTrial) -> bool:
    """Whether anything speaks for a GPU; a run that does not say what it reached speaks against none."""
    unread = trial.gpu is None or optional(facts.code) is None
    return unread or bool(_find_gpu_uses(trial) or _list_gpu_code(facts))


@check(
    13, "GPU determinism", "09", "00", needs=("trial", "code"),
    absent=make_absence(
        Trait.GPU, _may_use_gpu, "the trial loaded no driver of one and drew on none"
    ),
)  # fmt: skip
def check_gpu(facts: GateFacts) -> Iterator[str]:
    """Check that 09 states every switch of framework, driver and card, and that they hold."""
    spec, gaps = facts.workspace, find_trait_gaps(facts, "09", Trait.GPU)
    yield from gaps
    sheet, denies = spec.get("09"), facts.denies(Trait.GPU)
    nothing = "by sheet 00 nothing runs on a GPU, and"
    stated = {str(row.get("name")): str(row.get("value")) for row in spec.rows("09", "knobs")}
    if sheet is not None and not denies and is_complete(gaps):
        knobs = {name.lower(): value.lower() for name, value in stated.items()}
        for part, good in _KNOBS.items():
            name = next((each for each in knobs if part in each), None)
            if name is None:
                yield facts.tell("09", "knobs", f"{part} is not stated")
            elif good and knobs[name] not in good:
                expected = f"which does not keep the class; expected {' or '.join(good)}"
                yield facts.tell("09", "knobs", f"{name} is {knobs[name]}, {expected}")
    trial = require(facts.trial)
    gpu, used = trial.gpu, _find_gpu_uses(trial)
    for each in _list_gpu_code(facts):
        reports = f"twice check reports {each.place}"
        if denies:
            yield facts.tell("00", "traits", f"{nothing} {reports}")
        elif each.rule == "atomic-scatter" and spec.text("09", "atomics").lower() == "none":
            yield facts.tell("09", "atomics", f"none is stated, and {reports}")
    if gpu is None and not used:
        yield Undecided("the trial's record does not say whether a GPU was reached")
    elif denies:
        reached = facts.tell("00", "traits", f"{nothing} the trial reached one: {', '.join(used)}")
        yield reached if used else Observed("the trial loaded no driver of a GPU and drew on none")
    elif sheet is None and not facts.is_unasked("09"):
        return
    elif gpu is None or not used:
        cards = f"run the gate where there is {spec.text('09', 'sku') or 'one'}"
        unseen = f"the trial reached no GPU, so no switch is shown: {cards}"
        yield Undecided(facts.tell("09", "sku", unseen))
    else:
        yield Observed(f"the trial reached a GPU: {', '.join(used)}")
        if sheet is not None:
            yield from _judge_switches(facts, stated, gpu)
            yield from _judge_cards(facts, sheet, gpu)


def _judge_switches(
    facts: GateFacts, stated: Mapping[str, str], gpu: Mapping[str, Any]
) -> Iterator[str]:
    """Hold each stated switch against what was read back: a switch, a variable, or all switches that end in it."""
    for name, value in stated.items():
        short = name.lower().removeprefix("torch.").removeprefix("backends.")
        now = {
            str(each).lower()
            for switch, each in gpu["switches"].items()
            if f".{switch}".lower().endswith(f".{short}")
        }
        if not now:
            yield Undecided(facts.tell("09", "knobs", f"nothing reads {name} back"))
        elif now != {value.lower()}:
            was = f"{name} is stated as {value}, and was {', '.join(sorted(now))}"
            yield facts.tell("09", "knobs", was)
        else:
            yield Observed(f"{name} was {value}")


def _judge_cards(facts: GateFacts, sheet: Sheet, gpu: Mapping[str, Any]) -> Iterator[str]:
    """Hold the driver and the cards against those that the trial ran on."""
    driver, cards, stated = str(gpu["driver"]), list(gpu["cards"]), sheet.text("driver")
    fits = f"{driver}.".startswith(f"{stated}.")
    if not driver:
        unknown = "this system does not tell the driver's version"
        yield Undecided(facts.tell("09", "driver", unknown))
    elif not fits:
        yield facts.tell("09", "driver", f"{stated} is stated, and the trial had {driver}")
    other = sorted({each for each in cards if each.lower() not in sheet.text("sku").lower()})
    if not cards:
        yield Undecided(facts.tell("09", "sku", "no library tells the cards' names"))
    for each in other:
        ran = f"the trial ran on {each}, which the sheet does not name"
        yield facts.tell("09", "sku", ran)
    if driver and fits and cards and not other:
        yield Observed(f"driver {driver}; {', '.join(cards)}")
