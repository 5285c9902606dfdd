"""What was seen when something was run or read, one value for each kind.

Paths are relative to the project; nothing here names a folder of this machine, a time or a random
identity.

Invariant: plain data: two gatherings that saw the same are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from twice.specifying.gate.machine import Gpu


@dataclass(frozen=True, slots=True)
class Place:
    """A place in source code.

    Args:
        path: relative to the project.
        line: from 1.
        what: the call, or a few words.
        function: dotted path of the function; "" at the top of the file.
        fault: what is wrong there, as the end of a sentence; "" where that goes without saying.
    """

    path: str
    line: int
    what: str
    function: str = ""
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class Reported:
    """What ``twice check`` says.

    Args:
        rule: the rule.
        sheet: the sheet that settles it.
        place: where.
    """

    rule: str
    sheet: str
    place: Place


@dataclass(frozen=True, slots=True)
class Code:
    """What is read from source code, without running it.

    Args:
        draws: places that draw, make or seed.
        orphans: those that nobody owns, outside of tests.
        shared: generators that several owners draw from, outside of tests.
        asked: questions to the world.
        raw: those of the core that go beside the effects layer.
        mocks: code that is no test and imports mocks.
        pickles: code that is no test and imports pickle or a library like it.
        reported: findings that weigh medium or more and that nobody accepted.
        unread: files that could not be read.
    """

    draws: tuple[Place, ...] = ()
    orphans: tuple[Place, ...] = ()
    shared: tuple[Place, ...] = ()
    asked: tuple[Place, ...] = ()
    raw: tuple[Place, ...] = ()
    mocks: tuple[Place, ...] = ()
    pickles: tuple[Place, ...] = ()
    reported: tuple[Reported, ...] = ()
    unread: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of a run.

    Args:
        kind: numpy, python, torch, ...
        draws: how often it was drawn from; -1 where that cannot be told.
        adopted: whether somebody else made it, so that its seed is not the run's.
    """

    kind: str
    draws: int
    adopted: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """A run that the gate recorded: the program of 00, its seed, its configuration.

    Args:
        ticks: how many.
        points: how many compare-points.
        columns: what is judged at each.
        components: for each tracked component the form in which its state is read.
        inputs: names of its inputs.
        streams: by name; those of libraries' process-wide generators under ``global/``.
        globals_used: process-wide generators that were drawn from.
        lineages: threads, jobs of pools, tasks and what else was started, by lineage without numbers, and how
            many; None where the record does not say.
        gpu: what of a GPU it used; None where the record does not say.
        threads: threads of each BLAS that was loaded when it ended.
        kernels: the kernels that each of them chose.
        dispatch: instruction sets that numpy used.
        numpy: whether it counted by numpy, which twice loads in every run.
        kept: whether subnormal numbers were kept, when it began and when it ended.
        asked: what the program asked of the world, by source, and how often.
        asked_by_libraries: what libraries asked for themselves.
        floats: whether numbers with fractions stand in its states.
        snapshots: how many were kept.
        algorithm: the digest.
        files: the project's source files that it executed, relative to the project.
        read: the project's other files that it read, relative to the project.
        tracked_twice: names of components that are one object, for each such object.
    """

    ticks: int
    points: int
    columns: tuple[str, ...]
    components: Mapping[str, str]
    inputs: tuple[str, ...]
    streams: Mapping[str, Stream]
    globals_used: tuple[str, ...]
    lineages: Mapping[str, int] | None
    gpu: Gpu | None
    threads: Mapping[str, int]
    kernels: Mapping[str, str]
    dispatch: tuple[str, ...]
    numpy: bool
    kept: bool
    asked: Mapping[str, int]
    asked_by_libraries: tuple[str, ...]
    floats: bool
    snapshots: int
    algorithm: str
    files: tuple[str, ...]
    read: tuple[str, ...] = ()
    tracked_twice: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Reseeded:
    """The trial under other seeds.

    Args:
        is_moved: whether one of them changed what the class judges; None where it was not tried.
    """

    is_moved: bool | None


@dataclass(frozen=True, slots=True)
class Sealed:
    """A replay of the trial, cut off from the world.

    Args:
        result: PASS, PARTIAL, FAIL or UNKNOWN.
        first: the first difference in words; "" for none.
        of_effects: whether that difference is one of what was asked of the world.
        beside: sources that were reached beside the effects layer.
    """

    result: str
    first: str
    of_effects: bool
    beside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """Whether the program's streams were given out as asked.

    Args:
        refused: why one was not: taken twice, shared, from another thread; "" when all were.
    """

    refused: str


