"""Check 10: one recorded run that every run of this code and seed gives again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.errors import ClassRefused, ConfigError
from twice.recording.config import in_settings, parse_settings
from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, place, shortened
from twice.specifying.gate.evidence import Vector
from twice.specifying.gate.facts import Facts, there
from twice.specifying.gate.outcome import Found
from twice.specifying.gate.promise import predicate_of


def _said(facts: Facts) -> Found:
    promise = facts.sheet("01")
    if promise is None:
        return Found(open=("sheet 01 is not there; see check 1",))
    faults = tuple(
        f"{promise.path}:{gap.line}: {gap.key} is {gap.why}: {gap.says}"
        for gap in promise.gaps(facts.situation)
        if gap.key in {"vector", "vector_digest"}
    )
    return Found(faults)


def _shown(facts: Facts) -> Found:
    promise, vector = facts.sheet("01"), there(facts.vector)
    if promise is None:
        return Found()
    where = place(facts, "01", "vector")
    if vector.result == "UNREADABLE":
        return Found((f"{where}: {vector.why}",))
    if vector.changed:
        return Found(
            (
                (
                    f"{where}: the test vector was recorded from other code: {shortened(vector.changed)}; "
                    f"record it anew, and say its digest in 01: twice record PROGRAM -o {promise.said('vector')} --force"
                ),
            )
        )
    faults = [*_same(facts, promise)]
    if vector.result != "PASS":
        at = f" at {vector.first}" if vector.first else ""
        faults.append(
            f"{where}: verifying the test vector gives {vector.result}{at} {vector.why}".rstrip()
        )
    evidence = (
        f"{promise.said('vector')} replays: {vector.result}",
        f"its compare-points end at {vector.digest}",
    )
    return Found(tuple(faults), evidence)


def _same(facts: Facts, promise: Artifact) -> Iterator[str]:
    vector, scope = there(facts.vector), facts.sheet("00")
    if not vector.ticks:
        yield f"{place(facts, '01', 'vector')}: it holds no tick, so it shows nothing"
    if vector.digest != promise.said("vector_digest"):
        where = place(facts, "01", "vector_digest")
        yield f"{where}: the vector ends at {vector.digest}, not at {promise.said('vector_digest')}"
    program = scope.said("program") if scope else ""
    if program and vector.program != program:
        yield f"{place(facts, '01', 'vector')}: it is a run of {vector.program}, and 00 specifies {program}"
    yield from _made(facts, vector)
    try:
        sentence = predicate_of(promise).sentence()
    except (ClassRefused, ValueError):
        return  # Check 2 says what is wrong with it.
    if sentence != vector.predicate:
        where = place(facts, "01", "class")
        yield f"{where}: the vector was recorded under another class: {vector.predicate}"


def _made(facts: Facts, vector: Vector) -> Iterator[str]:
    """Hold the vector's seed and configuration against those of sheet 00."""
    scope = facts.sheet("00")
    if scope is None:
        return
    where, seed = place(facts, "01", "vector"), scope.get("seed")
    if isinstance(seed, int) and vector.seed != seed:
        yield f"{where}: it is a run with seed {vector.seed}, and 00 specifies {seed}"
    try:
        config = tuple(in_settings(parse_settings(scope.listed("config"))))
    except ConfigError as error:
        yield f"{place(facts, '00', 'config')}: {error.happened} {error.expected}"
        return
    if vector.config != config:
        was, said = ", ".join(vector.config) or "nothing", ", ".join(config) or "nothing"
        yield f"{where}: it is a run with {was}, and 00 configures {said}"


CHECK: Final = Check(
    10,
    "Test-vector strategy",
    "Is there a recorded run whose compare-points end at a known digest, and does it come out again?",
    ("01",),
    ("vector",),
    _said,
    _shown,
)
