"""What was measured about one environment, and its JSON form.

Measuring lives in ``twice.recording.environment``; comparing two of them next door, in
``differences``. Nothing here looks at the machine.

Invariant: ``Fingerprint.from_json(f.to_json()) == f``, whatever order its parts were given in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any, TypeVar

from twice.errors import ConfigError

FORMAT = "twice.environment/1"

Facts = TypeVar("Facts")


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
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("libraries", "dispatch", "variables", "probes", "settings"):
            ordered = dict(sorted(getattr(self, name).items()))
            object.__setattr__(self, name, MappingProxyType(ordered))
        in_order = sorted(self.blas, key=lambda one: (one.internal_api, one.where, one.library))
        object.__setattr__(self, "blas", tuple(in_order))

    def to_json(self) -> dict[str, Any]:
        """Plain data with ``"format": "twice.environment/1"``, every mapping in sorted order."""
        cpu = asdict(self.cpu)
        cpu["features"] = list(self.cpu.features)
        return {
            "format": FORMAT,
            "python": asdict(self.python),
            "os": asdict(self.os),
            "cpu": cpu,
            "libraries": dict(self.libraries),
            "blas": [asdict(one) for one in self.blas],
            "dispatch": dict(self.dispatch),
            "variables": dict(self.variables),
            "probes": dict(self.probes),
            "settings": dict(self.settings),
        }

    @classmethod
    def from_json(cls, document: object) -> Fingerprint:
        """Read the plain form back.

        Raises:
            ConfigError: E-CONFIG-001, naming the place that is not understood: another format, a
                missing member, a value of another type. Members that this version does not know are
                passed over, because fields may be added under one format number.
        """
        top = _mapping(document, "the environment")
        if top.get("format") != FORMAT:
            raise _not_understood("format", top.get("format"), FORMAT)
        return cls(
            python=_facts(PythonFacts, top.get("python"), "python"),
            os=_facts(OsFacts, top.get("os"), "os"),
            cpu=_facts(CpuFacts, top.get("cpu"), "cpu"),
            libraries=_texts(top, "libraries"),
            blas=tuple(
                _facts(BlasFacts, one, f"blas[{index}]")
                for index, one in enumerate(_list(top.get("blas"), "blas"))
            ),
            dispatch=_texts(top, "dispatch"),
            variables=_texts(top, "variables"),
            probes=_texts(top, "probes"),
            settings=_texts(top, "settings") if "settings" in top else {},
        )


def _not_understood(place: str, found: object, expected: str) -> ConfigError:
    return ConfigError(
        f"An environment description has {found!r} at {place}.",
        f"Expected there: {expected}.",
        "Measure it again with this version of twice: twice env --json",
        place=place,
    )


def _mapping(found: object, place: str) -> Mapping[Any, Any]:
    if not isinstance(found, Mapping):
        raise _not_understood(place, found, "an object")
    return found


def _list(found: object, place: str) -> list[Any]:
    if not isinstance(found, list):
        raise _not_understood(place, found, "a list")
    return found


def _texts(document: Mapping[str, Any], place: str) -> dict[str, str]:
    found = _mapping(document.get(place), place)
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise _not_understood(f"{place}.{name}", value, "text")
    return dict(found)


def _facts(kind: type[Facts], found: object, place: str) -> Facts:
    """Build one group of facts; each member's annotation says what it must be."""
    members = _mapping(found, place)
    values: dict[str, Any] = {}
    for member in fields(kind):  # type: ignore[arg-type]
        value = members.get(member.name)
        where = f"{place}.{member.name}"
        if member.type == "int":
            if not isinstance(value, int) or isinstance(value, bool):
                raise _not_understood(where, value, "a whole number")
        elif member.type == "str":
            if not isinstance(value, str):
                raise _not_understood(where, value, "text")
        elif not all(isinstance(one, str) for one in _list(value, where)):
            raise _not_understood(where, value, "a list of text")
        values[member.name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)
