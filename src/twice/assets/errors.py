"""The errors of determinism logs, stores, renders and scans; the tree is ``twice.errors``.

Invariant: an id is never reused for another meaning.
"""

from __future__ import annotations

from twice.errors import TwiceError, UsageError


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
