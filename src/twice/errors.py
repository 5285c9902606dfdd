"""Every error of the core: one tree, each leaf with a stable id. Specifications, tools and assets have their own leaves.

A leaf carries three sentences: what happened (with the value), what was expected, and what to do
next, as a command where there is one. Bad input is an error; our own broken invariant is an
assertion in words; a divergence is a result, never an exception.

Invariant: an id is never reused for another meaning, and every leaf has one.
"""

from __future__ import annotations

TYPE_CHECKING = False  # As in ``twice/__init__.py``.
if TYPE_CHECKING:
    from typing import ClassVar

_LEAVES: dict[str, type[TwiceError]] = {}


class TwiceError(Exception):
    """What went wrong, what was expected and what to do.

    Args:
        happened: one sentence with the offending value.
        expected: one sentence that says what would have been right.
        remedy: one sentence or command that mends it.
        **fields: the same facts as values, for programs that read them.
    """

    id: ClassVar[str] = "E-TWICE-000"

    def __init_subclass__(cls, *, id: str, **options: str) -> None:  # noqa: A002
        super().__init_subclass__(**options)
        cls.id = id
        _LEAVES[id] = cls

    def __init__(self, happened: str, expected: str, remedy: str, **fields: object) -> None:
        super().__init__(happened)
        self.happened = happened
        self.expected = expected
        self.remedy = remedy
        self.fields = fields

    def __str__(self) -> str:
        indent = " " * (len(self.id) + 2)
        lines = map(_shorten, (self.happened, self.expected, self.remedy))
        return f"{self.id}  " + f"\n{indent}".join(
            line.replace("\n", f"\n{indent}") for line in lines if line
        )


def find_leaf(id: str) -> type[TwiceError]:  # noqa: A002
    """Return the class with an id; the root where nothing that is loaded has it."""
    return _LEAVES.get(id, TwiceError)


_WORD_MAX = 400


def _shorten(line: str) -> str:
    """Cut the middle out of every overlong word, such as a path of a megabyte."""
    if len(line) <= _WORD_MAX:
        return line
    import re  # only here: what raises nothing does not load it

    half = _WORD_MAX // 2
    return re.sub(rf"\S{{{_WORD_MAX},}}", lambda word: f"{word[0][:half]}…{word[0][-half:]}", line)


class UsageError(TwiceError, id="E-USE-001"):
    """E-USE: the call or the command line does not make sense."""


class OutputExists(UsageError, id="E-OUTPUT-001"):
    """The output file is there already."""


class OutputUnwritable(TwiceError, id="E-OUTPUT-002"):
    """The output cannot be written: read-only folder, full disk."""


class ExtraMissing(UsageError, ImportError, id="E-EXTRA-001"):
    """An optional library is asked for and not installed."""


class ProgramNotFound(UsageError, id="E-PROGRAM-001"):
    """The program path, module or function does not exist."""


class ProgramNotRerunnable(UsageError, id="E-PROGRAM-002"):
    """The program cannot be started again from its record (a closure, a notebook cell)."""


class RecordUntrusted(UsageError, id="E-TRUST-001"):
    """A record that another account made would be executed, and the caller did not say that it may be."""


class ProgramFailed(TwiceError, id="E-PROGRAM-003"):
    """The program ended by an exception, or its process died."""


class ProgramChanged(TwiceError, id="E-PROGRAM-004"):
    """The program's source differs from the one that was recorded."""


class ConfigError(UsageError, id="E-CONFIG-001"):
    """A configuration file or value cannot be read."""


class ConfigKeyUnknown(ConfigError, KeyError, id="E-CONFIG-002"):
    """The program asked for a configuration key that was not given."""

    __str__ = TwiceError.__str__


class ConfigKeyUnused(ConfigError, id="E-CONFIG-003"):
    """A configuration key was given that the program does not know."""


class SeedMissing(UsageError, id="E-SEED-001"):
    """No master seed was given; there is no default."""


class SeedNameRefused(TwiceError, ValueError, id="E-SEED-002"):
    """A name for a seed or stream is empty, too long, or not text."""


class SeedRefused(UsageError, ValueError, id="E-SEED-003"):
    """A master seed is not an integer in range."""


class StreamTaken(TwiceError, id="E-RNG-001"):
    """A stream was taken twice under one name."""


class StreamShared(TwiceError, id="E-RNG-002"):
    """A stream was copied, pickled, spawned from, or drawn from by a second owner."""


