"""Names of hosts: what they resolve to is a fact, answered by the arguments of the question.

Covered: ``getaddrinfo`` (also an event loop's, which asks on a thread of its pool), ``getnameinfo``, ``gethostbyname``,
``gethostbyname_ex``, ``gethostbyaddr``, and through it ``getfqdn``; whoever asks. In replay nobody is asked.

Not covered: resolvers of their own (``dnspython``, ``c-ares``).

Invariant: a name that was not asked for while recording does not resolve in replay.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from types import ModuleType
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.outcomes import given, outcome_of
from twice.recorder.effects.patches import Patch


def patches(layer: EffectLayer, module: ModuleType) -> list[Patch]:
    """Return the patches of the functions that resolve names, for a session."""
    return [
        Patch(module, name, _govern(layer, name, getattr(module, name), from_plain))
        for name, from_plain in _FUNCTIONS.items()
    ]


def _govern(
    layer: EffectLayer, name: str, real: Callable[..., Any], from_plain: Callable[[Any], Any]
) -> Callable[..., Any]:
    def resolve(*args: Any, **kwargs: Any) -> Any:
        asked = (name, tuple(map(_to_plain, args)), tuple(sorted(kwargs.items())))

        def live() -> object:
            return outcome_of(lambda: _to_plain(real(*args, **kwargs)))

        needed = not (args and _is_number(args[0]))  # nobody is asked about an address
        return from_plain(given(layer.fact(ops.RESOLVED, asked, live, needed=needed)))

    resolve.__name__, resolve.__doc__ = name, real.__doc__
    return resolve


def _to_plain(value: Any) -> Any:
    """Return numbers without the names of their enumerations, and sequences as tuples."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, list | tuple):
        return tuple(map(_to_plain, value))
    return value


def _is_number(host: object) -> bool:
    with suppress(ValueError):
        return isinstance(host, str) and bool(ip_address(host.partition("%")[0]))
    return False


def _name_addresses(found: Any) -> list[Any]:
    return [
        (_find_member(socket.AddressFamily, family), _find_member(socket.SocketKind, kind), *rest)
        for family, kind, *rest in found
    ]


def _find_member(kind: Any, number: int) -> Any:
    with suppress(ValueError):
        return kind(number)
    return number


def _list_parts(found: Any) -> tuple[str, list[str], list[str]]:
    name, aliases, addresses = found
    return name, list(aliases), list(addresses)


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "getaddrinfo": _name_addresses,
    "getnameinfo": lambda found: found,
    "gethostbyname": lambda found: found,
    "gethostbyname_ex": _list_parts,
    "gethostbyaddr": _list_parts,
}
