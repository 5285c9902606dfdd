"""Check 12: arithmetic that comes out the same is pinned, and what is pinned holds in a run.

No run shows in which order a sum was taken. What one shows is whether it hangs on the number of threads,
and on the instructions of the processor: an order that is fixed hangs on neither.

Invariant: what is told of a run was read back from it, or seen in another run of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.foundation.determinism_class import Scope
from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, absent, gaps, place, unexplained
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.outcome import Found
from twice.specifying.gate.plan import FIXED_ORDERS, INSTRUCTIONS, THREADS
from twice.specifying.tiers import Tier, Trait

_FUSING: Final = ("FMA", "ASIMD", "NEON_VFPV4", "VSX", "VX", "SVE", "AVX512")
"""How numpy's names of instruction sets begin that fuse a multiplication and an addition."""
_NOT_FUSING: Final = frozenset(
    {
        "Athlon", "Atom", "Bobcat", "Core2", "Dunnington", "Katmai", "Nano", "Nehalem", "Northwood",
        "Opteron", "Penryn", "Prescott", "Sandybridge",
    }
)  # fmt: skip
"""OpenBLAS' kernels for processors without such instructions."""


def _precondition(facts: Facts) -> str:
    if facts.tier < Tier.L:
        return f"sheet 08 is asked for from tier L on; the tier is {facts.tier}"
    reason = absent(facts, Trait.FLOATING_POINT)
    trial = facts.trial
    if not reason or isinstance(trial, Unavailable) or trial.floats:
        return ""  # What no run shows cannot be said to be absent.
    return f"{reason}; and no state of the trial holds any"


def _said(facts: Facts) -> Found:
    if facts.situation.traits.get(Trait.FLOATING_POINT) is False:
        return unexplained(facts, Trait.FLOATING_POINT)
    found, sheet, promise = gaps(facts, "08"), facts.sheet("08"), facts.sheet("01")
    if sheet is None or promise is None or found.faults:
        return found
    own, promised = sheet.get("epsilon"), promise.get("epsilon")
    if own is None or promised is None or own == promised:
        return found
    where = place(facts, "08", "epsilon")
    return found + Found((f"{where}: {own} is stated, and 01 promises {promised}",))


def _shown(facts: Facts) -> Found:
    if facts.situation.traits.get(Trait.FLOATING_POINT) is False:
        if not there(facts.trial).floats:
            return Found((), ("no number with a fraction in the state of the trial",))
        said = "by sheet 00 no floating-point arithmetic reaches the state, and the trial's state holds some"
        return Found((f"{place(facts, '00', 'traits')}: {said}",))
    sheet, policies, trial = facts.sheet("08"), there(facts.policies), there(facts.trial)
    if sheet is None:
        return Found()
    threads = sorted({*policies.threads.values(), *trial.threads.values()})
    evidence = (
        f"{len(sheet.rows('pins'))} pins held against a fresh process and the trial's record",
        f"threads of BLAS in a run: {', '.join(map(str, threads)) or 'none is loaded'}",
        f"subnormal numbers are {'kept' if policies.denormals and trial.kept else 'flushed'}",
    )
    found = Found((*_pins(facts, sheet), *_held(facts, sheet)), evidence)
    return found + _fused(facts, sheet) + _sums(facts, sheet) + _elsewhere(facts)


def _pins(facts: Facts, sheet: Artifact) -> Iterator[str]:
    """Hold each pin against the versions in runs, and BLAS, NumPy and libm against the pins, where they are used."""
    policies, trial = there(facts.policies), there(facts.trial)
    where = place(facts, "08", "pins")
    pins = {str(row.get("library")): str(row.get("version")) for row in sheet.rows("pins")}
    for library, kind in policies.arithmetic.items():
        if library not in pins and (trial.numpy or kind == "libm"):
            has = f"a run here has {library} {policies.libraries[library]}"
            yield f"{where}: no row pins {kind}, and {has}"
    for library, pinned in pins.items():
        for what, versions in (
            ("a run here", policies.libraries),
            ("the trial", policies.recorded),
        ):
            found = versions.get(library)
            if found != pinned:
                yield f"{where}: {library} is pinned to {pinned}, and {what} has {found or 'none'}"
                break


def _held(facts: Facts, sheet: Artifact) -> Iterator[str]:
    policies, trial = there(facts.policies), there(facts.trial)
    wanted = sheet.get("threads")
    for count in sorted({*policies.threads.values(), *trial.threads.values()} - {wanted}):
        yield f"{place(facts, '08', 'threads')}: {wanted} threads are stated, and BLAS has {count} in a run"
    kept = policies.denormals and trial.kept
    if (sheet.said("denormals") == "kept") != kept:
        where = place(facts, "08", "denormals")
        is_so = "kept" if kept else "flushed"
        yield f"{where}: subnormal numbers are stated as {sheet.said('denormals')}, and are {is_so} in a run"


def _fused(facts: Facts, sheet: Artifact) -> Found:
    """Hold "forbidden" against the instructions that numpy and BLAS chose."""
    trial = there(facts.trial)
    fusing = [each for each in trial.dispatch if each.startswith(_FUSING)]
    fusing += sorted({each for each in trial.kernels.values() if each and each not in _NOT_FUSING})
    used = f"{', '.join(fusing[:3])} {'fuse' if len(fusing) > 1 else 'fuses'}" if fusing else ""
    if not used or sheet.said("fma") != "forbidden":
        return Found((), (f"of numpy and BLAS in the trial {used or 'nothing fuses'}",))
    where = place(facts, "08", "fma")
    return Found((f"{where}: fusing is forbidden, and of numpy and BLAS in the trial {used}",))


def _sums(facts: Facts, sheet: Artifact) -> Found:
    """Hold an order of sums against a run with other threads."""
    order = sheet.said("reductions")
    if order not in FIXED_ORDERS:
        return Found(
            (), ("sums are taken in the order of the stated threads, which were read back",)
        )
    result, told = there(facts.varied).factors.get(THREADS, ("unavailable", "it was not varied"))
    where = place(facts, "08", "reductions")
    if result == "same":
        return Found((), (f"sums are {order}: the same with another number of threads",))
    if result in {"differs", "failed"}:
        said = f"sums are stated to be {order}, and with another number of threads the run {result}"
        return Found((f"{where}: {said}: {told}",))
    return Found((), (), (f"{where}: another number of threads: {told or result}",))


def _elsewhere(facts: Facts) -> Found:
    """Hold a promise that reaches other hosts against instructions that other hosts have."""
    promise = facts.sheet("01")
    if promise is None or promise.said("scope") != Scope.CROSS_HOST:
        return Found()
    factors = there(facts.varied).factors
    tried = {name: factors[name] for name in INSTRUCTIONS if name in factors}
    where = place(facts, "01", "scope")
    faults = tuple(
        f"{where}: other hosts are promised the same, and with other {name} the run {result}: {told}"
        for name, (result, told) in tried.items()
        if result in {"differs", "failed"}
    )
    same = [name for name, (result, _) in tried.items() if result == "same"]
    if not same and not faults:
        reasons = "; ".join(f"{name}: {told or result}" for name, (result, told) in tried.items())
        return Found(open=(f"no other instructions could be tried: {reasons or 'none are known'}",))
    return Found(faults, (f"the same with other {', '.join(same)}",) if same else ())


CHECK: Final = Check(
    12,
    "Floating-point policy",
    "Does 08 pin libraries, threads, the order of sums, FMA and subnormal numbers, and do they hold?",
    ("08", "00", "01"),
    ("trial", "policies", "varied"),
    _said,
    _shown,
    _precondition,
)
