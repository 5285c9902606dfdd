"""Checks 11 to 13: what runs at once, how numbers come out, and what runs on a GPU.

Each is about every system, whatever its tier, but one of which sheet 00 says with a reason that it has no
such thing, and whose trial shows none. Below the tier that asks for the sheet, what the run shows is judged.

Invariant: no schedule passes that was not tried, and what is told of a run was read back from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from twice.diagnosis.vary.report import FactorResult
from twice.foundation.determinism_class import Scope
from twice.specification.gate.evidence.context import ReportedFinding
from twice.specification.gate.evidence.runs import keeps_subnormals
from twice.specification.gate.model import (
    GateFacts,
    Observed,
    Undecided,
    check,
    is_complete,
    is_within,
    optional,
    require,
)
from twice.specification.gate.plan import FIXED_ORDERS, INSTRUCTIONS, SCHEDULES, THREADS
from twice.specification.record_traits import count_concurrent
from twice.specification.sheet import Sheet
from twice.specification.tiers import Trait, find_required

_VAGUE: Final = ("mostly", "usually", "should", "on n cores", "practically")
_UNSEEN: Final = {
    "processes": "what other processes do at the same time stands in no record",
    "actors": "actors of a framework stand in no record",
}
_SCHEDULE_OF: Final = {"threads": "switch interval", "tasks": "task order"}
assert set(_SCHEDULE_OF.values()) == set(SCHEDULES), "every schedule that is varied is judged"
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


def _describe_factor(factor: FactorResult) -> str:
    first = factor.divergence and factor.divergence.to_text().partition("\n")[0]
    return first or factor.reason or factor.value


def _find_gaps(facts: GateFacts, number: str, trait: Trait) -> list[str]:
    """Return what a sheet lacks; where its tier does not ask for it, and it is not there, that is said."""
    if facts.denies(trait):
        return list(facts.find_unexplained(trait))
    if facts.workspace.get(number) is None and number not in find_required(facts.situation):
        return [Observed(f"sheet {number} is not asked for at tier {facts.tier}")]
    return facts.find_gaps(number)


def _explain_no_concurrency(facts: GateFacts) -> str:
    reason, trial = facts.explain_absence(Trait.CONCURRENCY), optional(facts.trial)
    lineages = None if trial is None else trial.ending.get("lineages")
    if not reason or lineages is None or count_concurrent(lineages):
        return ""  # What no run shows cannot be said to be absent.
    return f"{reason}; and the trial started none"


@check(
    11, "Concurrency strategy named", sheets=("07", "00"), needs=("trial", "varied"),
    absent=_explain_no_concurrency,
)  # fmt: skip
def check_concurrency(facts: GateFacts) -> Iterator[str]:
    """Does 07 name a strategy for each subsystem, and what depends on the schedule, and does it hold?"""
    spec, gaps = facts.workspace, _find_gaps(facts, "07", Trait.CONCURRENCY)
    yield from gaps
    strategies = {*spec.column("07", "subsystems", "strategy")}
    if not facts.denies(Trait.CONCURRENCY) and is_complete(gaps):
        if "recorded-schedule" in strategies and not spec.text("07", "trace_format"):
            where = spec.place("07", "trace_format")
            yield f"{where}: a schedule is recorded, and nobody said in which form"
        for row in spec.rows("07", "subsystems"):
            how = str(row.get("how", "")).lower()
            vague = next((each for each in _VAGUE if each in how), None)
            if vague is not None:
                where = spec.place("07", "subsystems")
                yield f"{where}: {row.get('name')} is kept {vague!r}, which is no strategy"
    started = require(facts.trial).ending.get("lineages")
    factors = {each.factor: each for each in require(facts.varied)}
    if started is None:
        yield Undecided("the trial's record does not say what it started")
        return
    seen = count_concurrent(started)
    counted = ", ".join(f"{count} {model}" for model, count in seen.items()) or "nothing"
    if facts.denies(Trait.CONCURRENCY):
        where = spec.place("00", "traits")
        said = f"by sheet 00 nothing runs at once, and the trial started {counted}"
        yield f"{where}: {said}" if seen else Observed("the trial started nothing")
        return
    if spec.get("07") is not None:
        yield from _judge_models(facts, seen)
        if "recorded-schedule" in strategies:
            # Strategy B says that a schedule decides and is recorded.
            yield Undecided("twice records no schedule yet, so no run shows that one is kept")
    elif "07" in find_required(facts.situation):
        return
    yield Observed(f"the trial started {counted} beside what started it")
    yield from _judge_schedules(facts, seen, factors)


def _judge_models(facts: GateFacts, seen: Mapping[str, int]) -> Iterator[str]:
    """Hold the models that 07 names against those that ran."""
    where, named = facts.workspace.place("07", "model"), facts.workspace.strings("07", "model")
    for model, count in seen.items():
        if model not in named:
            yield f"{where}: the trial started {count} {model}, which 07 does not name"
    for model in named:
        if model not in seen:
            why = _UNSEEN.get(model, "the trial started none")
            yield Undecided(f"{where}: {why}, so nothing is told of {model}")


def _judge_schedules(
    facts: GateFacts, seen: Collection[str], factors: Mapping[str, FactorResult]
) -> Iterator[str]:
    """Hold strategies by which no schedule decides against runs by other schedules."""
    spec = facts.workspace
    names = ", ".join(spec.column("07", "subsystems", "name"))
    where = spec.place("07", "subsystems") if names else spec.place("00", "traits")
    said = f"{names} hang on no schedule" if names else "no sheet says what decides the order"
    for name in (_SCHEDULE_OF[model] for model in seen):
        factor = factors.get(name)
        if factor is None:
            continue
        told = _describe_factor(factor)
        if factor.result == "same":
            yield Observed(f"the same by another {name}")
        elif factor.result in {"differs", "failed"}:
            yield f"{where}: {said}, and by another {name} the run {factor.result}: {told}"
        else:
            yield Undecided(f"another {name}: {told or factor.result}")


def _explain_no_floats(facts: GateFacts) -> str:
    reason, trial = facts.explain_absence(Trait.FLOATING_POINT), optional(facts.trial)
    if not reason or trial is None or trial.floats or not trial.snapshots:
        return ""
    return f"{reason}; and no state of the trial holds any"


@check(
    12, "Floating-point policy", sheets=("08", "00", "01"), needs=("trial", "policies", "varied"),
    absent=_explain_no_floats,
)  # fmt: skip
def check_floating_point(facts: GateFacts) -> Iterator[str]:
    """Does 08 pin libraries, threads, the order of sums, FMA and subnormal numbers, and do they hold?"""
    spec, gaps = facts.workspace, _find_gaps(facts, "08", Trait.FLOATING_POINT)
    yield from gaps
    sheet, own, promised = (
        spec.get("08"),
        spec.value("08", "epsilon"),
        spec.value("01", "epsilon"),
    )
    both = own is not None and promised is not None and not facts.denies(Trait.FLOATING_POINT)
    if both and is_complete(gaps) and own != promised:
        yield f"{spec.place('08', 'epsilon')}: {own} is stated, and 01 promises {promised}"
    trial, policies = require(facts.trial), require(facts.policies)
    factors = {each.factor: each for each in require(facts.varied)}
    if facts.denies(Trait.FLOATING_POINT):
        if trial.floats:
            said = (
                "by sheet 00 no floating-point arithmetic reaches the state, and the trial's state "
                f"of {trial.floats} holds some"
            )
            yield f"{spec.place('00', 'traits')}: {said}"
        elif not trial.snapshots:
            yield Undecided(
                "the trial keeps no snapshot that would show whether its state holds floats"
            )
        else:
            yield Observed("no number with a fraction in the state of the trial")
        return
    threads = {each.threads for each in policies.blas} | {
        *trial.numerics.get("threads", {}).values()
    }
    keeps = keeps_subnormals(policies.probes) and trial.keeps_subnormals
    if sheet is not None:
        yield Observed(
            f"{len(sheet.rows('pins'))} pins held against a fresh process and the trial's record"
        )
    elif "08" in find_required(facts.situation):
        return
    counted = ", ".join(map(str, sorted(threads))) or "none is loaded"
    yield Observed(f"threads of BLAS in a run: {counted}")
    yield Observed(f"subnormal numbers are {'kept' if keeps else 'flushed'}")
    if sheet is None:
        return
    yield from _judge_pins(facts, sheet)
    wanted = sheet.get("threads")
    for count in sorted(threads - {wanted}):
        where = spec.place("08", "threads")
        yield f"{where}: {wanted} threads are stated, and BLAS has {count} in a run"
    if (sheet.text("denormals") == "kept") != keeps:
        is_so = f"are {'kept' if keeps else 'flushed'} in a run"
        stated = f"subnormal numbers are stated as {sheet.text('denormals')}"
        yield f"{spec.place('08', 'denormals')}: {stated}, and {is_so}"
    yield from _judge_fusing(facts, sheet)
    yield from _judge_sums(facts, sheet, factors)
    if spec.text("01", "scope") == Scope.CROSS_HOST:
        yield from _judge_other_hosts(facts, factors)


def _judge_pins(facts: GateFacts, sheet: Sheet) -> Iterator[str]:
    """Hold each pin against the versions in runs, and BLAS, NumPy and libm against the pins, where they are used."""
    fresh, trial = require(facts.policies), require(facts.trial)
    where = facts.workspace.place("08", "pins")
    pins = {str(row.get("library")): str(row.get("version")) for row in sheet.rows("pins")}
    for library, kind in fresh.arithmetic.items():
        if library not in pins and (trial.numpy or kind == "libm"):
            has = f"a run here has {library} {fresh.versions[library]}"
            yield f"{where}: no row pins {kind}, and {has}"
    places = (("a run here", fresh.versions), ("the trial", trial.environment.versions))
    for library, pinned in pins.items():
        for what, versions in places:
            found = versions.get(library)
            if found != pinned:
                yield f"{where}: {library} is pinned to {pinned}, and {what} has {found or 'none'}"
                break


def _judge_fusing(facts: GateFacts, sheet: Sheet) -> Iterator[str]:
    """Hold "forbidden" against the instructions that numpy and BLAS chose."""
    trial = require(facts.trial)
    dispatch = trial.environment.dispatch.get("numpy", "").split()
    kernels = {*trial.numerics.get("kernels", {}).values()}
    fusing = [each for each in dispatch if each.startswith(_FUSING)]
    fusing += sorted(each for each in kernels if each and each not in _NOT_FUSING)
    used = f"{', '.join(fusing[:3])} {'fuse' if len(fusing) > 1 else 'fuses'}" if fusing else ""
    if used and sheet.text("fma") == "forbidden":
        where = facts.workspace.place("08", "fma")
        yield f"{where}: fusing is forbidden, and of numpy and BLAS in the trial {used}"
    else:
        yield Observed(f"of numpy and BLAS in the trial {used or 'nothing fuses'}")


def _judge_sums(
    facts: GateFacts, sheet: Sheet, factors: Mapping[str, FactorResult]
) -> Iterator[str]:
    """Hold an order of sums against a run with other threads."""
    order, where = sheet.text("reductions"), facts.workspace.place("08", "reductions")
    if order not in FIXED_ORDERS:
        yield Observed("sums are taken in the order of the stated threads, which were read back")
        return
    factor = factors.get(THREADS, FactorResult(THREADS, "", "unavailable", "it was not varied"))
    told = _describe_factor(factor)
    if factor.result == "same":
        yield Observed(f"sums are {order}: the same with another number of threads")
    elif factor.result in {"differs", "failed"}:
        stated = f"sums are stated to be {order}, and with another number of threads"
        yield f"{where}: {stated} the run {factor.result}: {told}"
    else:
        yield Undecided(f"{where}: another number of threads: {told or factor.result}")


def _judge_other_hosts(facts: GateFacts, factors: Mapping[str, FactorResult]) -> Iterator[str]:
    """Hold a promise that reaches other hosts against instructions that other hosts have."""
    where = facts.workspace.place("01", "scope")
    tried = [factors[name] for name in INSTRUCTIONS if name in factors]
    broken = [each for each in tried if each.result in {"differs", "failed"}]
    for each in broken:
        run = f"with other {each.factor} the run {each.result}: {_describe_factor(each)}"
        yield f"{where}: other hosts are promised the same, and {run}"
    same = [each.factor for each in tried if each.result == "same"]
    if same:
        yield Observed(f"the same with other {', '.join(same)}")
    elif not broken:
        why = "; ".join(f"{one.factor}: {_describe_factor(one) or one.result}" for one in tried)
        yield Undecided(f"no other instructions could be tried: {why or 'none are known'}")


def _find_gpu_uses(facts: GateFacts) -> list[str]:
    """Return what of the trial shows that a GPU was used."""
    trial = require(facts.trial)
    streams = [name for name, each in trial.streams.items() if "cuda" in str(each["kind"])]
    return [*(f"stream {name}" for name in streams), *(trial.gpu or {}).get("reached", ())]


def _list_gpu_code(facts: GateFacts) -> list[ReportedFinding]:
    """Return what twice check reports of the sources that sheet 09 settles."""
    sources = facts.workspace.strings("00", "sources")
    reported = require(facts.code).reported
    return [one for one in reported if one.sheet == "09" and is_within(one.place.path, sources)]


def _explain_no_gpu(facts: GateFacts) -> str:
    reason, trial = facts.explain_absence(Trait.GPU), optional(facts.trial)
    # A system is believed to have no GPU of a run only that says what it reached.
    if not reason or trial is None or trial.gpu is None or _find_gpu_uses(facts):
        return ""
    if optional(facts.code) is None or _list_gpu_code(facts):
        return ""
    return f"{reason}; and the trial loaded no driver of one and drew on none"


@check(13, "GPU determinism", sheets=("09", "00"), needs=("trial", "code"), absent=_explain_no_gpu)
def check_gpu(facts: GateFacts) -> Iterator[str]:
    """Does 09 state every switch of framework, driver and card, and are they in force?"""
    spec, gaps = facts.workspace, _find_gaps(facts, "09", Trait.GPU)
    yield from gaps
    sheet = spec.get("09")
    if sheet is not None and not facts.denies(Trait.GPU) and is_complete(gaps):
        knobs = {name.lower(): value.lower() for name, value in _read_knobs(sheet).items()}
        where = spec.place("09", "knobs")
        for part, good in _KNOBS.items():
            name = next((each for each in knobs if part in each), None)
            if name is None:
                yield f"{where}: {part} is not stated"
            elif good and knobs[name] not in good:
                expected = f"which does not keep the class; expected {' or '.join(good)}"
                yield f"{where}: {name} is {knobs[name]}, {expected}"
    gpu, used = require(facts.trial).gpu, _find_gpu_uses(facts)
    for each in _list_gpu_code(facts):
        if facts.denies(Trait.GPU):
            said = "by sheet 00 nothing runs on a GPU, and twice check reports"
            yield f"{spec.place('00', 'traits')}: {said} {each.place}"
        elif each.rule == "atomic-scatter" and spec.text("09", "atomics").lower() == "none":
            where = spec.place("09", "atomics")
            yield f"{where}: none is stated, and twice check reports {each.place}"
    if gpu is None and not used:
        yield Undecided("the trial's record does not say whether a GPU was reached")
    elif facts.denies(Trait.GPU):
        if used:
            said_none = "by sheet 00 nothing runs on a GPU, and the trial reached one"
            yield f"{spec.place('00', 'traits')}: {said_none}: {', '.join(used)}"
        else:
            yield Observed("the trial loaded no driver of a GPU and drew on none")
    elif sheet is None and "09" in find_required(facts.situation):
        return
    elif gpu is None or not used:
        cards = f"run the gate where there is {spec.text('09', 'sku') or 'one'}"
        where = spec.place("09", "sku")
        yield Undecided(f"{where}: the trial reached no GPU, so no switch is shown: {cards}")
    else:
        yield Observed(f"the trial reached a GPU: {', '.join(used)}")
        if sheet is not None:
            yield from _judge_switches(facts, sheet, gpu)
            yield from _judge_cards(facts, sheet, gpu)


def _read_knobs(sheet: Sheet) -> dict[str, str]:
    return {str(row.get("name")): str(row.get("value")) for row in sheet.rows("knobs")}


def _judge_switches(facts: GateFacts, sheet: Sheet, gpu: Mapping[str, Any]) -> Iterator[str]:
    """Hold each stated switch against what was read back: a switch, a variable, or all switches that end in it."""
    where = facts.workspace.place("09", "knobs")
    for name, value in _read_knobs(sheet).items():
        short = name.lower().removeprefix("torch.").removeprefix("backends.")
        now = {
            str(each).lower()
            for switch, each in gpu["switches"].items()
            if switch.lower() == short or switch.lower().endswith(f".{short}")
        }
        if not now:
            yield Undecided(f"{where}: nothing reads {name} back")
        elif now != {value.lower()}:
            yield f"{where}: {name} is stated as {value}, and was {', '.join(sorted(now))}"
        else:
            yield Observed(f"{name} was {value}")


def _judge_cards(facts: GateFacts, sheet: Sheet, gpu: Mapping[str, Any]) -> Iterator[str]:
    """Hold the driver and the cards against those that the trial ran on."""
    driver, cards, stated = str(gpu["driver"]), list(gpu["cards"]), sheet.text("driver")
    where = facts.workspace.place("09", "driver")
    fits = f"{driver}.".startswith(f"{stated}.")
    if not driver:
        yield Undecided(f"{where}: this system does not tell the driver's version")
    elif not fits:
        yield f"{where}: {stated} is stated, and the trial had {driver}"
    where = facts.workspace.place("09", "sku")
    other = sorted({each for each in cards if each.lower() not in sheet.text("sku").lower()})
    if not cards:
        yield Undecided(f"{where}: no library tells the cards' names")
    for each in other:
        yield f"{where}: the trial ran on {each}, which the sheet does not name"
    if driver and fits and cards and not other:
        yield Observed(f"driver {driver}; {', '.join(cards)}")
