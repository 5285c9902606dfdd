"""A run as it is made for measuring: setup, surroundings, and which parts of a session are in force.

Invariant: a making travels to its process as plain data and comes back equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from twice.recording.setup import Setup
from twice.recording.surroundings import Surroundings
from twice.recording.surroundings.value import Variable
from twice.recording.wiring import InForce


@dataclass(frozen=True, slots=True)
class Making:
    """What one run is made with.

    Args:
        setup: program, seed, configuration and policies.
        surroundings: what is pinned around its process.
        in_force: parts of the session.
        captured: whether its output is captured.
        written: whether what is observed is written into a record.
    """

    setup: Setup
    surroundings: Surroundings
    in_force: InForce = field(default_factory=InForce)
    captured: bool = True
    written: bool = True

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "setup": self.setup.to_json(),
            "surroundings": self.surroundings.to_json(),
            "in_force": asdict(self.in_force),
            "captured": self.captured,
            "written": self.written,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Making:
        """Read back what ``to_json`` wrote."""
        return cls(
            Setup.from_json(data["setup"]),
            Surroundings.from_json(data["surroundings"]),
            InForce(**data["in_force"]),
            bool(data["captured"]),
            bool(data["written"]),
        )


@dataclass(frozen=True, slots=True)
class Switch:
    """What has to be set for something to be off, or otherwise than declared.

    Args:
        policies: fields of ``Setup`` with their values.
        parts: fields of ``InForce`` that are false.
        making: fields of ``Making`` that are false.
        variables: patterns of variables that are left to the machine.
    """

    policies: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    making: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.policies or self.parts or self.making or self.variables)

    def applied(self, to: Making) -> Making:
        """Give a making with this set."""
        return replace(
            to,
            setup=replace(to.setup, **self.policies),
            surroundings=self._with_variables(to.surroundings, {}),
            in_force=replace(to.in_force, **dict.fromkeys(self.parts, False)),
            **dict.fromkeys(self.making, False),
        )

    def taken_back(self, of: Making, declared: Making) -> Making:
        """Give a making in which whatever this sets is as declared."""
        return replace(
            of,
            setup=replace(
                of.setup, **{name: getattr(declared.setup, name) for name in self.policies}
            ),
            surroundings=self._with_variables(of.surroundings, declared.surroundings.variables),
            in_force=replace(
                of.in_force, **{name: getattr(declared.in_force, name) for name in self.parts}
            ),
            **{name: getattr(declared, name) for name in self.making},
        )

    def _with_variables(
        self, surroundings: Surroundings, found: Mapping[str, Variable]
    ) -> Surroundings:
        kept = {
            name: value
            for name, value in surroundings.variables.items()
            if not self._is_meant(name)
        }
        taken = {name: value for name, value in found.items() if self._is_meant(name)}
        return replace(surroundings, variables={**kept, **taken})

    def _is_meant(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.variables)
