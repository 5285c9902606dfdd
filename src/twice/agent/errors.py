"""The errors of the server for coding agents and of its pack; the tree is ``twice.errors``.

Invariant: an id is never reused for another meaning.
"""

from __future__ import annotations

from twice.errors import TwiceError, UsageError


class PathOutsideRoots(UsageError, id="E-AGENT-001"):
    """A path leads to a place that the server may not touch."""


class ExecutionNotAllowed(UsageError, id="E-AGENT-002"):
    """A call would execute or write, and the server was started to look only."""


class ArgumentsRefused(UsageError, id="E-AGENT-003"):
    """Arguments of a call do not fit the tool's schema."""


class CallTooLong(TwiceError, id="E-AGENT-004"):
    """A command did not end within the time that its call gave it."""


class CallBroken(TwiceError, id="E-AGENT-005"):
    """A command ended without an answer."""


class NothingThere(UsageError, id="E-AGENT-006"):
    """A resource or a prompt does not exist, or no longer."""
