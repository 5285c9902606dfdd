"""Tools, registries and calls that are refused.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.base import TwiceError, UsageError


class ToolRefused(UsageError):
    """A tool, a macro or what one needs is declared in a way that makes no sense."""

    id = "E-TOOL-001"


class RegistryRefused(UsageError):
    """Tools do not make a registry together, or no registry is found under a name."""

    id = "E-TOOL-002"


class CallRefused(TwiceError):
    """A call of a tool has no result; tools and backends raise it as well.

    Args:
        code: one of the codes that an envelope may carry, such as ``conflict``.
        happened: one sentence with the offending value.
        expected: one sentence that says what would have been right.
        remedy: one sentence or command that mends it.
        **details: the same facts as plain values, for programs that read them.
    """

    id = "E-TOOL-003"

    def __init__(
        self, code: str, happened: str, expected: str, remedy: str, **details: object
    ) -> None:
        super().__init__(happened, expected, remedy, **details)
        self.code = code


class OfferRefused(UsageError):
    """No session contract comes of what a host offers."""

    id = "E-TOOL-004"


class ToolSessionLost(TwiceError):
    """A session's worker died, and no other could be brought to where it stood."""

    id = "E-TOOL-005"
