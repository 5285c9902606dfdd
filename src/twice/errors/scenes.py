"""What scenes refuse: values without an identity, names that are taken, things that are not there.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.base import TwiceError, UsageError


class SceneValueRefused(TwiceError, ValueError):
    """A number in a scene has no identity: not finite, or beyond the width of its property."""

    id = "E-SCENE-001"


class SceneNameTaken(UsageError):
    """A name is in use, or the backend would have changed it without a word."""

    id = "E-SCENE-002"


class SceneNotFound(UsageError):
    """A scene has nothing of this kind and name."""

    id = "E-SCENE-003"


class SceneUnable(UsageError):
    """This kind of scene cannot do that, or not reproducibly."""

    id = "E-SCENE-004"


class SceneArgumentRefused(UsageError, ValueError):
    """A mesh, a path, a size or a setting does not make sense."""

    id = "E-SCENE-005"


class SceneFailed(TwiceError):
    """The scene's program gave up, or did something else than it was told."""

    id = "E-SCENE-006"


class SceneStateForeign(TwiceError, ValueError):
    """Bytes or values are not a scene state that this version reads."""

    id = "E-SCENE-007"
