"""What a program, its configuration, its seeds, its components or its surroundings got wrong.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.base import TwiceError, UsageError


class ProgramNotFound(UsageError):
    """The program path, module or function does not exist."""

    id = "E-PROGRAM-001"


class ProgramNotRerunnable(UsageError):
    """The program cannot be started again from its record (a closure, a notebook cell)."""

    id = "E-PROGRAM-002"


class RecordUntrusted(UsageError):
    """A record that another account made would be executed, and the caller did not say that it may be."""

    id = "E-TRUST-001"


class ProgramFailed(TwiceError):
    """The program ended by an exception, or its process died."""

    id = "E-PROGRAM-003"


class ProgramChanged(TwiceError):
    """The program's source differs from the one that was recorded."""

    id = "E-PROGRAM-004"


class ConfigError(UsageError):
    """A configuration file or value cannot be read."""

    id = "E-CONFIG-001"


class ConfigKeyUnknown(ConfigError, KeyError):
    """The program asked for a configuration key that was not given."""

    id = "E-CONFIG-002"

    __str__ = TwiceError.__str__


class ConfigKeyUnused(ConfigError):
    """A configuration key was given that the program does not know."""

    id = "E-CONFIG-003"


class SeedMissing(UsageError):
    """No master seed was given; there is no default."""

    id = "E-SEED-001"


class SeedNameRefused(TwiceError, ValueError):
    """A name for a seed or stream is empty, too long, or not text."""

    id = "E-SEED-002"


class SeedRefused(UsageError, ValueError):
    """A master seed is not an integer in range."""

    id = "E-SEED-003"


class StreamTaken(TwiceError):
    """A stream was taken twice under one name."""

    id = "E-RNG-001"


class StreamShared(TwiceError):
    """A stream was copied, pickled, spawned from, or drawn from by a second owner."""

    id = "E-RNG-002"


class StreamOffThread(TwiceError):
    """A stream, effect or input was used on a thread that has no declared actor."""

    id = "E-RNG-003"


class StreamStateRefused(TwiceError):
    """A stored stream position does not fit the generator it is restored into."""

    id = "E-RNG-004"


class StreamReseeded(TwiceError):
    """A stream was given a new seed in the middle of a run."""

    id = "E-RNG-005"


class ComponentRefused(TwiceError):
    """An object cannot be tracked as it is."""

    id = "E-TRACK-001"


class ComponentTaken(ComponentRefused):
    """A component was tracked twice under one name."""

    id = "E-TRACK-002"


class RestoreRefused(TwiceError):
    """A component cannot be put back, or came back different."""

    id = "E-TRACK-003"


class TickMisuse(TwiceError):
    """Ticks were nested, or something that needs an open tick was called outside of one."""

    id = "E-TICK-001"


class RollbackRefused(TwiceError):
    """A rollback names a tick that is not kept."""

    id = "E-TICK-002"


class SnapshotCadence(TwiceError):
    """The declared tick rate cannot carry the declared snapshot cadence."""

    id = "E-SNAPSHOT-001"


class SnapshotMissing(TwiceError):
    """No snapshot stands where one is needed."""

    id = "E-SNAPSHOT-002"


class SurroundingsRefused(TwiceError):
    """A surrounding cannot be pinned or recorded (a random hash seed, for one)."""

    id = "E-ENV-001"
