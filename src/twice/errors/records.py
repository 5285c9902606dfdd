"""Records that cannot be read as they are.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.base import TwiceError, UsageError


class RecordVersion(TwiceError):
    """The record has a format or behaviour number that this version does not read."""

    id = "E-RECORD-001"


class RecordForeign(TwiceError):
    """The file is not a run record."""

    id = "E-RECORD-002"


class RecordTorn(TwiceError):
    """The record ends early; what stands before the tear is intact."""

    id = "E-RECORD-003"


class RecordCorrupt(TwiceError):
    """A byte of the record was changed after it was written."""

    id = "E-RECORD-004"


class RecordUnreadable(TwiceError):
    """The record cannot be opened: missing, a folder, or not permitted."""

    id = "E-RECORD-005"


class RecordTooLarge(TwiceError):
    """A record from elsewhere holds a state that is larger than is opened without being trusted."""

    id = "E-RECORD-007"


class RecordOutOfRange(UsageError, IndexError):
    """A tick, compare-point or snapshot lies outside the record."""

    id = "E-RECORD-006"
