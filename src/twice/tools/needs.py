"""What a tool needs from its surroundings, declared, combined, and held against what there is.

Being named here is what makes a need possible, not what makes it harmless: a need that reads the
world breaks the class of every tool that is not nondeterministic, and such a tool is refused.

Not covered: what a need means to a backend. ``ui`` is checked against permissions and profile;
whether a window is really open is for the backend to say.

Invariant: the needs of a sequence are the union of its steps' needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from twice.tools.errors import ToolRefused

WORLD: Final = (
    "ui", "network", "clock", "listing", "entropy", "environment", "processes"
)  # fmt: skip
"""Needs that read or change the world, each of them a reason for another result."""

_NUMBER = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True)
class Needs:
    """What must be there, and may be used, while a tool runs.

    Args:
        ui: a person's selection, context or screen.
        network: connections, names of hosts.
        clock: the time of day or any other clock; ``Context.time`` is no need.
        listing: folders in the order that the system gives; ``Context.listing`` needs it as well,
            and gives them sorted.
        entropy: random numbers that no seed decides.
        environment: variables, the working folder, numbers of processes and processors.
        processes: other programs, started.
        backend: which versions of it, as ``">=4.5,<5"`` (PEP 440); empty for any.
        profile: what the backend's profile must say besides, as version ranges by key:
            ``{"addon:cycles": ">=4", "driver:cpu": ""}``; an empty range asks that it is there.

    Raises:
        ToolRefused: E-TOOL-001, when a range cannot be read.
    """

    ui: bool = False
    network: bool = False
    clock: bool = False
    listing: bool = False
    entropy: bool = False
    environment: bool = False
    processes: bool = False
    backend: str = ""
    profile: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in WORLD:
            if not isinstance(getattr(self, name), bool):
                raise ToolRefused(
                    f"Needs({name}={getattr(self, name)!r}) is neither True nor False.",
                    f"Expected a boolean for each of {', '.join(WORLD)}.",
                    f"Write Needs({name}=True), or leave it out.",
                )
        for text in (self.backend, *self.profile.values()):
            try:
                SpecifierSet(text)
            except InvalidSpecifier as error:
                raise ToolRefused(
                    f"{text!r} is not a range of versions.",
                    "Expected comparisons joined by commas, such as >=4.5,<5.",
                    "For example: Needs(backend='>=4.5,<5')",
                ) from error
        object.__setattr__(self, "profile", MappingProxyType(dict(sorted(self.profile.items()))))

    def world(self) -> tuple[str, ...]:
        """Return the needs that read or change the world, in the order of ``WORLD``."""
        return tuple(name for name in WORLD if getattr(self, name))

    def breaking(self) -> tuple[str, ...]:
        """Return the needs that no tool can have and still promise the same result.

        A folder's names can be sorted, so a listing alone breaks nothing.
        """
        return tuple(name for name in self.world() if name != "listing")

    def unmet(self, profile: Mapping[str, str]) -> Iterator[tuple[str, str, str | None]]:
        """Yield the gaps of a backend's profile: the key, the wanted value, the offered value.

        A version that begins with no number lies in the open range alone.
        """
        asked = {**({"version": self.backend} if self.backend else {}), **self.profile}
        for key, text in sorted(asked.items()):
            there = profile.get(key)
            number = None if there is None else _NUMBER.match(there.strip())
            if there is None or (
                text.strip() and (number is None or number[0] not in SpecifierSet(text))
            ):
                yield key, text, there

    def to_json(self) -> dict[str, object]:
        """As plain data, every field written out: what a descriptor holds."""
        found: dict[str, object] = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**found, "profile": dict(self.profile)}


def union(needs: Iterable[Needs]) -> Needs:
    """Combine the needs of steps: every need of any, and every range of all."""
    every = list(needs)
    keys = sorted({key for each in every for key in each.profile})
    return Needs(
        **{name: any(getattr(each, name) for each in every) for name in WORLD},
        backend=_intersect(each.backend for each in every),
        profile={key: _intersect(each.profile.get(key, "") for each in every) for key in keys},
    )


def _intersect(ranges: Iterable[str]) -> str:
    """One range that asks for all of several, in an order that does not depend on whose is whose."""
    terms = {term.strip() for text in ranges for term in text.split(",")}
    return ",".join(sorted(terms - {""}))
