"""Assets on their way to the public: what they hold, and what must not leave with them.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.base import TwiceError, UsageError


class PayloadRefused(TwiceError):
    """A file is not what it says it is, so that its payload cannot be told."""

    id = "E-PAYLOAD-001"


class ScrubRefused(UsageError):
    """A file cannot be scrubbed so that its payload is proven to be the same."""

    id = "E-SCRUB-001"


class LeaksRefused(UsageError):
    """What is to be scanned, or the list of what is known, cannot be read."""

    id = "E-LEAKS-001"
