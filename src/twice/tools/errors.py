"""The errors of tools, sessions and scenes; the tree is ``twice.errors``.

Invariant: an id is never reused for another meaning.
"""

from __future__ import annotations

from typing import ClassVar

from twice.errors import TwiceError, UsageError


class ToolRefused(UsageError, id="E-TOOL-001"):
    """A tool, a macro or what one needs is declared in a way that makes no sense."""


class RegistryRefused(UsageError, id="E-TOOL-002"):
    """Tools do not make a registry together, or no registry is found under a name."""


class CallRefused(TwiceError, id="E-TOOL-003"):
    """A call of a tool has no result; tools and backends raise it as well.

    Args:
        code: one of the codes that an envelope may carry, such as ``conflict``.
        happened: one sentence with the offending value.
        expected: one sentence that says what would have been right.
        remedy: one sentence or command that mends it.
        **details: the same facts as plain values, for programs that read them.
    """

    def __init__(
        self, code: str, happened: str, expected: str, remedy: str, **details: object
    ) -> None:
        super().__init__(happened, expected, remedy, **details)
        self.code = code


def refuse_limit(
    limit: str, happened: str, expected: str, remedy: str, **details: object
) -> CallRefused:
    """Build the refusal of a call that a limit of the session contract forbids."""
    return CallRefused("contract_violation", happened, expected, remedy, limit=limit, **details)


def blame_tool(happened: str, expected: str, **details: object) -> CallRefused:
    """Build the refusal of a call whose tool does what no caller can correct."""
    remedy = "This is a mistake in the tool: tell its author."
    return CallRefused("execution_failed", happened, expected, remedy, **details)


class OfferRefused(UsageError, id="E-TOOL-004"):
    """No session contract comes of what a host offers."""


class ToolSessionLost(TwiceError, id="E-TOOL-005"):
    """A session's worker died, and no other could be brought to where it stood."""


class SceneRefused(CallRefused, id="E-SCENE-000"):
    """A scene does not do what it was asked; ``kind`` is the code of the envelope."""

    kind: ClassVar[str] = "execution_failed"

    def __init_subclass__(cls, *, kind: str = "execution_failed", **options: str) -> None:
        super().__init_subclass__(**options)
        cls.kind = kind

    def __init__(self, happened: str, expected: str, remedy: str, **details: object) -> None:
        super().__init__(self.kind, happened, expected, remedy, **details)


class SceneValueRefused(SceneRefused, ValueError, id="E-SCENE-001", kind="invalid_arguments"):
    """A number in a scene has no identity: not finite, or beyond the width of its property."""


class SceneNameTaken(SceneRefused, id="E-SCENE-002", kind="conflict"):
    """A name is in use, or the backend would have changed it without a word."""


class SceneNotFound(SceneRefused, id="E-SCENE-003", kind="not_found"):
    """A scene has nothing of this kind and name."""


class SceneUnable(SceneRefused, id="E-SCENE-004", kind="capability_missing"):
    """This kind of scene cannot do that, or not reproducibly."""


class SceneArgumentRefused(SceneRefused, ValueError, id="E-SCENE-005", kind="invalid_arguments"):
    """A mesh, a path, a size or a setting does not make sense."""


class SceneFailed(SceneRefused, id="E-SCENE-006"):
    """The scene's program gave up, or did something else than it was told."""


class SceneStateForeign(SceneRefused, ValueError, id="E-SCENE-007", kind="invalid_arguments"):
    """Bytes or values are not a scene state that this version reads."""
