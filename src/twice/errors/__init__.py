"""Every error that twice raises: one tree, each leaf with a stable id.

A leaf carries three sentences: what happened (with the value), what was expected, and what to do
next, as a command where there is one. Bad input is an error; our own broken invariant is an
assertion in words; a divergence is a result, never an exception.

The core's errors are in ``core.py``; those of specifications, tools, scenes and assets are here.

Invariant: an id is never reused for another meaning, and every leaf has one.
"""

from __future__ import annotations

from twice.errors.core import *  # noqa: F403  (a list of the names would say all of them twice)
from twice.errors.core import TwiceError, UsageError

TYPE_CHECKING = False  # As in ``twice/__init__.py``.
if TYPE_CHECKING:
    from typing import ClassVar


class SheetRefused(UsageError, id="E-SPEC-001"):
    """A sheet of a specification cannot be read: its head, a key or a value."""


class WorkspaceRefused(UsageError, id="E-SPEC-002"):
    """The sheets do not make a specification together: twice the same, missing, in a circle."""


class SheetVersion(SheetRefused, id="E-SPEC-003"):
    """A sheet or the lock was written for a later version of twice."""


class BumpRefused(UsageError, id="E-SPEC-004"):
    """A version does not fit what changed."""


class SpecIncomplete(UsageError, id="E-SPEC-005"):
    """The specification does not say what has to be known first."""


class SpecForeign(UsageError, id="E-SPEC-006"):
    """The specification is of another component, or of other code."""


class GateUnfinished(TwiceError, id="E-GATE-001"):
    """The gate could not be run at all."""


class ScaffoldUnfinished(TwiceError, id="E-SCAFFOLD-001"):
    """Laying down files cannot begin: another process is at it, or files changed under its hands."""


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


class LogUnreadable(UsageError, id="E-ASSET-LOG-001"):
    """A determinism log cannot be read at all: no file, no JSON, cut off."""


class LogRefused(UsageError, id="E-ASSET-LOG-002"):
    """A determinism log says something that it cannot say, or lacks what it needs."""


class LogVersion(UsageError, id="E-ASSET-LOG-003"):
    """A determinism log has a format that this version does not read."""


class StoreRefused(UsageError, id="E-ASSET-STORE-001"):
    """A hot store cannot be used: it is public, or its logs and assets do not fit."""


class AssetMissing(UsageError, id="E-ASSET-FILE-001"):
    """The file of an asset is not there, or cannot be read."""


class ExportRefused(UsageError, id="E-ASSET-EXPORT-001"):
    """A manifest cannot be written: its reader would not take it, or it would leak."""


class ImportRefused(UsageError, id="E-ASSET-IMPORT-001"):
    """What a file says cannot go into the log that was named."""


class RenderFailed(UsageError, id="E-ASSET-RENDER-001"):
    """A command that renders could not be executed, failed, took too long, or wrote nothing."""


class InputChanged(UsageError, id="E-ASSET-RENDER-002"):
    """A file that a recipe reads is not there, or is another one than the log names."""


class RenderIncomplete(UsageError, id="E-ASSET-RENDER-003"):
    """A promise needs values that neither the run nor anybody says."""


class RecipeUntrusted(UsageError, id="E-ASSET-RENDER-004"):
    """A recipe was not recorded by this account, and nobody said that it may run."""


class PayloadRefused(TwiceError, id="E-PAYLOAD-001"):
    """A file is not what it says it is, so that its payload cannot be told."""


class ScrubRefused(UsageError, id="E-SCRUB-001"):
    """A file cannot be scrubbed so that its payload is proven to be the same."""


class LeaksRefused(UsageError, id="E-LEAKS-001"):
    """What is to be scanned, or the list of what is known, cannot be read."""
