"""The knobs of numerical libraries, and whether each of them is as it is wanted.

``knobs.toml`` is the table of floating-point arithmetic, ``gpu_knobs.toml`` that of a GPU, and ``knob_readers`` asks
the libraries. A knob lies silently: an unknown kernel, a renamed
feature, a misspelt variable and a value that comes too late are all accepted and ignored. So what is wanted is compared
with what is read back, and where nothing can be read back the row says so.

Not here: what a policy sets before a process begins (``float_profile``, ``gpu_policy``) and in it (``switches``), and
when a run is stopped (``numeric_guard``).

Invariant: judging changes nothing. A row holds only where the library itself said so.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from twice.foundation.dataclass import dataclass
from twice.recorder.environment import knob_readers
from twice.recorder.environment.libraries import read_loaded_blas, read_numpy_dispatch

Axis = Literal["float", "gpu"]
_TABLES: Final[Mapping[Axis, str]] = {"float": "knobs.toml", "gpu": "gpu_knobs.toml"}

NUMPY: Final = "NPY_DISABLE_CPU_FEATURES"
PROCESSOR: Final = "processor"
"""In the table: the value is computed from what numpy can choose between."""
AS_FOUND: Final = "as found"
"""In the table: the value that the module has when it was imported."""
_V2: Final = frozenset({"SSE", "SSE2", "SSE3", "SSSE3", "SSE41", "POPCNT", "SSE42", "X86_V2"})
_KEPT: Final = {
    "x86-64-v3": _V2 | {"AVX", "F16C", "FMA3", "AVX2", "X86_V3"},
    "x86-64-v2": _V2,
}
"""numpy's names of the instruction sets of a level, old and new."""
_OTHERS: Final = (
    "OMP_DYNAMIC", "MKL_DYNAMIC", "OMP_THREAD_LIMIT", "OMP_PROC_BIND", "OMP_PLACES", "GOTO_NUM_THREADS",
    "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NPY_ENABLE_CPU_FEATURES", "NUMEXPR_MAX_THREADS",
    "OMP_MAX_ACTIVE_LEVELS", "OPENBLAS_VERBOSE", "OPENBLAS_MAIN_FREE", "MKL_ENABLE_INSTRUCTIONS", "MKL_VERBOSE",
    "MKL_DOMAIN_NUM_THREADS", "MKL_THREADING_LAYER", "MKL_SERVICE_FORCE_INTEL", "ONEDNN_VERBOSE",
    "NCCL_DEBUG", "NCCL_NTHREADS", "TRITON_PRINT_AUTOTUNING",
)  # fmt: skip
"""Variables that libraries read and that are no knobs of the table: a name near one of them is no misspelling."""
_NEAR: Final = 0.9
_GOVERNED: Final = ("openblas", "mkl")
"""BLAS libraries that the table has knobs for, by their authors."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A row of a table; ``knobs.toml`` and ``gpu_knobs.toml`` say what each member means."""

    name: str
    by: Mapping[str, str] = field(default_factory=dict)
    read: str = ""
    variable: bool = False
    threads: bool = False
    accepts: str = ""
    means: Mapping[str, str] = field(default_factory=dict)
    within: str = ""
    between: str = ""
    module: str = ""
    set: str = ""
    allows: str = ""
    axis: Axis = "float"

    def value_for(self, policy: str) -> str | None:
        """Return the value that a policy sets; None where it leaves the knob alone, empty where it takes it away."""
        value = self.by.get(policy)
        if value != PROCESSOR:
            return value
        return " ".join(name for name in read_numpy_dispatch()[0] if name not in _KEPT[policy])

    def permits(self, value: str, wanted: str) -> bool:
        """Return whether a value of the variable keeps a policy that sets ``wanted``."""
        return value == wanted or bool(self.allows and re.fullmatch(self.allows, value))

    def part_of(self, text: str) -> str:
        """Return the governed part of a variable's text; empty where it has none."""
        if not self.within:
            return text
        parts = (part.strip() for part in text.split(self.between))
        found = [part for part in parts if part.startswith(self.within)]
        return found[-1].removeprefix(self.within) if found else ""

    def put_into(self, text: str, value: str) -> str:
        """Return a variable's text with another governed part; empty takes the part away."""
        if not self.within:
            return value
        parts = [part.strip() for part in text.split(self.between) if part.strip()]
        own = [at for at, part in enumerate(parts) if part.startswith(self.within)]
        new = [self.within + value] if value else []
        # In its place: a policy that is applied again changes nothing.
        at = own[-1] if own else len(parts)
        kept = [
            [part for part in some if not part.startswith(self.within)]
            for some in (parts[:at], parts[at:])
        ]
        return self.between.join([*kept[0], *new, *kept[1]])


@dataclass(frozen=True, slots=True)
class KnobReading:
    """A knob as it is.

    Attributes:
        name: of the variable or the switch.
        wanted: its value; None where nobody asks for one.
        read_back: what the library says, or each of several; None where nothing tells.
        holds: None where nothing is wanted, or nothing tells.
        why: what to know of a knob that does not hold, or that nothing tells of; else empty.
    """

    name: str
    wanted: str | None
    read_back: str | None
    holds: bool | None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


@cache
def list_knobs(axis: Axis = "float") -> tuple[Knob, ...]:
    """Return the rows of a table."""
    text = resources.files(__package__).joinpath(_TABLES[axis]).read_text(encoding="utf-8")
    return tuple(Knob(axis=axis, **row) for row in tomllib.loads(text)["knob"])


