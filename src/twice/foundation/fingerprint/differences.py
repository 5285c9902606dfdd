"""How two environments differ, and which of the differences can move a result.

Whether a session may start over a difference is for the session to say; ``probes_that_matter``
gives it the probes that a determinism class rests on.

Invariant: the order of the differences depends on nothing but the two fingerprints.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal, assert_never

from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.foundation.fingerprint.value import BlasFacts, CpuFacts, Fingerprint

Affects = Literal["numerics", "identity", "note"]
"""What a difference can move: result bits; what the program sees (order, text, versions); nothing
that is known to matter (a kernel release, the marketing name of a processor)."""

ORDER_PROBES: Final = "hash."
"""Probes under this prefix reveal iteration order, not arithmetic."""

NUMERIC_LIBRARIES: Final = frozenset(
    {
        "jax", "jaxlib", "lightgbm", "mkl", "mujoco", "numba", "numexpr", "numpy", "pandas",
        "polars", "pyarrow", "scikit-learn", "scipy", "tensorflow", "torch", "xgboost",
    }
)  # fmt: skip

NUMERIC_VARIABLES: Final = (
    "OMP_*", "OPENBLAS_*", "GOTO_*", "BLIS_*", "MKL_*", "NUMEXPR_*", "VECLIB_*", "NPY_*", "NUMBA_*",
    "GLIBC_TUNABLES", "ATEN_*", "TORCH_*", "PYTORCH_*", "ONEDNN_*", "DNNL_*", "CUDA*", "CUBLAS_*",
    "CUDNN_*", "NCCL_*", "NVIDIA_*", "XLA_*", "JAX_*", "TF_*", "KMP_*", "LD_PRELOAD", "MALLOC_*",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class EnvironmentDifference:
    """One thing that is not as it was recorded.

    Args:
        what: which thing, such as ``probe libm.exp`` or ``library numpy``.
        recorded: its recorded value; None when there was none.
        now: its value in the other environment; None when there is none.
        affects: what the difference can move.
    """

    what: str
    recorded: str | None
    now: str | None
    affects: Affects

    def to_json(self) -> dict[str, str | None]:
        """Plain data: what, recorded, now, affects."""
        return asdict(self)


def differences(
    recorded: Fingerprint, now: Fingerprint, *, ignore: Collection[str] = ()
) -> list[EnvironmentDifference]:
    """What differs between two environments, in a fixed order, probes last.

    Args:
        recorded: the environment of the record.
        now: the environment to hold against it.
        ignore: patterns over ``what`` to leave out, such as ``"probe torch.*"``.

    A probe that only ``now`` has is a note (nothing was recorded to compare it with); one that only
    the record has counts in full, because it could not be checked. For ``cpu features`` each side
    shows the features that the other lacks.
    """
    found = [
        *_facts_apart(recorded, now),
        *_features_apart(recorded.cpu, now.cpu),
        *_mappings_apart("library", recorded.libraries, now.libraries),
        *_blas_apart(recorded.blas, now.blas),
        *_mappings_apart("dispatch", recorded.dispatch, now.dispatch),
        *_mappings_apart("variable", recorded.variables, now.variables),
        *_mappings_apart("probe", recorded.probes, now.probes),
    ]
    return [one for one in found if not any(fnmatchcase(one.what, p) for p in ignore)]


_FACTS: tuple[tuple[str, str, Affects], ...] = (
    ("python", "version", "identity"),
    ("python", "implementation", "identity"),
    ("python", "build", "note"),
    ("os", "system", "identity"),
    ("os", "release", "note"),
    ("os", "libc", "numerics"),
    ("cpu", "arch", "numerics"),
    ("cpu", "model", "note"),
)


def _facts_apart(recorded: Fingerprint, now: Fingerprint) -> Iterator[EnvironmentDifference]:
    for part, name, affects in _FACTS:
        a, b = (getattr(getattr(side, part), name) for side in (recorded, now))
        if a != b:
            yield EnvironmentDifference(f"{part} {name}", a, b, affects)


def _features_apart(recorded: CpuFacts, now: CpuFacts) -> Iterator[EnvironmentDifference]:
    only_a = " ".join(name for name in recorded.features if name not in now.features)
    only_b = " ".join(name for name in now.features if name not in recorded.features)
    if only_a or only_b:
        yield EnvironmentDifference("cpu features", only_a, only_b, "numerics")


def _blas_apart(
    recorded: tuple[BlasFacts, ...], now: tuple[BlasFacts, ...]
) -> Iterator[EnvironmentDifference]:
    sides = (_by_place(recorded), _by_place(now))
    for place in sorted({**sides[0], **sides[1]}):
        a, b = (side.get(place) for side in sides)
        if a is None or b is None:
            loaded = ("" if a is None else a.version, "" if b is None else b.version)
            yield EnvironmentDifference(place, loaded[0] or None, loaded[1] or None, "numerics")
            continue
        for name in ("library", "version", "architecture", "threads", "where"):
            if getattr(a, name) != getattr(b, name):
                values = (str(getattr(a, name)), str(getattr(b, name)))
                affects: Affects = "note" if name == "where" else "numerics"
                yield EnvironmentDifference(f"{place} {name}", *values, affects)


def _by_place(libraries: tuple[BlasFacts, ...]) -> dict[str, BlasFacts]:
    """Key each library by author and folder, because its file name carries a build's digest."""
    placed: dict[str, BlasFacts] = {}
    for one in libraries:
        place = f"blas {one.internal_api} in {one.where.rpartition('/')[0] or 'system'}"
        again = sum(1 for known in placed if known.partition(" #")[0] == place)
        placed[f"{place} #{again + 1}" if again else place] = one
    return placed


def _mappings_apart(
    kind: str, recorded: Mapping[str, str], now: Mapping[str, str]
) -> Iterator[EnvironmentDifference]:
    for name in sorted({**recorded, **now}):
        a, b = recorded.get(name), now.get(name)
        if a != b:
            unrecorded = kind == "probe" and a is None
            affects: Affects = "note" if unrecorded else _affects(kind, name)
            yield EnvironmentDifference(f"{kind} {name}", a, b, affects)


def probes_that_matter(
    names: Iterable[str], *, determinism_class: DeterminismClass, scope: Scope
) -> tuple[str, ...]:
    """Of these probes, the ones that must agree before a verification means anything.

    Args:
        names: probe names.
        determinism_class: what the run promises.
        scope: where it promises it.

    Bit-exact on one host rests on every probe. Logical absorbs arithmetic and rests on iteration
    order and on the state of the floating-point unit. Across hosts, and for statistics, a moved
    probe is what is being tested, so it is reported and nothing rests on it.
    """
    if scope is Scope.CROSS_HOST:
        return ()
    match determinism_class:
        case DeterminismClass.BIT_EXACT:
            return tuple(sorted(names))
        case DeterminismClass.LOGICAL:
            return tuple(one for one in sorted(names) if one.startswith((ORDER_PROBES, "float.")))
        case DeterminismClass.STATISTICAL:
            return ()
        case _:
            assert_never(determinism_class)


def _affects(kind: str, name: str) -> Affects:
    if kind == "probe":
        return "identity" if name.startswith(ORDER_PROBES) else "numerics"
    if kind == "library":
        return "numerics" if name in NUMERIC_LIBRARIES else "identity"
    if kind == "variable":
        numeric = any(fnmatchcase(name, pattern) for pattern in NUMERIC_VARIABLES)
        return "numerics" if numeric else "identity"
    return "numerics"
