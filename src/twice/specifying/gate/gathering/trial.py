"""The trial: the program of sheet 00, recorded; its streams; and its replay, sealed.

Invariant: what is told of a run is read from its record.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final

from twice.errors import StreamOffThread, StreamShared, StreamTaken, TwiceError
from twice.foundation.environment import NUMERIC_LIBRARIES, Fingerprint
from twice.recording.effects.ops import FILE_READ
from twice.recording.placing import Placing
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.inventory import in_words, unsupported_rows
from twice.replayer.other_seed import is_moved_by_seed
from twice.replayer.verdict import SEAL
from twice.replayer.verify import verify
from twice.specifying.gate.evidence import Reseeded, Sealed, Stream, Taken, Trial
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench, because
from twice.specifying.gate.gathering.policies import keeps_subnormals
from twice.specifying.gate.machine import Gpu
from twice.specifying.shown import holds_floats

_OF_EFFECTS: Final = frozenset({"effect", SEAL})
_BY_NUMPY: Final = NUMERIC_LIBRARIES - {"mkl", "numpy"}
"""Libraries that count by numpy; the record names mkl in every run."""


def gather_trial(bench: Bench) -> Trial | Unavailable:
    """Record the program and say what is in the record."""
    try:
        path = bench.trial()
    except TwiceError as error:
        return Unavailable(because(error))
    with RunRecord.open(path) as record:
        ending: Mapping[str, Any] = record.ending or {}
        effects = ending["effects"]
        numerics: Mapping[str, Any] = ending.get("numerics", {})
        environment = Fingerprint.from_json(record.identity["environment"])
        files = tuple(_files(record, bench.project))
        return Trial(
            ticks=record.ticks,
            points=len(record.reader.points),
            columns=tuple(sorted(record.reader.points.columns())),
            components=dict(sorted(ending.get("components", {}).items())),
            inputs=tuple(sorted({each.name for each in record.inputs()})),
            streams={
                name: Stream(
                    str(each["kind"]),
                    -1 if each["draws"] is None else int(each["draws"]),
                    each["seed"] is None,
                )
                for name, each in sorted(ending.get("streams", {}).items())
            },
            globals_used=tuple(sorted(ending.get("globals_used", ()))),
            lineages=ending.get("lineages"),
            gpu=_gpu(numerics),
            threads=dict(sorted(numerics.get("threads", {}).items())),
            kernels=dict(sorted(numerics.get("kernels", {}).items())),
            dispatch=tuple(environment.dispatch.get("numpy", "").split()),
            numpy=uses_numpy(ending, [bench.project / each for each in files]),
            kept=keeps_subnormals(environment.probes)
            and keeps_subnormals(numerics.get("probes", environment.probes)),
            asked={name: int(count) for name, count in sorted(effects["strict"].items())},
            asked_by_libraries=tuple(sorted(effects["lenient"])),
            floats=bool(holds_floats(record)),
            snapshots=len(record.reader.snapshots),
            algorithm=record.setup.algorithm.value,
            files=files,
            read=tuple(_read(record, bench.project)),
            tracked_twice=tuple(tuple(each) for each in ending.get("tracked_twice", ())),
        )


def _gpu(numerics: Mapping[str, Any]) -> Gpu | None:
    told = numerics.get("gpu", {})
    if not told.get("told"):
        return None
    return Gpu(
        tuple(told["reached"]), str(told["driver"]), tuple(told["cards"]), dict(told["switches"])
    )


def uses_numpy(ending: Mapping[str, Any], sources: Iterable[Path]) -> bool:
    """Whether a run drew from numpy, loaded what counts by it, or loaded source code that imports it."""
    streams = ending.get("streams", {}).values()
    return (
        any(each["kind"] == "numpy" and each["draws"] != 0 for each in streams)
        or not _BY_NUMPY.isdisjoint(ending.get("imported", ()))
        or any("numpy" in _imported(each) for each in sources)
    )


def gather_taken(bench: Bench) -> Taken | Unavailable:
    """Say whether the program was given the streams that it asked for."""
    try:
        bench.trial()
    except (StreamTaken, StreamShared, StreamOffThread) as error:
        return Taken(because(error))
    except TwiceError as error:
        return Unavailable(because(error))
    return Taken("")


def gather_reseeded(bench: Bench) -> Reseeded | Unavailable:
    """Replay the trial under other seeds, where the sheets say that a seed matters."""
    if not bench.plan.reseeded:
        return Reseeded(None)
    try:
        path = bench.trial()
        bench.doing("replaying it under another seed")
        with RunRecord.open(path) as record:
            return Reseeded(is_moved_by_seed(record))
    except TwiceError as error:
        return Unavailable(because(error))


def gather_sealed(bench: Bench) -> Sealed | Unavailable:
    """Replay the trial without the world."""
    try:
        path = bench.trial()
        bench.doing("replaying it, sealed")
        statement = verify(path)
    except TwiceError as error:
        return Unavailable(because(error))
    failure = statement.failure
    first = ""
    if failure is not None:
        where = f"{failure.name} of tick {failure.tick}"
        first = f"{where}: {', '.join(failure.columns)} {failure.recorded} / {failure.replayed}"
    beside = tuple(in_words(row) for row in unsupported_rows(statement.inventory))
    of_effects = failure is None or failure.name in _OF_EFFECTS
    return Sealed(statement.result, first, of_effects, beside)


def _imported(source: Path) -> Iterator[str]:
    """Give the top-level packages that a file imports; none of one that cannot be read."""
    with suppress(OSError, SyntaxError, ValueError):
        for node in ast.walk(ast.parse(source.read_bytes())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield str(node.module).partition(".")[0]


def _read(record: RunRecord, project: Path) -> Iterator[str]:
    """Give the files of the project that a run read and did not execute."""
    placing = Placing(record.setup.program)
    events = chain(record.strict_reads(), record.lenient_reads(), *record.actor_reads().values())
    named = {str(value[0]) for number, value in events if number == FILE_READ.number}  # type: ignore[index]
    for name in sorted(named):
        path = Path(os.path.normpath(placing.found(name)))
        if path.is_relative_to(project):
            yield path.relative_to(project).as_posix()


def _files(record: RunRecord, project: Path) -> Iterator[str]:
    """Give the source files of the project that a run loaded."""
    named = {*record.identity["code"]["files"], *(record.ending or {}).get("files", ())}
    root = record.setup.program.folder()
    for name in sorted(named):
        path = Path(os.path.normpath(root / name))
        if path.is_relative_to(project):
            yield path.relative_to(project).as_posix()
