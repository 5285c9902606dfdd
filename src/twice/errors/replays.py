"""What is refused while a run is recorded, replayed, branched or traced, and what does not match.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.base import TwiceError, UsageError


class EffectMismatch(TwiceError):
    """Replay asked the world something else than the record did."""

    id = "E-EFFECT-001"


class FileNotRebuilt(EffectMismatch):
    """A file that the run had written before the snapshot which an execution began at."""

    id = "E-FILE-001"


class EffectRefused(TwiceError):
    """An effect was asked for that the session does not allow or cannot record."""

    id = "E-EFFECT-002"


class InputMismatch(TwiceError):
    """Replay asked for another input than the record holds."""

    id = "E-EFFECT-003"


class InterceptionRefused(TwiceError):
    """A name that reads the world could not be routed through the effects layer."""

    id = "E-EFFECT-004"


class RedactionRefused(UsageError):
    """A redaction rule or pattern cannot be used, or a secret stands where it cannot be blanked."""

    id = "E-REDACT-001"


class RedactionNeeded(TwiceError):
    """A replay parted after the program was given stars for what was kept out of the record."""

    id = "E-REDACT-002"


class SealBroken(TwiceError):
    """A sealed replay was asked for an operation that reaches the world beside the record."""

    id = "E-SEAL-001"


class ReplayRefused(TwiceError):
    """A session does not start: state, code, config, policy or probe does not match."""

    id = "E-REPLAY-001"


class SessionMisuse(TwiceError):
    """A session was used after its end, or asked for what its kind does not do."""

    id = "E-REPLAY-002"


class BranchLimit(TwiceError):
    """Too many branches are open at once."""

    id = "E-REPLAY-003"


class TraceRefused(TwiceError):
    """A trace file cannot be read, or belongs to another run."""

    id = "E-TRACE-001"


class TimeLimitReached(TwiceError):
    """A diagnosis was given less time than it needs."""

    id = "E-DIAGNOSE-001"


class FilesUnprotected(TwiceError):
    """Nothing here would keep the run's code from changing the user's files again."""

    id = "E-FILE-002"
