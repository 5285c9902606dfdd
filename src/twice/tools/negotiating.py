"""From a host's offer to a contract, or to everything in the offer that lies outside.

An offer is a JSON document in the shape of the contract, with whatever the host does not care about
left out: then the runtime fills in what there is. What the host does pin must be there exactly.
Nothing is rounded down: a version that differs, a limit that cannot be held, a permission that does
not exist are refused together, in one answer.

Invariant: negotiating a contract's own document against the same registry and backend gives it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from twice.foundation.printable import pluralize
from twice.tools.backend import Backend
from twice.tools.contract import (
    FLOAT_POLICY,
    FORMAT,
    Contract,
    Limits,
    Permissions,
    read_level,
    read_require,
    read_time,
)
from twice.tools.determinism import Level, Requirement
from twice.tools.errors import CallRefused
from twice.tools.plain import NotPlain, plain
from twice.tools.registry import Registry
from twice.tools.seeding import read_seed

_PERMISSIONS: Final = ("network", "ui", "nondeterministic")
_TOLD_MAX: Final = 3


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
    reading = _Reading(offer)
    there: dict[str, Any] = {
        "registry": registry.fingerprint,
        "macros": registry.macro_fingerprint,
        "backend": "" if backend is None else backend.name,
    }
    profile = {} if backend is None else {str(k): str(v) for k, v in backend.profile().items()}
    reading.pinned({**there, "format": FORMAT, "float_policy": FLOAT_POLICY})
    reading.profile(profile)
    parts: dict[str, Any] = {
        "host": reading.texts("host"),
        "seed": reading.one("session_seed", read_seed, None),
        "require": Requirement(
            reading.one("require", read_require, None),
            reading.one("level", read_level, Level.DECLARED),
        ),
        "limits": reading.limits(),
        "permissions": reading.permissions(),
        "time": reading.one("time", read_time, None),
        "id": reading.one("id", _read_id, ""),
    }
    reading.nothing_else()
    if parts["limits"].until is not None and parts["time"] is None:
        reading.outside.append(_outside("limits.until", "there is no contract time to hold it to"))
    if reading.outside:
        told = "; ".join(f"{each['what']}: {each['why']}" for each in reading.outside[:_TOLD_MAX])
        raise CallRefused(
            "contract_violation",
            f"The offer lies outside in {_places(len(reading.outside))}: {told}.",
            "Expected what this registry and backend offer, exactly.",
            "Leave out what you do not depend on, or offer what details.outside says is there.",
            outside=reading.outside,
        )
    return Contract(profile=profile, **there, **parts)


class _Reading:
    """One offer being read: what was taken from it, and what lies outside."""

    def __init__(self, offer: Mapping[str, Any]) -> None:
        self.outside: list[dict[str, Any]] = []
        self._left: dict[str, Any] = {}
        try:
            self._left = plain(dict(offer))
        except (NotPlain, TypeError, ValueError) as error:
            self.outside.append(_outside("offer", f"is no JSON document: {error}"))

    def one(self, key: str, read: Callable[[object], Any], default: Any) -> Any:
        """Read a value by its reader, or return the default if the offer has none."""
        value = self._left.pop(key, None)
        if value is None:
            return default
        try:
            return read(value)
        except ValueError as error:
            self.outside.append(_outside(key, str(error), offered=value))
            return default

    def pinned(self, there: Mapping[str, str]) -> None:
        """Values that must be what there is, where the offer names them."""
        for key, value in there.items():
            offered = self._left.pop(key, None)
            if offered is not None and offered != value:
                why = "is not the one that is here"
                self.outside.append(_outside(key, why, offered=offered, here=value))

    def profile(self, there: Mapping[str, str]) -> None:
        """Versions that the offer names must be those of the backend."""
        for key, offered in self.texts("profile").items():
            here = there.get(key)
            if here != offered:
                why = "is another version here" if here is not None else "is not here"
                self.outside.append(_outside(f"profile.{key}", why, offered=offered, here=here))

    def texts(self, key: str) -> dict[str, str]:
        """Texts by key."""
        value = self._left.pop(key, None) or {}
        if isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
            return value
        self.outside.append(_outside(key, "is no map of texts"))
        return {}

    def limits(self) -> Limits:
        """Read the limits, each above 0."""
        given = self._map("limits")
        default = Limits()
        seconds = given.pop("seconds", default.seconds)
        if seconds is not None and not _above(seconds, int | float):
            self.outside.append(_outside("limits.seconds", "is no number above 0", offered=seconds))
            seconds = default.seconds
        payload = given.pop("payload_bytes", None)
        calls = given.pop("calls", None)
        for name, value in (("payload_bytes", payload), ("calls", calls)):
            if value is not None and not _above(value, int):
                self.outside.append(_outside(f"limits.{name}", "is no count", offered=value))
        concurrency = given.pop("concurrency", 1)
        if concurrency != 1 or concurrency is True:
            why = "is more than the one call at a time that a state allows"
            self.outside.append(_outside("limits.concurrency", why, offered=concurrency, here=1))
        until = None
        try:
            until = read_time(given.pop("until", None))
        except ValueError as error:
            self.outside.append(_outside("limits.until", str(error)))
        self._unknown("limits", given)
        payload_bytes = payload if _above(payload, int) else default.payload_bytes
        return Limits(seconds, payload_bytes, 1, calls if _above(calls, int) else None, until)

    def permissions(self) -> Permissions:
        """Read the permissions, and report unknown ones."""
        given = self._map("permissions")
        found = {name: given.pop(name, False) for name in _PERMISSIONS}
        for name, value in found.items():
            if not isinstance(value, bool):
                self.outside.append(_outside(f"permissions.{name}", "is neither true nor false"))
                found[name] = False
        self._unknown("permissions", given)
        return Permissions(**found)

    def nothing_else(self) -> None:
        """Refuse what nobody asked for: it would be a promise that nobody keeps."""
        self._unknown("", self._left)

    def _map(self, key: str) -> dict[str, Any]:
        value = self._left.pop(key, None)
        if value is None or isinstance(value, dict):
            return dict(value or {})
        self.outside.append(_outside(key, "is no object"))
        return {}

    def _unknown(self, where: str, left: Mapping[str, Any]) -> None:
        for key, value in left.items():
            path = f"{where}.{key}" if where else key
            why = "is nothing that a contract has"
            if "downgrade" in key:
                why = "asks for less than is declared, and there is no such permission"
            self.outside.append(_outside(path, why, offered=value))


def _outside(what: str, why: str, **values: Any) -> dict[str, Any]:
    return {"what": what, "why": why, **values}


def _above(value: object, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and value > 0


def _read_id(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= 128:
        raise ValueError("is no text of 1 to 128 characters")
    return value


def _places(count: int) -> str:
    return pluralize(count, "place")