class StreamOffThread(TwiceError, id="E-RNG-003"):
    """A stream, effect or input was used on a thread that has no declared actor."""


class StreamStateRefused(TwiceError, id="E-RNG-004"):
    """A stored stream position does not fit the generator it is restored into."""


class StreamReseeded(TwiceError, id="E-RNG-005"):
    """A stream was given a new seed in the middle of a run."""


class ComponentRefused(TwiceError, id="E-TRACK-001"):
    """An object cannot be tracked as it is."""


class ComponentTaken(ComponentRefused, id="E-TRACK-002"):
    """A component was tracked twice under one name."""


class RestoreRefused(TwiceError, id="E-TRACK-003"):
    """A component cannot be put back, or came back different."""


class MigrationRefused(TwiceError, id="E-TRACK-004"):
    """A snapshot holds another version of a component's state than the code, and it cannot be migrated."""


class TickMisuse(TwiceError, id="E-TICK-001"):
    """Ticks were nested, or something that needs an open tick was called outside of one."""


class RollbackRefused(TwiceError, id="E-TICK-002"):
    """A rollback names a tick that is not kept."""


class SnapshotCadence(TwiceError, id="E-SNAPSHOT-001"):
    """The declared tick rate cannot carry the declared snapshot cadence."""


class SnapshotMissing(TwiceError, id="E-SNAPSHOT-002"):
    """No snapshot stands where one is needed."""


class SurroundingsRefused(TwiceError, id="E-ENV-001"):
    """A surrounding cannot be pinned or recorded (a random hash seed, for one)."""


class NumericPolicyRefused(UsageError, id="E-POLICY-001"):
    """A policy of numbers is unknown, contradicted, or not possible on this processor."""


class NumericPolicyBroken(TwiceError, id="E-POLICY-002"):
    """A knob of a policy of numbers does not hold when a run begins, or no longer."""


class EncodingRefused(TwiceError, TypeError, id="E-ENCODE-001"):
    """A value has no canonical form; its path is named."""


class EncodingCycle(EncodingRefused, id="E-ENCODE-002"):
    """A value contains itself."""


class EncodingTextRefused(EncodingRefused, id="E-ENCODE-003"):
    """A string holds lone surrogates and has no UTF-8 form."""


class DecodingRefused(TwiceError, ValueError, id="E-ENCODE-004"):
    """Bytes are not a canonical form."""


class TypeNameTaken(TwiceError, id="E-ENCODE-005"):
    """Two types were registered under one name, or one type twice."""


class DigestRefused(TwiceError, ValueError, id="E-DIGEST-001"):
    """A digest's label, algorithm or length is not known, or too weak for what it must hold."""


class ClassRefused(UsageError, ValueError, id="E-CLASS-001"):
    """A determinism class, scope or tolerance does not make sense."""


class SampleMissing(UsageError, id="E-CLASS-002"):
    """The statistical class has no number to compare: no summary is declared, or none is given."""


class SampleUndecided(TwiceError, id="E-CLASS-003"):
    """Two samples are too small or too noisy to tell whether they agree."""


class RecordVersion(TwiceError, id="E-RECORD-001"):
    """The record has a format or behaviour number that this version does not read."""


class RecordForeign(TwiceError, id="E-RECORD-002"):
    """The file is not a run record."""


class RecordTorn(TwiceError, id="E-RECORD-003"):
    """The record ends early; what stands before the tear is intact."""


class RecordCorrupt(TwiceError, id="E-RECORD-004"):
    """A byte of the record was changed after it was written."""


class RecordUnreadable(TwiceError, id="E-RECORD-005"):
    """The record cannot be opened: missing, a folder, or not permitted."""


class RecordTooLarge(TwiceError, id="E-RECORD-007"):
    """A record from elsewhere holds a state that is larger than is opened without being trusted."""


class RecordOutOfRange(UsageError, IndexError, id="E-RECORD-006"):
    """A tick, compare-point or snapshot lies outside the record."""


class EffectMismatch(TwiceError, id="E-EFFECT-001"):
    """Replay asked the world something else than the record did."""


class FileNotRebuilt(EffectMismatch, id="E-FILE-001"):
    """A file that the run had written before the snapshot which an execution began at."""


class EffectRefused(TwiceError, id="E-EFFECT-002"):
    """An effect was asked for that the session does not allow or cannot record."""


class InputMismatch(TwiceError, id="E-EFFECT-003"):
    """Replay asked for another input than the record holds."""


