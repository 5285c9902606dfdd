"""The session contract: what a host and the runtime agreed on before the first call.

Everything that results depend on besides arguments and state stands in it: which tools, which
backend of which versions, the seed, the time, limits and permissions. It is a value: negotiated
once, never changed, a JSON document with a digest that goes into run records.

An offer is a JSON document in the shape of the contract, with whatever the host does not care about
left out: then the runtime fills in what there is. What the host does pin must be there exactly.
Nothing is rounded down: a version that differs, a limit that cannot be held, a permission that does
not exist are refused together, in one answer.

Invariant: two contracts of equal digest allow, refuse and seed the same calls alike, and negotiating a
contract's own document against the same registry and backend gives it again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import pydantic
from pydantic import AfterValidator, ConfigDict, Field, PlainSerializer

from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed
from twice.tools.backend import Backend
from twice.tools.canonical_json import NotPlain, fingerprint, plain
from twice.tools.determinism import Determinism, Level, Requirement
from twice.tools.errors import CallRefused
from twice.tools.registry import Registry
from twice.tools.seeds import read_seed, seed_to_json

_TOLD_MAX: Final = 3


def write_time(time: datetime) -> str:
    """Write a moment as contracts do: UTC, to the microsecond if it has any."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_time(value: object) -> datetime:
    """Read a moment as contracts and calls have it: ISO 8601 with a zone.

    Raises:
        ValueError: the value is not one; the message explains it.
    """
    with suppress(ValueError, TypeError):
        time = datetime.fromisoformat(value)  # type: ignore[arg-type]
        if time.tzinfo is not None:
            return time.astimezone(UTC)
    raise ValueError("is no moment such as 2026-01-31T12:00:00Z")


_Moment = Annotated[datetime, pydantic.PlainValidator(read_time), PlainSerializer(write_time)]
_Texts = Annotated[
    Mapping[str, str],
    AfterValidator(lambda texts: MappingProxyType(dict(sorted(texts.items())))),
    PlainSerializer(dict),
]
_Seed = Annotated[Seed, pydantic.PlainValidator(read_seed), PlainSerializer(seed_to_json)]
_Count = Annotated[int, Field(gt=0)]


