"""Names of hosts: what they resolve to is a fact, answered by what was asked.

Covered: ``getaddrinfo`` (also an event loop's, which asks on a thread of its pool), ``getnameinfo``,
``gethostbyname``, ``gethostbyname_ex``, ``gethostbyaddr``, and through it ``getfqdn``; whoever asks.
In replay nobody is asked.

Not covered: resolvers of their own (``dnspython``, ``c-ares``).

Invariant: a name that was not asked for while recording does not resolve in replay.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import ip_address
from types import ModuleType
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.outcomes import given, outcome_of
from twice.recorder.effects.patches import Patch

_NAMES = ("getaddrinfo", "getnameinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr")


def patches(layer: EffectLayer, module: ModuleType) -> list[Patch]:
    """Return the patches of the functions that resolve names, for a session."""
    return [Patch(module, name, _governed(layer, name, getattr(module, name))) for name in _NAMES]


def _governed(layer: EffectLayer, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    made = _MADE.get(name, _unchanged)

    def resolve(*args: Any, **kwargs: Any) -> Any:
        asked = (name, tuple(map(_plain, args)), tuple(sorted(kwargs.items())))

        def live() -> object:
            return outcome_of(lambda: _plain(real(*args, **kwargs)))

        needed = not (args and _is_number(args[0]))  # nobody is asked about an address
        return made(given(layer.fact(ops.RESOLVED, asked, live, needed=needed)))

    resolve.__name__, resolve.__doc__ = name, real.__doc__
    return resolve


def _plain(value: Any) -> Any:
    """Return numbers without the names of their enumerations, and sequences as tuples."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return value


def _is_number(host: object) -> bool:
    if not isinstance(host, str):
        return False
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _unchanged(value: Any) -> Any:
    return value


def _addresses(found: Any) -> list[Any]:
    return [
        (_named(socket.AddressFamily, family), _named(socket.SocketKind, kind), *rest)
        for family, kind, *rest in found
    ]


def _host(found: Any) -> tuple[str, list[str], list[str]]:
    name, aliases, addresses = found
    return name, list(aliases), list(addresses)


_MADE: dict[str, Callable[[Any], Any]] = {
    "getaddrinfo": _addresses,
    "gethostbyname_ex": _host,
    "gethostbyaddr": _host,
}


def _named(kind: Any, number: int) -> Any:
    try:
        return kind(number)
    except ValueError:
        return number
