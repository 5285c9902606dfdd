"""The session contract: what a host and the runtime agreed on before the first call.

Everything that results depend on besides arguments and state stands in it: which tools, which
backend of which versions, the seed, the time, limits and permissions. It is a value: negotiated
once, never changed, a JSON document with a digest that goes into run records.

Invariant: two contracts of equal digest allow, refuse and seed the same calls alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from twice.foundation.seeds import Seed
from twice.tools.determinism import Determinism, Level, Requirement
from twice.tools.plain import fingerprint
from twice.tools.seeding import shown

FORMAT: Final = "twice.contract/1"
FLOAT_POLICY: Final = "shortest-binary64/1"
"""Floats stand as the shortest text that reads back to the same bits; -0.0 as 0; no NaN, no infinity."""


@dataclass(frozen=True)
class Limits:
    """What one call may take.

    Attributes:
        seconds: of time; None for no limit.
        payload_bytes: of arguments, and of a result, each in canonical form.
        concurrency: calls at a time; a backend is one state, so this is 1.
        calls: how many calls the contract covers; None for any number.
        until: contract time after which it covers none; None for ever.
    """

    seconds: float | None = 60.0
    payload_bytes: int = 16 * 2**20
    concurrency: int = 1
    calls: int | None = None
    until: datetime | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "seconds": self.seconds,
            "payload_bytes": self.payload_bytes,
            "concurrency": self.concurrency,
            "calls": self.calls,
            "until": written(self.until),
        }


@dataclass(frozen=True)
class Permissions:
    """What tools may do besides acting on the backend's state; nothing, unless it is said.

    Attributes:
        network: use the network, when they declare that they need it.
        ui: depend on a person's screen, when they declare it.
        nondeterministic: run although they promise nothing. There is no permission for less than a
            tool declares: what cannot be kept is refused.
    """

    network: bool = False
    ui: bool = False
    nondeterministic: bool = False

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "network": self.network,
            "ui": self.ui,
            "nondeterministic": self.nondeterministic,
        }


@dataclass(frozen=True)
class Contract:
    """One agreement; ``negotiate`` makes it.

    Attributes:
        registry: fingerprint of the tools.
        macros: fingerprint of the macros among them.
        backend: kind of backend, or an empty text where tools act on none.
        profile: the backend's versions.
        host: what the host says of itself, as text by key.
        seed: the session's seed, if any.
        require: what every call is held to.
        limits: what one call may take.
        permissions: what tools may do besides.
        time: contract time, the only time that tools see; None for none.
        float_policy: how floats are written.
        id: the host's, or made from the rest.
    """

    registry: str
    macros: str
    backend: str = ""
    profile: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, str] = field(default_factory=dict)
    seed: Seed | None = None
    require: Requirement = field(default_factory=Requirement)
    limits: Limits = field(default_factory=Limits)
    permissions: Permissions = field(default_factory=Permissions)
    time: datetime | None = None
    float_policy: str = FLOAT_POLICY
    id: str = ""

    def __post_init__(self) -> None:
        for name in ("profile", "host"):
            pairs = sorted(getattr(self, name).items())
            object.__setattr__(self, name, MappingProxyType(dict(pairs)))
        if not self.id:
            digest = fingerprint(self.to_json()).partition(":")[2]
            object.__setattr__(self, "id", f"contract-{digest[:12]}")

    def to_json(self) -> dict[str, Any]:
        """Return the document; ``negotiate`` makes an equal contract from it as an offer."""
        return {
            "format": FORMAT,
            "id": self.id,
            "registry": self.registry,
            "macros": self.macros,
            "backend": self.backend,
            "profile": dict(self.profile),
            "host": dict(self.host),
            "session_seed": None if self.seed is None else shown(self.seed),
            "require": None if self.require.determinism is None else self.require.determinism.value,
            "level": self.require.level.value,
            "limits": self.limits.to_json(),
            "permissions": self.permissions.to_json(),
            "time": written(self.time),
            "float_policy": self.float_policy,
        }

    @property
    def digest(self) -> str:
        """The labelled digest of the document in RFC 8785 form."""
        return fingerprint(self.to_json())


def written(time: datetime | None) -> str | None:
    """Write a moment as contracts do: UTC, to the microsecond if it has any."""
    if time is None:
        return None
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_time(value: object) -> datetime | None:
    """Read a moment from an offer: ISO 8601 with a zone.

    Raises:
        ValueError: the value is not one; the message explains it.
    """
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise ValueError("is no moment such as 2026-01-31T12:00:00Z")
    return time.astimezone(UTC)


def read_require(value: object) -> Determinism | None:
    """Read a required class from an offer or a call.

    Raises:
        ValueError: the value is not one; the message explains it.
    """
    if value is None:
        return None
    if value not in list(Determinism):
        raise ValueError(f"is none of {', '.join(Determinism)}")
    return Determinism(str(value))


def read_level(value: object) -> Level:
    """Read a level of verification from an offer.

    Raises:
        ValueError: the value is not one; the message explains it.
    """
    if value not in list(Level):
        raise ValueError(f"is none of {', '.join(Level)}")
    return Level(str(value))
