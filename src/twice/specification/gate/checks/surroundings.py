"""Checks 11 to 13: what runs at once, how numbers come out, and what runs on a GPU.

Each is about every system, whatever its tier, but one of which sheet 00 says with a reason that it has no
such thing, and whose trial shows none. Below the tier that asks for the sheet, what the run shows is judged.

Invariant: no schedule passes that was not tried, and what is told of a run was read back from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.diagnosis.vary.report import FactorResult
from twice.foundation.determinism_class import Scope
from twice.foundation.printable import pluralize
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
from twice.specification.gate.plan import (
    ASYNCIO,
    FIXED_ORDERS,
    INSTRUCTIONS,
    RECORDED_SCHEDULE,
    SCHEDULES,
    THREADS,
)
from twice.specification.record_traits import count_concurrent
from twice.specification.sheet import Sheet
from twice.specification.tiers import Trait

_VAGUE: Final = ("mostly", "usually", "should", "on n cores", "practically")
_UNSEEN: Final = {
    "processes": "what other processes do at the same time stands in no record",
    "actors": "actors of a framework stand in no record",
}
_SCHEDULE_OF: Final = {"threads": "switch interval", "tasks": "task order"}
assert set(_SCHEDULE_OF.values()) == set(SCHEDULES), "every schedule that is varied is judged"
_CONTROL: Final = {
    "lockstep": 3, RECORDED_SCHEDULE: 2, "recorded": 2, "schedule-independent": 1, "independent": 1, "uncontrolled": 0,
}  # fmt: skip
"""How strong a strategy is, by its name in sheet 07 and in a verification."""
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


def _find_gaps(facts: GateFacts, number: str, trait: Trait) -> list[str]:
    """Return what the sheet of a trait lacks; of a trait that is denied, whether its reason is missing."""
    if facts.denies(trait):
        return [*facts.find_unexplained(trait), *facts.find_present(trait)]
    return facts.find_gaps(number, conditional=True)


def _judge_factor(factor: FactorResult, same: str, differs: str, other: str) -> Iterator[str]:
    """Yield what a varied factor shows: a text for each of its ends, to which what was seen is added."""
    first = factor.divergence and factor.divergence.to_text().partition("\n")[0]
    told = first or factor.reason or factor.value
    if factor.result == "same":
        yield Observed(same)
    elif factor.result in {"differs", "failed"}:
        yield f"{differs} the run {factor.result}: {told}"
    else:
        yield Undecided(f"{other}: {told or factor.result}")


@check(
    11, "Concurrency strategy named", "07", "00", needs=("trial", "sealed", "varied", "code"),
    # What no run shows, and no code that could be read, cannot be said to be absent.
    absent=make_absence(
        Trait.CONCURRENCY,
        lambda facts, trial: trial.lineages is None
        or count_concurrent(trial.lineages)
        or optional(facts.code) is None,
        "the trial started none",
    ),
)  # fmt: skip
def check_concurrency(facts: GateFacts) -> Iterator[str]:
    """Check that 07 names each subsystem's strategy and schedule dependence, and that they work."""
    spec, gaps = facts.workspace, _find_gaps(facts, "07", Trait.CONCURRENCY)
    yield from gaps
    denies = facts.denies(Trait.CONCURRENCY)
    strategies = spec.column("07", "subsystems", "strategy")
    if not denies and is_complete(gaps):
        if RECORDED_SCHEDULE in strategies and not spec.text("07", "trace_format"):
            unsaid = "a schedule is recorded, and nobody said in which form"
            yield facts.tell("07", "trace_format", unsaid)
        for row in spec.rows("07", "subsystems"):
            how = str(row.get("how", "")).lower()
            vague = next((each for each in _VAGUE if each in how), None)
            if vague is not None:
                kept = f"{row.get('name')} is kept {vague!r}, which is no strategy"
                yield facts.tell("07", "subsystems", kept)
    started, factors = require(facts.trial).lineages, require(facts.varied)
    if started is None:
        yield Undecided("the trial's record does not say what it started")
        return
    seen = count_concurrent(started)
    counts = {model: pluralize(count, model.removesuffix("s")) for model, count in seen.items()}
    counted = ", ".join(counts.values()) or "nothing"
    if denies:
        said = f"by sheet 00 nothing runs at once, and the trial started {counted}"
        none = Observed("the trial started nothing")
        yield facts.tell("00", "traits", said) if seen else none
        return
    if spec.get("07"):
        named = spec.strings("07", "model")
        for model in (each for each in seen if each not in named):
            foreign = f"the trial started {counts[model]}, which 07 does not name"
            yield facts.tell("07", "model", foreign)
        for model in (each for each in named if each not in seen):
            why = _UNSEEN.get(model, "the trial started none")
            yield Undecided(facts.tell("07", "model", f"{why}, so nothing is told of {model}"))
        yield from _judge_strategies(facts)
    elif not facts.is_unasked("07"):
        return
    yield Observed(f"the trial started {counted} beside what started it")
    names = ", ".join(spec.column("07", "subsystems", "name"))
    where = ("07", "subsystems") if names else ("00", "traits")
    said = f"{names} hang on no schedule" if names else "no sheet says what decides the order"
    for name in (_SCHEDULE_OF[model] for model in seen):
        for factor in (each for each in factors if each.factor == name):
            parts = facts.tell(*where, f"{said}, and by another {name}")
            yield from _judge_factor(
                factor,
                f"the same by another {name}, which is not every schedule",
                parts,
                f"another {name}",
            )


