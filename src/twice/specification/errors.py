"""The errors of specifications, their gate and what is laid down from them; the tree is ``twice.errors``.

Invariant: an id is never reused for another meaning.
"""

from __future__ import annotations

from twice.errors import TwiceError, UsageError


class SheetRefused(UsageError, id="E-SPEC-001"):
    """A sheet of a specification cannot be read: its head, a key or a value."""


class WorkspaceRefused(UsageError, id="E-SPEC-002"):
    """The sheets do not make a specification together: twice the same, missing, in a circle."""


class SheetVersion(SheetRefused, id="E-SPEC-003"):
    """A sheet or the lock was written for a later version of twice."""


class BumpRefused(UsageError, id="E-SPEC-004"):
    """A version does not fit what changed."""


class SpecIncomplete(UsageError, id="E-SPEC-005"):
    """A sheet lacks a value that the command needs, or the program of sheet 00 does not run to its end."""


class SpecForeign(UsageError, id="E-SPEC-006"):
    """The specification is of another component, or of other code."""


class GateUnfinished(TwiceError, id="E-GATE-001"):
    """The gate could not be run at all."""


class ScaffoldUnfinished(TwiceError, id="E-SCAFFOLD-001"):
    """Laying down files cannot begin: another process is at it, or files changed under its hands."""
