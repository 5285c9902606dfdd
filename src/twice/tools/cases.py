"""A case: arguments, and the calls that make the state in which a tool is tried with them.

Cases stand with a declaration so that verification knows what to try. They are no part of what a
caller relies on, so they are not in the tool's fingerprint; a verification holds those it was made of.

Invariant: a case is plain JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from twice.tools.canonical_json import NotPlain, fingerprint, plain
from twice.tools.errors import ToolRefused

_KEYS = ("tool", "arguments", "start", "seed_matters")


@dataclass(frozen=True)
class Call:
    """One call that is made before the tool is tried.

    Args:
        tool: its name.
        arguments: by name, as JSON.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"tool": self.tool, "arguments": dict(self.arguments)}


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

    arguments: Mapping[str, Any] = field(default_factory=dict)
    start: Sequence[Call] = ()
    seed_matters: bool = True

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

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "arguments": dict(self.arguments),
            "start": [each.to_json() for each in self.start],
            "seed_matters": self.seed_matters,
        }

    @property
    def digest(self) -> str:
        """The labelled digest of it."""
        return fingerprint(["twice.tools-case/1", self.to_json()])

    @classmethod
    def from_json(cls, document: object) -> Self:
        """Read the plain form.

        Raises:
            ValueError: in words.
        """
        if not isinstance(document, Mapping):
            raise ValueError("is no object")  # noqa: TRY004  (a document's mistake, not a caller's)
        unknown = [key for key in document if key not in _KEYS]
        if unknown:
            raise ValueError(f"has {unknown[0]!r}, and there are only {', '.join(_KEYS)}")
        matters = document.get("seed_matters", True)
        start = document.get("start", [])
        if not isinstance(matters, bool) or not isinstance(start, list):
            raise ValueError(  # noqa: TRY004  (as above)
                "has a seed_matters that is no boolean, or a start that is no list"
            )
        try:
            return cls(_object(document), [_call(each) for each in start], matters)
        except ToolRefused as error:
            raise ValueError(error.happened) from error


def _call(document: object) -> Call:
    if not isinstance(document, Mapping) or not isinstance(document.get("tool"), str):
        raise ValueError("has a start with something that is no call of a tool")  # noqa: TRY004  (as above)
    return Call(document["tool"], _object(document))


def _object(document: Mapping[str, Any]) -> Mapping[str, Any]:
    found = document.get("arguments", {})
    if not isinstance(found, Mapping):
        raise ValueError("has arguments that are no object")  # noqa: TRY004  (as above)
    return found