def _judge_strategies(facts: GateFacts) -> Iterator[str]:
    """Compare the strategy that 07 declares for each subsystem with the one that the trial's record has."""
    sealed = require(facts.sealed)
    for row in facts.workspace.rows("07", "subsystems"):
        name, declared = str(row.get("name")), str(row.get("strategy"))
        held = sealed.concurrency.get(name)
        said = f"{name} is declared {declared}, and the trial's record"
        if held is None:
            # That no schedule decides is shown by varying it.
            if declared == RECORDED_SCHEDULE:
                missing = f"{said} has no order of it: twice keeps that of {ASYNCIO}, by this name"
                yield facts.tell("07", "subsystems", missing)
        elif sealed.is_torn or sealed.result == "PARTIAL":
            yield facts.tell("07", "subsystems", f"{said} has a part of its order alone")
        elif _CONTROL[held["strategy"]] < _CONTROL[declared]:
            weaker = f"{said} has {held['strategy']} (grade {held['grade']}), which is weaker"
            yield facts.tell("07", "subsystems", weaker)
        else:
            yield Observed(f"{name} is {held['strategy']} (grade {held['grade']}) in the trial")


@check(
    12, "Floating-point policy", "08", "00", "01", needs=("trial", "policies", "varied"),
    absent=make_absence(
        Trait.FLOATING_POINT, lambda _, trial: trial.floats or not trial.snapshots,
        "no state of the trial holds any",
    ),
)  # fmt: skip
def check_floating_point(facts: GateFacts) -> Iterator[str]:
    """Check that 08 pins libraries, threads, sums, FMA and subnormals, and that they are in force."""
    spec, gaps = facts.workspace, _find_gaps(facts, "08", Trait.FLOATING_POINT)
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
        yield from _judge_factor(factors.get(THREADS, untried), same, parts, other)
    else:
        yield Observed("sums are taken in the order of the stated threads, which were read back")
    if spec.text("01", "scope") == Scope.CROSS_HOST:
        yield from _judge_other_hosts(facts, factors)


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
        found += _judge_factor(factors[name], "", facts.tell("01", "scope", parts), name)
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
    spec, gaps = facts.workspace, _find_gaps(facts, "09", Trait.GPU)
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
