"""Every error that twice raises: one tree, each leaf with a stable id.

A leaf carries three sentences: what happened (with the value), what was expected, and what to do
next, as a command where there is one. Bad input is an error; our own broken invariant is an
assertion in words; a divergence is a result, never an exception.

Invariant: an id is never reused for another meaning, and every leaf has one.
"""

from __future__ import annotations

from typing import ClassVar


class TwiceError(Exception):
    """What went wrong, what was expected and what to do.

    Args:
        happened: one sentence with the offending value.
        expected: one sentence that says what would have been right.
        remedy: one sentence or command that mends it.
        **fields: the same facts as values, for programs that read them.
    """

    id: ClassVar[str] = "E-TWICE-000"

    def __init__(self, happened: str, expected: str, remedy: str, **fields: object) -> None:
        super().__init__(happened)
        self.happened = happened
        self.expected = expected
        self.remedy = remedy
        self.fields = fields

    def __str__(self) -> str:
        indent = " " * (len(self.id) + 2)
        lines = (self.happened, self.expected, self.remedy)
        return f"{self.id}  " + f"\n{indent}".join(
            line.replace("\n", f"\n{indent}") for line in lines if line
        )


class UsageError(TwiceError):
    """E-USE: the call or the command line does not make sense."""

    id = "E-USE-001"


class ProgramNotFound(UsageError):
    """The program path, module or function does not exist."""

    id = "E-PROGRAM-001"


class ProgramNotRerunnable(UsageError):
    """The program cannot be started again from its record (a closure, a notebook cell)."""

    id = "E-PROGRAM-002"


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


class EncodingRefused(TwiceError, TypeError):
    """A value has no canonical form; its path is named."""

    id = "E-ENCODE-001"


class EncodingCycle(EncodingRefused):
    """A value contains itself."""

    id = "E-ENCODE-002"


class EncodingTextRefused(EncodingRefused):
    """A string holds lone surrogates and has no UTF-8 form."""

    id = "E-ENCODE-003"


class DecodingRefused(TwiceError, ValueError):
    """Bytes are not a canonical form."""

    id = "E-ENCODE-004"


class TypeNameTaken(TwiceError):
    """Two types were registered under one name, or one type twice."""

    id = "E-ENCODE-005"


class DigestRefused(TwiceError, ValueError):
    """A digest's label, algorithm or length is not known, or too weak for what it must hold."""

    id = "E-DIGEST-001"


class ClassRefused(UsageError, ValueError):
    """A determinism class, scope or tolerance does not make sense."""

    id = "E-CLASS-001"


class SampleMissing(UsageError):
    """The statistical class has no number to compare: no summary is declared, or none is given."""

    id = "E-CLASS-002"


class SampleUndecided(TwiceError):
    """Two samples are too small or too noisy to tell whether they agree."""

    id = "E-CLASS-003"


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


class RecordOutOfRange(UsageError, IndexError):
    """A tick, compare-point or snapshot lies outside the record."""

    id = "E-RECORD-006"


class OutputExists(UsageError):
    """The output file is there already."""

    id = "E-OUTPUT-001"


class OutputUnwritable(TwiceError):
    """The output cannot be written: read-only folder, full disk."""

    id = "E-OUTPUT-002"


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


class SurroundingsRefused(TwiceError):
    """A surrounding cannot be pinned or recorded (a random hash seed, for one)."""

    id = "E-ENV-001"


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


class ExtraMissing(UsageError, ImportError):
    """An optional library is asked for and not installed."""

    id = "E-EXTRA-001"
