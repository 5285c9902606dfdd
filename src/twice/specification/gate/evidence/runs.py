"""The trial, which is the program of sheet 00, recorded; its replays; the test vector; and what holds in a run.

Results of other rooms are handed on as they are. What is told of a run is read from its record, and what
is told of the surroundings was read back after it was set, never taken from what was asked for.

Invariant: a record of other code is never executed; which files differ is the answer then.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from twice.diagnosis.restore_gaps import explained_restores
from twice.diagnosis.vary.report import FactorResult
from twice.diagnosis.vary.search import vary
from twice.errors import StreamOffThread, StreamShared, StreamTaken, TwiceError
from twice.foundation.environment import NUMERIC_LIBRARIES, Fingerprint
from twice.recorder.config import format_settings
from twice.recorder.effects.ops import FILE_READ
from twice.recorder.environment.fingerprint import measure_in
from twice.recorder.environment.float_profile import apply_profile
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.program import PathNames
from twice.recorder.runrecord import RunRecord
from twice.recorder.user_code import digest_sources
from twice.replayer.other_seed import is_moved_by_seed
from twice.replayer.preconditions import source_changes, trusting
from twice.replayer.restore_test import chosen
from twice.replayer.verification import Verification
from twice.replayer.verify import verify
from twice.specification.gate.evidence.context import EvidenceContext, MissingEvidence
from twice.specification.gate.plan import list_varied, pin_threads
from twice.specification.record_traits import digest_vector, find_floats
from twice.specification.tiers import Tier

_BY_NUMPY: Final = NUMERIC_LIBRARIES - {"mkl", "numpy"}
"""Libraries that count by numpy; the record names mkl in every run."""
_KEPT: Final = {
    "float.denormals_are_zero": "4e62728f5c11b002",
    "float.flush_to_zero": "a152b464d2246820",
}
"""What these probes give where arithmetic keeps subnormal numbers, as IEEE 754 has it."""


@dataclass(frozen=True, slots=True)
class GateTrial:
    """A run that the gate recorded: how its record ended, and what it holds.

    ``columns`` are judged at each of the ``points``; ``floats`` is the first component of which a state holds numbers with
    fractions; ``numpy`` whether it counted by numpy, which twice loads in every run; ``files`` it executed and ``read``,
    of the project.
    """

    ending: Mapping[str, Any]
    environment: Fingerprint
    algorithm: str
    points: int
    columns: tuple[str, ...]
    snapshots: int
    floats: str
    numpy: bool
    files: tuple[str, ...]
    read: tuple[str, ...] = ()

    @property
    def streams(self) -> dict[str, Mapping[str, Any]]:
        """Its streams by name, those of libraries' process-wide generators under ``global/``."""
        return dict(sorted(self.ending.get("streams", {}).items()))

    @property
    def components(self) -> dict[str, str]:
        """For each tracked component the form in which its state is read."""
        return dict(sorted(self.ending.get("components", {}).items()))

    @property
    def asked(self) -> dict[str, int]:
        """What the program asked of the world, by operation, and how often."""
        return dict(sorted(self.ending["effects"]["strict"].items()))

    @property
    def lineages(self) -> Mapping[str, int] | None:
        """How many of each kind of lineage it started; None where the record does not say."""
        return self.ending.get("lineages")

    @property
    def numerics(self) -> Mapping[str, Any]:
        """What was read back of BLAS, of the float unit and of a GPU when it ended."""
        found: Mapping[str, Any] = self.ending.get("numerics", {})
        return found

    @property
    def gpu(self) -> Mapping[str, Any] | None:
        """What it used of a GPU; None where the record does not say."""
        told: Mapping[str, Any] = self.numerics.get("gpu", {})
        return told if told.get("told") else None

    @property
    def keeps_subnormals(self) -> bool:
        """Whether subnormal numbers were kept, when it began and when it ended."""
        ended = self.numerics.get("probes", self.environment.probes)
        return keeps_subnormals(self.environment.probes) and keeps_subnormals(ended)


@dataclass(frozen=True, slots=True)
class KnownRun:
    """The test vector: the recorded run that every run of this code and seed has to reproduce.

    ``digest`` is where its chain of compare-points ends. It was not verified where source files ``changed``.
    """

    digest: str = ""
    program: str = ""
    ticks: int = 0
    predicate: str = ""
    seed: int | None = None
    config: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    verification: Verification | None = None
    unreadable: str = ""


@dataclass(frozen=True, slots=True)
class RestoredSnapshots:
    """The snapshot test on the trial: what became of each that failed, and paths that no snapshot holds.

    ``on_the_way`` of them stand after the first tick.
    """

    tested: int
    failed: tuple[str, ...]
    missing: tuple[str, ...]
    on_the_way: int = 0


def gather_trial(context: EvidenceContext) -> GateTrial:
    """Record the program and say what is in the record."""
    with RunRecord.open(context.trial()) as record:
        ending: Mapping[str, Any] = record.ending or {}
        named = sorted({*record.identity["code"]["files"], *ending.get("files", ())})
        root, placing = record.setup.program.folder(), PathNames(record.setup.program)
        files = _find_inside(context.project, (root / name for name in named))
        events = chain(
            record.strict_reads(), record.lenient_reads(), *record.actor_reads().values()
        )
        read = sorted({str(value[0]) for number, value in events if number == FILE_READ.number})  # type: ignore[index]
        return GateTrial(
            ending=ending,
            environment=Fingerprint.from_json(record.identity["environment"]),
            algorithm=record.setup.algorithm.value,
            points=len(record.reader.points),
            columns=tuple(sorted(record.reader.points.columns())),
            snapshots=len(record.reader.snapshots),
            floats=find_floats(record),
            numpy=uses_numpy(ending, [context.project / each for each in files]),
            files=files,
            read=_find_inside(context.project, (Path(placing.to_local(name)) for name in read)),
        )


