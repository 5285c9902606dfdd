"""What scenes refuse: values without an identity, names that are taken, things that are not there.

Each is a refusal of a call, with the code that its envelope carries.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.tools import CallRefused

TYPE_CHECKING = False  # As in ``twice/__init__.py``.
if TYPE_CHECKING:
    from typing import ClassVar


class SceneRefused(CallRefused):
    """A scene does not do what it was asked; ``kind`` is the code of the envelope."""

    id = "E-SCENE-000"
    kind: ClassVar[str] = "execution_failed"

    def __init__(self, happened: str, expected: str, remedy: str, **details: object) -> None:
        super().__init__(self.kind, happened, expected, remedy, **details)


class SceneValueRefused(SceneRefused, ValueError):
    """A number in a scene has no identity: not finite, or beyond the width of its property."""

    id = "E-SCENE-001"
    kind = "invalid_arguments"


class SceneNameTaken(SceneRefused):
    """A name is in use, or the backend would have changed it without a word."""

    id = "E-SCENE-002"
    kind = "conflict"


class SceneNotFound(SceneRefused):
    """A scene has nothing of this kind and name."""

    id = "E-SCENE-003"
    kind = "not_found"


class SceneUnable(SceneRefused):
    """This kind of scene cannot do that, or not reproducibly."""

    id = "E-SCENE-004"
    kind = "capability_missing"


class SceneArgumentRefused(SceneRefused, ValueError):
    """A mesh, a path, a size or a setting does not make sense."""

    id = "E-SCENE-005"
    kind = "invalid_arguments"


class SceneFailed(SceneRefused):
    """The scene's program gave up, or did something else than it was told."""

    id = "E-SCENE-006"


class SceneStateForeign(SceneRefused, ValueError):
    """Bytes or values are not a scene state that this version reads."""

    id = "E-SCENE-007"
    kind = "invalid_arguments"
