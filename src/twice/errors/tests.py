"""What tests of determinism raise: properties that do not hold, examples and faults that make no sense.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.base import TwiceError, UsageError


class PropertyBroken(TwiceError, AssertionError):
    """A property of determinism does not hold for a system; the shrunk example is in the message."""

    id = "E-TESTING-001"


class ExamplesDamaged(TwiceError):
    """A file of counterexamples is not what twice wrote."""

    id = "E-TESTING-002"


class FaultMisplaced(UsageError):
    """A fault names a component, field, stream or tick that the system does not have."""

    id = "E-TESTING-003"


class NothingJudged(TwiceError):
    """No example of a property could be judged."""

    id = "E-TESTING-004"