def _find_inside(project: Path, paths: Iterable[Path]) -> tuple[str, ...]:
    """Return the paths that lie in the project, from there on."""
    tidy = [Path(os.path.normpath(each)) for each in paths]
    return tuple(e.relative_to(project).as_posix() for e in tidy if e.is_relative_to(project))


def uses_numpy(ending: Mapping[str, Any], sources: Iterable[Path]) -> bool:
    """Whether a run drew from numpy, loaded what counts by it, or loaded source code that imports it."""
    streams = ending.get("streams", {}).values()
    if any(each["kind"] == "numpy" and each["draws"] != 0 for each in streams):
        return True
    imported: set[str] = set()
    for source in sources:
        with suppress(OSError, SyntaxError, ValueError):
            for node in ast.walk(ast.parse(source.read_bytes())):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    imported.add(str(node.module).partition(".")[0])
    return "numpy" in imported or not _BY_NUMPY.isdisjoint(ending.get("imported", ()))


def gather_taken(context: EvidenceContext) -> str:
    """Return why a stream was not given out as the program asked; "" when all were."""
    try:
        context.trial()
    except (StreamTaken, StreamShared, StreamOffThread) as error:
        return context.explain(error)
    return ""


def gather_reseeded(context: EvidenceContext) -> bool | None:
    """Return whether another seed changes what the class judges; None where the sheets say why none does."""
    spec = context.workspace
    if spec.situation().tier < Tier.S or spec.text("02", "seedless"):
        return None
    path = context.trial()
    context.doing("replaying it under another seed")
    with RunRecord.open(path) as record:
        return is_moved_by_seed(record)


def gather_sealed(context: EvidenceContext) -> Verification:
    """Replay the trial without the world."""
    path = context.trial()
    context.doing("replaying it, sealed")
    return verify(path)


def gather_varied(context: EvidenceContext) -> tuple[FactorResult, ...]:
    """Vary what the sheets say that the result does not hang on."""
    factors = tuple(list_varied(context.workspace))
    if not factors:
        return ()
    trial = context.trial()
    context.doing(f"running it with other {', '.join(factors)}")
    return tuple(vary(trial, factors=factors, skip_unable=True).factors)


def gather_restored(context: EvidenceContext) -> RestoredSnapshots:
    """Restore the trial at its snapshots, run on, and compare with its record."""
    path = context.trial()
    context.doing("restoring its snapshots")
    try:
        result = explained_restores(path)
    except TwiceError as error:
        return RestoredSnapshots(0, (context.explain(error),), ())
    failed = [f"{each['component']}: {each['reason']}" for each in result["failed"]]
    failed += result.get("unjudged", ())
    missing = tuple(result["failed"][0].get("missing", ())) if result["failed"] else ()
    with RunRecord.open(path) as record:
        every = record.reader.snapshots
        on_the_way = sum(every[each].tick > 0 for each in chosen(len(every), every=False))
    return RestoredSnapshots(int(result["tested"]), tuple(failed), missing, on_the_way)


def gather_policies(context: EvidenceContext) -> Fingerprint:
    """Measure a fresh process with the surroundings of a run."""
    context.trial()
    context.doing("reading back what holds in a run")
    pinned = for_recording(os.environ, explicit=pin_threads(context.workspace))
    return measure_in(apply_profile(pinned, context.workspace.text("08", "profile")))


def keeps_subnormals(probes: Mapping[str, str]) -> bool:
    """Whether probes say that subnormal numbers are kept, as IEEE 754 has it."""
    return all(probes.get(name) == kept for name, kept in _KEPT.items())


def gather_vector(context: EvidenceContext) -> KnownRun:
    """Open the vector, compare its code, verify it by the class under which it was recorded."""
    named = context.workspace.text("01", "vector")
    if not named:
        raise MissingEvidence("sheet 01 names no test vector")
    path = context.project / named
    try:
        with RunRecord.open(path) as record:
            changed = list_vector_changes(record, context.project)
            allow = record.recorded_allow
            known = KnownRun(
                digest=digest_vector(record),
                program=str(record.setup.program),
                ticks=record.ticks,
                predicate=record.setup.predicate.sentence(),
                seed=record.seed.value,
                config=tuple(format_settings(record.config)),
                changed=tuple(changed),
            )
        if known.changed:
            return known
        context.doing("replaying the test vector")
        # It belongs to the project, whose code is executed anyway.
        with trusting(path, allow=allow):
            return replace(known, verification=verify(path))
    except TwiceError as error:
        return KnownRun(unreadable=context.explain(error))


def list_vector_changes(record: RunRecord, project: Path) -> list[str]:
    """Return which source files of a record are not what they were, here and where it was recorded."""
    changed = [
        f"{each.path} {'is gone' if each.now is None else 'differs'}"
        for each in source_changes(record)
    ]
    return [*dict.fromkeys([*changed, *_changed_here(record, project)])]


def _changed_here(record: RunRecord, project: Path) -> Iterator[str]:
    """Hold a vector that was recorded in another folder, which is still there, against this one's files."""
    if record.setup.program.folder().resolve().is_relative_to(project):
        return
    recorded: dict[str, str] = {
        **record.identity["code"]["files"],
        **(record.ending or {})["files"],
    }
    now = digest_sources([project / name for name in recorded], project)
    for name in sorted(recorded):
        if now.get(name) != recorded[name]:
            yield f"{name} {'differs' if name in now else 'is gone'}"