def list_wanted(
    policy: str, axis: Axis = "float", *, variable: bool = False
) -> list[tuple[Knob, str]]:
    """Return the knobs that a policy governs, with the values that it wants of them.

    Args:
        policy: its name.
        axis: the table.
        variable: whether to list variables; otherwise what any line of a program can move.
    """
    knobs = [knob for knob in list_knobs(axis) if knob.variable == variable]
    found = ((knob, knob.value_for(policy)) for knob in knobs)
    return [(knob, wanted) for knob, wanted in found if wanted is not None]


def has_variables_of(policy: str, environ: Mapping[str, str], axis: Axis = "float") -> bool:
    """Return whether a process was started with the variables of a policy; a number of threads may be another."""
    return all(
        knob.permits(knob.part_of(environ.get(knob.name, "")), wanted)
        for knob, wanted in list_wanted(policy, axis, variable=True)
        if not knob.threads
    )


def judge_knobs(
    environ: Mapping[str, str], policy: str = "", axis: Axis = "float"
) -> list[KnobReading]:
    """Judge every knob in this process.

    Args:
        environ: the variables that it was started with.
        policy: the policy that a run asked for; empty for none. Then variables alone say what is wanted.
        axis: the table.
    """
    rows = [_judge(knob, environ, policy) for knob in list_knobs(axis)]
    has_blas = policy and axis == "float"
    return [*rows, *_find_misspelt(environ, axis), *(_find_unknown_blas() if has_blas else ())]


def _judge(knob: Knob, environ: Mapping[str, str], policy: str) -> KnobReading:
    asked = wanted = knob.value_for(policy)
    if knob.variable:
        said = knob.part_of(environ.get(knob.name, ""))
        wanted = asked if said == "" else said
        if asked is not None and not knob.threads and not knob.permits(said, asked):
            why = f"the variable says {said or 'nothing'}, and {policy} wants {asked or 'nothing'}"
            wrong = explain_value(knob, said) if said else ""
            return KnobReading(knob.name, asked, said, False, wrong or why)
    found = knob_readers.read(knob.read) if knob.read else {}
    shown = _show(found)
    if wanted is None:
        return KnobReading(knob.name, None, shown, None)
    why = explain_value(knob, wanted)
    if why:
        return KnobReading(knob.name, wanted, shown, False, why)
    if not knob.read:
        why = "no interface tells" + (": probes do" if knob.axis == "float" else "")
        return KnobReading(knob.name, wanted, None, None, why)
    if not found:
        return KnobReading(knob.name, wanted, None, None, "no library that reads it is loaded")
    apart = _explain_reading(knob, wanted, policy, found)
    return KnobReading(knob.name, wanted, shown, None if apart is None else not apart, apart or "")


def _show(found: knob_readers.Reading) -> str | None:
    values = {*found.values()}
    if len(values) == 1:
        return values.pop()
    return ", ".join(f"{value} ({place})" for place, value in found.items()) or None


def explain_value(knob: Knob, wanted: str) -> str:
    """Say why a library does not obey a value; empty where it may."""
    if knob.name == NUMPY:
        known = read_numpy_dispatch()[0]
        unknown = [name for name in wanted.replace(",", " ").split() if name not in known]
        if unknown:
            return f"numpy here knows no {', '.join(unknown)} and ignores it; it knows {', '.join(known)}"
    if knob.accepts and wanted and not re.fullmatch(knob.accepts, wanted):
        near = get_close_matches(wanted, knob.by.values(), 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        return f"its library knows no {wanted} and ignores it{meant}"
    return ""


def _explain_reading(
    knob: Knob, wanted: str, policy: str, found: knob_readers.Reading
) -> str | None:
    """Say how what was read back differs from what is wanted; empty for not at all, None where it does not tell."""
    if knob.name == NUMPY:
        return _explain_features(wanted, policy, found["numpy"])
    if wanted == AS_FOUND:
        return ""
    expected = knob.means.get(wanted, None if knob.means else wanted.partition(",")[0])
    if expected is None:
        return None
    apart = [
        f"{place} has {value}"
        for place, value in found.items()
        if value.partition(",")[0].casefold() != expected.casefold()
    ]
    return "; ".join(apart)


def _explain_features(wanted: str, policy: str, read_back: str) -> str:
    present = {*read_back.split()}
    left = present & {*wanted.replace(",", " ").split()}
    if left:
        return f"numpy still uses {', '.join(sorted(left))}: it was loaded before, or told something else"
    lacks = {*read_numpy_dispatch()[0]} & _KEPT.get(policy, frozenset()) - present
    if lacks:
        return f"the processor lacks {', '.join(sorted(lacks))}, or it is switched off"
    return ""


def _find_unknown_blas() -> Iterator[KnobReading]:
    for one in read_loaded_blas():
        if one.library == "blas" and one.internal_api not in _GOVERNED:
            name = f"{one.internal_api} ({one.where})"
            yield KnobReading(
                name, "OpenBLAS or MKL", one.internal_api, False, "no knob governs it"
            )


def _find_misspelt(environ: Mapping[str, str], axis: Axis) -> Iterator[KnobReading]:
    """Yield variables that no library reads and whose names are near a knob's."""
    known = [knob.name for knob in list_knobs(axis) if knob.variable]
    read = {knob.name for each in _TABLES for knob in list_knobs(each)} | {*_OTHERS}
    for name, value in sorted(environ.items()):
        if name in read:
            continue
        near = get_close_matches(name.upper(), [*known, *_OTHERS], 1, _NEAR)
        if near:
            yield KnobReading(
                name, value, None, False, f"nothing reads it; did you mean {near[0]}?"
            )
