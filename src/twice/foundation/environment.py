"""The environment of a run as a value, and how two of them differ.

A fingerprint holds the facts that decide the bits of a computation besides its inputs: interpreter, system,
processor, library versions, BLAS kernels and threads, variables, and *probes*: short computations
whose result bits differ between machines. ``twice.recorder.environment.fingerprint`` measures one. This module does not
decide whether a session may start.

Invariant: a probe's name means one computation for ever; a changed one gets a new name.
``Fingerprint.from_json(f.to_json()) == f``, whatever order its parts were given in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final, Literal

from twice.errors import ConfigError
from twice.foundation.dataclass import dataclass
from twice.foundation.dataclass_codec import OPTIONAL, from_plain, to_plain

FORMAT = "twice.environment/1"
DRIVER: Final = "nvidia-driver"
"""The name of NVIDIA's driver among versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFacts:
    """The interpreter: ``version`` such as 3.12.1, ``implementation``, ``build`` with compiler."""

    version: str
    implementation: str
    build: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OsFacts:
    """The system: ``system`` such as Linux, kernel ``release``, ``libc`` such as glibc 2.36."""

    system: str
    release: str
    libc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuFacts:
    """The processor: ``arch`` such as x86_64, ``model`` name, ``features`` by name, each once, in sorted order."""

    arch: str
    model: str
    features: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(sorted({*self.features} - {""})))