class _Part(pydantic.BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Limits(_Part):
    """What one call may take.

    Attributes:
        seconds: of time; None for no limit.
        payload_bytes: of arguments, and of a result, each in canonical form.
        concurrency: calls at a time; a backend is one state, so this is 1.
        calls: how many calls the contract covers; None for any number.
        until: contract time after which it covers none; None for ever.
    """

    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = 60.0
    payload_bytes: _Count = 16 * 2**20
    concurrency: Literal[1] = 1
    calls: _Count | None = None
    until: _Moment | None = None


class Permissions(_Part):
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


class Contract(_Part):
    """One agreement; ``negotiate`` makes it.

    Attributes:
        format: of the document.
        id: the host's, or made from the rest.
        registry: fingerprint of the tools.
        macros: fingerprint of the macros among them.
        backend: kind of backend, or an empty text where tools act on none.
        profile: the backend's versions.
        host: what the host says of itself, as text by key.
        seed: the session's seed, if any; ``session_seed`` in the document.
        require: the weakest class of any call that will do; None for any.
        level: how far the declaration of every tool must have been tried.
        limits: what one call may take.
        permissions: what tools may do besides.
        time: contract time, the only time that tools see; None for none.
        float_policy: floats stand as the shortest text that reads back to the same bits; -0.0 as 0;
            no NaN, no infinity.
    """

    format: Literal["twice.contract/1"] = "twice.contract/1"
    id: Annotated[str, Field(min_length=1, max_length=128)] = ""
    registry: str
    macros: str
    backend: str = ""
    profile: _Texts = Field(default_factory=lambda: MappingProxyType({}))
    host: _Texts = Field(default_factory=lambda: MappingProxyType({}))
    seed: _Seed | None = Field(default=None, alias="session_seed")
    require: Determinism | None = None
    level: Level = Level.DECLARED
    limits: Limits = Field(default_factory=Limits)
    permissions: Permissions = Field(default_factory=Permissions)
    time: _Moment | None = None
    float_policy: Literal["shortest-binary64/1"] = "shortest-binary64/1"

    def model_post_init(self, _: Any, /) -> None:
        """Make an id from the rest, where the host gave none."""
        if not self.id:
            digest = fingerprint(self.to_json()).partition(":")[2]
            object.__setattr__(self, "id", f"contract-{digest[:12]}")

    def to_json(self) -> dict[str, Any]:
        """Return the document; ``negotiate`` makes an equal contract from it as an offer."""
        return self.model_dump(mode="json", by_alias=True)

    @property
    def requirement(self) -> Requirement:
        """What every call is held to."""
        return Requirement(self.require, self.level)

    @cached_property
    def digest(self) -> str:
        """The labelled digest of the document in RFC 8785 form."""
        return fingerprint(self.to_json())


def negotiate(
    offer: Mapping[str, Any], registry: Registry, backend: Backend | None = None
) -> Contract:
    """Agree on a contract.

    Args:
        offer: the host's, as JSON: any of the keys of ``Contract.to_json``.
        registry: the tools that there are.
        backend: what they act on, or None.

    Raises:
        CallRefused: E-TOOL-003, ``contract_violation``, with each thing that lies outside.
    """
    profile = {} if backend is None else {str(k): str(v) for k, v in backend.profile().items()}
    there: dict[str, Any] = {
        "registry": registry.fingerprint,
        "macros": registry.macro_fingerprint,
        "backend": "" if backend is None else backend.name,
    }
    outside: list[dict[str, Any]] = []
    try:
        # What an offer has as null is not offered.
        given = {key: each for key, each in plain(dict(offer)).items() if each is not None}
    except (NotPlain, TypeError, ValueError) as error:
        outside.append({"what": "offer", "why": f"is no JSON document: {error}"})
        given = {}
    for key, here in there.items():
        if given.get(key, here) != here:
            why = "is not the one that is here"
            outside.append({"what": key, "why": why, "offered": given[key], "here": here})
    pinned = given.get("profile", {})
    if isinstance(pinned, dict) and all(isinstance(each, str) for each in pinned.values()):
        there["profile"] = profile
        for key, offered in pinned.items():
            found_here = profile.get(key)
            if found_here != offered:
                why = "is not here" if found_here is None else "is another version here"
                what = f"profile.{key}"
                outside.append({"what": what, "why": why, "offered": offered, "here": found_here})
    try:
        found = Contract.model_validate_json(json.dumps({**given, **there}))
    except pydantic.ValidationError as error:
        outside += map(_describe, error.errors(include_url=False))
    else:
        if found.limits.until is not None and found.time is None:
            why = "there is no contract time to hold it to"
            outside.append({"what": "limits.until", "why": why})
    if not outside:
        return found
    told = "; ".join(f"{each['what']}: {each['why']}" for each in outside[:_TOLD_MAX])
    raise CallRefused(
        "contract_violation",
        f"The offer lies outside in {pluralize(len(outside), 'place')}: {told}.",
        "Expected what this registry and backend offer, exactly.",
        "Leave out what you do not depend on, or offer what details.outside says is there.",
        outside=outside,
    )


def _describe(error: Any) -> dict[str, Any]:
    """One of pydantic's errors as what lies outside."""
    what = ".".join(str(part) for part in error["loc"] if part not in ("float", "int"))
    why = error["msg"].replace("Value error, ", "").replace("Input should be", "should be")
    if "downgrade" in what:
        why = "asks for less than is declared, and there is no such permission"
    elif error["type"] == "extra_forbidden":
        why = "is nothing that a contract has"
    return {"what": what, "why": why, "offered": error["input"]}