class InterceptionRefused(TwiceError, id="E-EFFECT-004"):
    """A name that reads the world could not be routed through the effects layer."""


class RedactionRefused(UsageError, id="E-REDACT-001"):
    """A redaction rule or pattern cannot be used, or a secret stands where it cannot be blanked."""


class RedactionNeeded(TwiceError, id="E-REDACT-002"):
    """A replay parted after the program was given stars for what was kept out of the record."""


class SealBroken(TwiceError, id="E-SEAL-001"):
    """A sealed replay was asked for an operation that reaches the world beside the record."""


class ReplayRefused(TwiceError, id="E-REPLAY-001"):
    """A session does not start: state, code, config, policy or probe does not match."""


class SessionMisuse(TwiceError, id="E-REPLAY-002"):
    """A session was used after its end, or asked for what its kind does not do."""


class BranchLimit(TwiceError, id="E-REPLAY-003"):
    """Too many branches are open at once."""


class TraceRefused(TwiceError, id="E-TRACE-001"):
    """A trace file cannot be read, or belongs to another run."""


class TimeLimitReached(TwiceError, id="E-DIAGNOSE-001"):
    """A diagnosis was given less time than it needs."""


class CheckpointNotWritten(TwiceError, id="E-RESUME-001"):
    """A training that is to be killed and resumed wrote no checkpoint with steps behind it."""


class CheckpointUnused(TwiceError, id="E-RESUME-002"):
    """A training that was started again behind a kill read none of its checkpoints."""


class CheckpointThere(TwiceError, id="E-RESUME-003"):
    """The folder of a training has checkpoints already, so that no run of it begins at the beginning."""


class FilesUnprotected(TwiceError, id="E-FILE-002"):
    """Nothing here would keep the run's code from changing the user's files again."""


class PropertyBroken(TwiceError, AssertionError, id="E-TESTING-001"):
    """A property of determinism does not hold for a system; the shrunk example is in the message."""


class ExamplesDamaged(TwiceError, id="E-TESTING-002"):
    """A file of counterexamples is not what twice wrote."""


class FaultMisplaced(UsageError, id="E-TESTING-003"):
    """A fault names a component, field, stream or tick that the system does not have."""


class NothingJudged(TwiceError, id="E-TESTING-004"):
    """No example of a property could be judged."""


class SimulationRefused(TwiceError, id="E-SCHEDULE-001"):
    """A program does in a simulated or recorded loop what no replay of it can repeat."""


class Deadlock(TwiceError, id="E-SCHEDULE-002"):
    """No step of a simulated loop is ready, no timer is set, and the program waits."""


class Livelock(TwiceError, id="E-SCHEDULE-003"):
    """Steps of a simulated loop go on while no virtual time passes, or one step does not end."""


class PropertyViolated(TwiceError, AssertionError, id="E-SCHEDULE-005"):
    """A property that a program demands of every order of its steps does not hold in one."""


class NumericRefused(UsageError, ValueError, id="E-NUMERIC-001"):
    """An operand, index or method does not fit a reduction of a fixed order."""


class CheckpointDamaged(TwiceError, id="E-CHECKPOINT-001"):
    """A file is not a checkpoint, or it was cut or changed after it was written."""


class CheckpointVersion(TwiceError, id="E-CHECKPOINT-002"):
    """A checkpoint has another format, or was written under other versions of the libraries."""


class CheckpointUnfit(TwiceError, TypeError, id="E-CHECKPOINT-003"):
    """A state does not fit the object that it is put back into, or nothing is known of the object's type."""


class CheckpointDevice(TwiceError, id="E-CHECKPOINT-004"):
    """A part of a training lies on another device than when its checkpoint was written."""


class StateNotANumber(TwiceError, ValueError, id="E-CHECKPOINT-005"):
    """A state that would be written holds a NaN."""


class LoaderUnfit(CheckpointUnfit, id="E-CHECKPOINT-006"):
    """A loader cannot continue in the middle of an epoch: it changed, or its batches do not come again."""


class KeyUsedTwice(TwiceError, id="E-CHECKPOINT-007"):
    """A key of JAX's generators was taken twice."""


class ScheduleRefused(TwiceError, id="E-SCHEDULE-004"):
    """A schedule or its constraints do not fit the program."""


class WorkerDied(TwiceError, id="E-RUNS-001"):
    """A process that did jobs died over one."""


class WorkerUnlike(TwiceError, id="E-RUNS-002"):
    """A worker has another version of twice than the command that gives it jobs."""