@dataclass(frozen=True, slots=True)
class Vector:
    """The recorded run that every run of this code and seed has to reproduce.

    Args:
        digest: where its chain of compare-points ends, labelled.
        program: what it executed.
        ticks: how many ticks it has.
        changed: source files that are not what they were, with what became of them.
        predicate: the sentence of the class under which it was recorded.
        result: what verifying it gave; "" when it was not executed.
        first: the first difference in words.
        why: what else the verification said, when it is no PASS.
        seed: its master seed; None for a vector that cannot be read.
        config: its configuration, ``key=value`` each, in order.
    """

    digest: str
    program: str
    ticks: int
    changed: tuple[str, ...]
    predicate: str
    result: str
    first: str
    why: str
    seed: int | None = None
    config: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    """The snapshot test on the trial.

    Args:
        tested: how many snapshots were restored.
        failed: what became of those from which the run did not go on as it did.
        missing: paths that no snapshot holds.
        on_the_way: how many of them stand after the first tick.
    """

    tested: int
    failed: tuple[str, ...]
    missing: tuple[str, ...]
    on_the_way: int = 0


@dataclass(frozen=True, slots=True)
class Planted:
    """A difference that was planted into the system's own run, and what was found of it.

    Args:
        component: where it was planted.
        field: in which field, as reports name it.
        tick: before the body of which tick.
        result: what diagnosing gave.
        found_tick: the tick of the first differing compare-point; -1 for none.
        found_components: what differs there.
        found_fields: which fields.
        operation: whether the operation that was named is the one that planted it.
    """

    component: str
    field: str
    tick: int
    result: str
    found_tick: int
    found_components: tuple[str, ...]
    found_fields: tuple[str, ...]
    operation: bool


@dataclass(frozen=True, slots=True)
class Tried:
    """One operation of a session, tried on the trial.

    Args:
        operation: its name.
        worked: whether it did what it is for.
        told: what was seen.
    """

    operation: str
    worked: bool
    told: str


@dataclass(frozen=True, slots=True)
class Policies:
    """What holds in a run, read back from a fresh process and from the trial's record.

    Args:
        libraries: versions, in the fresh process.
        recorded: versions, in the record.
        arithmetic: by the names of libraries in the fresh process that numbers rest on, what each is: BLAS,
            NumPy or libm.
        threads: threads of each BLAS that is loaded, in the fresh process.
        caps: variables that cap threads, in the fresh process.
        denormals: whether subnormal numbers are kept there.
        settings: other settings that were read back, by name.
    """

    libraries: Mapping[str, str]
    recorded: Mapping[str, str]
    arithmetic: Mapping[str, str]
    threads: Mapping[str, int]
    caps: Mapping[str, str]
    denormals: bool
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Encoded:
    """Known answers of the canonical form, run.

    Args:
        rfc8785: vectors of RFC 8785 that were run.
        wrong: those that came out otherwise.
        vectors: for each of sheet 11's, its digest by each algorithm; nothing where it is no JSON document.
        versions: installed versions of the libraries that make the bytes.
    """

    rfc8785: int
    wrong: tuple[str, ...]
    vectors: Mapping[str, tuple[str, ...]]
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Suite:
    """The property suite, run.

    Args:
        exit_code: of pytest.
        passed: how many tests passed.
        failed: names of those that did not.
        named: properties that the tests name.
        database: whether the folder of counterexamples is there and not ignored by git.
        told: the last lines, when nothing ran.
        found: how many tests were found.
        left_out: tests that are there and were not run.
        skipped: tests that were skipped, or expected to fail.
        passed_over: lines of kept counterexamples that no test replayed, as ``file:line``.
        loaded: files of the project that its process loaded.
    """

    exit_code: int
    passed: int
    failed: tuple[str, ...]
    named: tuple[str, ...]
    database: str
    told: str
    found: int = 0
    left_out: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Costs:
    """What ``twice cost`` measured.

    Args:
        rules: by name, ``performance`` and ``storage`` as they were measured.
        total_percent: how much slower a recorded run is; None when not measured.
        changed: source files that are not those it was measured on.
        program: what was measured; "" when the file does not say.
        code: source files that it was measured on.
        result: what became of its budget: ``inside``, ``breach``, ``unknown`` or ``no-budget``; "" for none of these.
        budget_percent: that budget; None for none.
    """

    rules: Mapping[str, Mapping[str, str]]
    total_percent: float | None
    changed: tuple[str, ...]
    program: str = ""
    code: tuple[str, ...] = ()
    result: str = ""
    budget_percent: int | None = None


@dataclass(frozen=True, slots=True)
class Handoff:
    """What sheet 04 refers to.

    Args:
        there: whether the audit log's encoding is where it says; None for an address of the network.
        copied: lines of it that stand in sheet 04 as well.
    """

    there: bool | None
    copied: tuple[str, ...]