@dataclass(frozen=True, slots=True, kw_only=True)
class BlasFacts:
    """One loaded BLAS or OpenMP library, as it reads back after its variables were applied.

    ``library`` is the kind of interface (blas, openmp), ``internal_api`` who wrote it (openblas,
    mkl), ``architecture`` the kernel set it chose, ``where`` its folder and file name.
    """

    library: str
    internal_api: str
    version: str
    architecture: str
    threads: int
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Everything that was measured about one environment.

    Args:
        python: the interpreter.
        os: the operating system and C library.
        cpu: the processor.
        libraries: installed version by distribution name.
        blas: the BLAS and OpenMP libraries that were loaded at the time.
        dispatch: by library, the instruction sets it really uses (the read-back of its knobs).
        variables: the relevant environment variables, secrets redacted.
        probes: by probe name, 16 hex digits of the digest of its result bits, or ``unpinned``.
        gpu: the driver's version and each card's name, by ``driver`` and ``card 0``; empty without one.
        settings: what the surroundings really are, read back from the process. They are compared by who
            varies them, and never by ``differences``: a host name says nothing about a result.
    """

    python: PythonFacts
    os: OsFacts
    cpu: CpuFacts
    libraries: Mapping[str, str] = field(default_factory=dict)
    blas: tuple[BlasFacts, ...] = ()
    dispatch: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    probes: Mapping[str, str] = field(default_factory=dict)
    gpu: Mapping[str, str] = field(default_factory=dict, metadata=OPTIONAL)
    settings: Mapping[str, str] = field(default_factory=dict, metadata=OPTIONAL)

    def __post_init__(self) -> None:
        for name in ("libraries", "dispatch", "variables", "probes", "gpu", "settings"):
            ordered = dict(sorted(getattr(self, name).items()))
            object.__setattr__(self, name, MappingProxyType(ordered))
        in_order = sorted(self.blas, key=lambda one: (one.internal_api, one.where, one.library))
        object.__setattr__(self, "blas", tuple(in_order))

    @property
    def versions(self) -> dict[str, str]:
        """Versions by the names that pins use: distributions, ``python``, each BLAS by its author, C library, driver.

        Where several copies of one BLAS are loaded, numpy's counts: another comes with its distribution, and has
        the version that belongs to that. A library without a version has no row.
        """
        by_numpy_last = sorted(self.blas, key=lambda one: one.where.startswith("numpy"))
        libc, _, libc_version = self.os.libc.partition(" ")
        found = {
            **self.libraries,
            **{one.internal_api: one.version for one in by_numpy_last},
            libc: libc_version,
            "python": self.python.version,
            DRIVER: self.gpu.get("driver", ""),
        }
        return {name: version for name, version in found.items() if version}

    @property
    def arithmetic(self) -> dict[str, str]:
        """The libraries under results of arithmetic, by name in ``versions``: BLAS, NumPy or libm."""
        kinds = {one.internal_api: "BLAS" for one in self.blas if one.library == "blas"}
        kinds |= {"numpy": "NumPy", self.os.libc.partition(" ")[0]: "libm"}
        return {name: kind for name, kind in kinds.items() if name in self.versions}

    def to_json(self) -> dict[str, Any]:
        """Return plain data with ``"format": "twice.environment/1"``, every mapping in sorted order."""
        return {"format": FORMAT, **to_plain(self)}

    @classmethod
    def from_json(cls, document: object) -> Fingerprint:
        """Read the plain form back.

        Raises:
            ConfigError: E-CONFIG-001, naming the place that is not understood: another format, a
                missing member, a value of another type. Members that this version does not know are
                ignored, because fields may be added under one format number.
        """
        if isinstance(document, Mapping) and document.get("format") != FORMAT:
            raise _refuse_place("format", document.get("format"), FORMAT)
        found: Fingerprint = from_plain(cls, document, "", _refuse_place)
        return found


def _refuse_place(place: str, found: object, expected: str) -> ConfigError:
    place = place or "the environment"
    return ConfigError(
        f"An environment description has {found!r} at {place}.",
        f"Expected there: {expected}.",
        "Measure it again with this version of twice: twice env --json",
        place=place,
    )


Affects = Literal["numerics", "identity", "note"]
"""What a difference can move: result bits; what the program sees (order, text, versions); nothing
that is known to matter (a kernel release, the marketing name of a processor)."""

Classification = Literal["cross-machine", "cross-version", "same-environment"]
_MACHINE: Final = ("cpu ", "gpu ", "os system")

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
    "NVTE_*", "MAMBA_*", "CAUSAL_CONV1D_*", "TRITON_*", "TORCHINDUCTOR_*",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class EnvironmentDifference:
    """One fact of the environment that differs from the recorded one.

    Args:
        what: the fact, such as ``probe libm.exp`` or ``library numpy``.
        recorded: its recorded value; None when there was none.
        now: its value in the other environment; None when there is none.
        affects: the results that the difference can change.
    """

    what: str
    recorded: str | None
    now: str | None
    affects: Affects

    def to_json(self) -> dict[str, str | None]:
        """Return plain data: what, recorded, now, affects."""
        return asdict(self)


def diff_fingerprints(recorded: Fingerprint, now: Fingerprint) -> list[EnvironmentDifference]:
    """Return the differences of two environments, in a fixed order, probes last.

    A probe that only ``now`` has is a note (nothing was recorded to compare it with); one that only
    the record has counts in full, because it could not be checked. For ``cpu features`` each side
    shows the features that the other lacks.
    """
    return [
        *_compare_facts(recorded, now),
        *_compare_features(recorded.cpu, now.cpu),
        *_compare_mappings("library", recorded.libraries, now.libraries),
        *_compare_blas(recorded.blas, now.blas),
        *_compare_mappings("dispatch", recorded.dispatch, now.dispatch),
        *_compare_mappings("gpu", recorded.gpu, now.gpu),
        *_compare_mappings("variable", recorded.variables, now.variables),
        *_compare_mappings("probe", recorded.probes, now.probes),
    ]


def classify_differences(rows: Sequence[EnvironmentDifference]) -> Classification:
    """Say whether other versions or another machine stood under two runs."""
    told = [row.what for row in rows if row.affects != "note"]
    if any(name.startswith(_MACHINE) or _is_other_processor(name, told) for name in told):
        return "cross-machine"
    is_other = any(not name.startswith(("variable ", "probe ")) for name in told)
    return "cross-version" if is_other else "same-environment"


def _is_other_processor(name: str, told: Sequence[str]) -> bool:
    """Return whether a library of one version uses other instructions of the processor."""
    kind, _, library = name.partition(" ")
    return kind == "dispatch" and f"library {library}" not in told


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


def _compare_facts(recorded: Fingerprint, now: Fingerprint) -> Iterator[EnvironmentDifference]:
    for part, name, affects in _FACTS:
        a, b = (getattr(getattr(side, part), name) for side in (recorded, now))
        if a != b:
            yield EnvironmentDifference(f"{part} {name}", a, b, affects)


def _compare_features(recorded: CpuFacts, now: CpuFacts) -> Iterator[EnvironmentDifference]:
    only_a = " ".join(name for name in recorded.features if name not in now.features)
    only_b = " ".join(name for name in now.features if name not in recorded.features)
    if only_a or only_b:
        yield EnvironmentDifference("cpu features", only_a, only_b, "numerics")


def _compare_blas(
    recorded: tuple[BlasFacts, ...], now: tuple[BlasFacts, ...]
) -> Iterator[EnvironmentDifference]:
    sides = (_key_by_place(recorded), _key_by_place(now))
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


def _key_by_place(libraries: tuple[BlasFacts, ...]) -> dict[str, BlasFacts]:
    """Key each library by author and folder, because its file name carries a build's digest."""
    placed: dict[str, BlasFacts] = {}
    for one in libraries:
        place = f"blas {one.internal_api} in {one.where.rpartition('/')[0] or 'system'}"
        again = sum(1 for known in placed if known.partition(" #")[0] == place)
        placed[f"{place} #{again + 1}" if again else place] = one
    return placed


def is_numeric(variable: str) -> bool:
    """Return whether a variable of the environment can change result bits."""
    return any(fnmatchcase(variable, pattern) for pattern in NUMERIC_VARIABLES)


def _compare_mappings(
    kind: str, recorded: Mapping[str, str], now: Mapping[str, str]
) -> Iterator[EnvironmentDifference]:
    for name in sorted({**recorded, **now}):
        a, b = recorded.get(name), now.get(name)
        if a != b:
            unrecorded = kind == "probe" and a is None
            affects: Affects = "note" if unrecorded else _rate_effect(kind, name)
            yield EnvironmentDifference(f"{kind} {name}", a, b, affects)


def _rate_effect(kind: str, name: str) -> Affects:
    if kind == "probe":
        return "identity" if name.startswith(ORDER_PROBES) else "numerics"
    if kind == "library":
        is_numeric_library = name in NUMERIC_LIBRARIES or name.startswith("nvidia-")
        return "numerics" if is_numeric_library else "identity"
    if kind == "variable":
        return "numerics" if is_numeric(name) else "identity"
    return "numerics"
