"""Assets, their logs, and the stores that they lie in.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.base import UsageError


class LogUnreadable(UsageError):
    """A determinism log cannot be read at all: no file, no JSON, cut off."""

    id = "E-ASSET-LOG-001"


class LogRefused(UsageError):
    """A determinism log says something that it cannot say, or lacks what it needs."""

    id = "E-ASSET-LOG-002"


class LogVersion(UsageError):
    """A determinism log has a format that this version does not read."""

    id = "E-ASSET-LOG-003"


class StoreRefused(UsageError):
    """A hot store cannot be used: it is public, or its logs and assets do not fit."""

    id = "E-ASSET-STORE-001"


class AssetMissing(UsageError):
    """The file of an asset is not there, or cannot be read."""

    id = "E-ASSET-FILE-001"


class ExportRefused(UsageError):
    """A manifest cannot be written: its reader would not take it, or it would leak."""

    id = "E-ASSET-EXPORT-001"


class ImportRefused(UsageError):
    """What a file says cannot go into the log that was named."""

    id = "E-ASSET-IMPORT-001"


class RenderFailed(UsageError):
    """A command that renders could not be executed, failed, took too long, or wrote nothing."""

    id = "E-ASSET-RENDER-001"


class InputChanged(UsageError):
    """A file that a recipe reads is not there, or is another one than the log names."""

    id = "E-ASSET-RENDER-002"


class RenderIncomplete(UsageError):
    """A promise needs values that neither the run nor anybody says."""

    id = "E-ASSET-RENDER-003"


class RecipeUntrusted(UsageError):
    """A recipe was not recorded by this account, and nobody said that it may run."""

    id = "E-ASSET-RENDER-004"
