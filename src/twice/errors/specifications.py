"""Specifications that cannot be read or do not hold together.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.base import TwiceError, UsageError


class SheetRefused(UsageError):
    """A sheet of a specification cannot be read: its head, a key or a value."""

    id = "E-SPEC-001"


class WorkspaceRefused(UsageError):
    """The sheets do not make a specification together: twice the same, missing, in a circle."""

    id = "E-SPEC-002"


class SheetVersion(SheetRefused):
    """A sheet or the lock was written for a later version of twice."""

    id = "E-SPEC-003"


class BumpRefused(UsageError):
    """A version does not fit what changed."""

    id = "E-SPEC-004"


class SpecIncomplete(UsageError):
    """The specification does not say what has to be known first."""

    id = "E-SPEC-005"


class SpecForeign(UsageError):
    """The specification is of another component, or of other code."""

    id = "E-SPEC-006"


class GateUnfinished(TwiceError):
    """The gate could not be run at all."""

    id = "E-GATE-001"


class ScaffoldUnfinished(TwiceError):
    """Laying down files cannot begin: another process is at it, or files changed under its hands."""

    id = "E-SCAFFOLD-001"
