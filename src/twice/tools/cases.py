"""A case: arguments, and the calls that make the state in which a tool is tried with them.

Cases stand with a declaration so that verification knows what to try. They are no part of what a
caller relies on, so they are not in the tool's fingerprint; a verification holds those it was made of.

Invariant: a case is plain JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from twice.foundation.dataclass_codec import OPTIONAL, to_plain
from twice.tools.canonical_json import NotPlain, fingerprint, plain
from twice.tools.errors import ToolRefused


@dataclass(frozen=True)
class Call:
    """One call that is made before the tool is tried.

    Args:
        tool: its name.
        arguments: by name, as JSON.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict, metadata=OPTIONAL)


@dataclass(frozen=True)
class Case:
    """One thing to try a tool with.

    Args:
        arguments: by name, as JSON.
        start: calls that make the state; none for the empty one.
        seed_matters: whether another seed has to give another result or state, in a seeded tool.

    Raises:
        ToolRefused: E-TOOL-001, when it is no plain JSON.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict, metadata=OPTIONAL)
    start: Sequence[Call] = field(default=(), metadata=OPTIONAL)
    seed_matters: bool = field(default=True, metadata=OPTIONAL)

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "arguments", plain(dict(self.arguments)))
            calls = tuple(Call(each.tool, plain(dict(each.arguments))) for each in self.start)
        except (NotPlain, TypeError, ValueError, AttributeError) as error:
            raise ToolRefused(
                f"A case is no plain JSON: {error}.",
                "Expected arguments by name, and calls before it.",
                'For example: Case({"n": 3}, start=[Call("object.create", {"name": "t"})])',
            ) from error
        object.__setattr__(self, "start", calls)

    @property
    def digest(self) -> str:
        """The labelled digest of it."""
        return fingerprint(["twice.tools-case/1", to_plain(self)])
