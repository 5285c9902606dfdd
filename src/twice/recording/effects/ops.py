"""The closed list of operations by which a program reads the world, with their numbers.

A number is written into the record for every read, so it is part of the format and never reused.
Operations that take arguments store them beside the result and compare them in replay.

Invariant: numbers here only ever grow; ``BEHAVIOUR`` rises when the order of effects changes.
"""

from __future__ import annotations

from dataclasses import dataclass

BEHAVIOUR = 1


@dataclass(frozen=True, slots=True)
class Op:
    """One way to read the world.

    Attributes:
        number: what the record stores, 1 to 65535.
        name: ``source.operation``, as reports print it.
    """

    number: int
    name: str


TIME = Op(1, "clock.time")
TIME_NS = Op(2, "clock.time_ns")
MONOTONIC = Op(3, "clock.monotonic")
MONOTONIC_NS = Op(4, "clock.monotonic_ns")
PERF_COUNTER = Op(5, "clock.perf_counter")
PERF_COUNTER_NS = Op(6, "clock.perf_counter_ns")
PROCESS_TIME = Op(7, "clock.process_time")
PROCESS_TIME_NS = Op(8, "clock.process_time_ns")
SLEEP = Op(20, "clock.sleep")
URANDOM = Op(40, "entropy.urandom")
CALL = Op(60, "call")

OPS = {
    op.number: op
    for op in (
        TIME,
        TIME_NS,
        MONOTONIC,
        MONOTONIC_NS,
        PERF_COUNTER,
        PERF_COUNTER_NS,
        PROCESS_TIME,
        PROCESS_TIME_NS,
        SLEEP,
        URANDOM,
        CALL,
    )
}

WITH_ARGUMENTS = frozenset(op.number for op in (SLEEP, URANDOM, CALL))
