"""Programs to trace, and a tracer for them; everything in this folder counts as the user's code."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from pathlib import Path

from twice.diagnosis.tracing.trace import FlowPlan
from twice.diagnosis.tracing.tracer import Tracer

MONITORED = sys.version_info >= (3, 12)
FOLDER = str(Path(__file__).parent)


def trace_of(window, plan=None, positions=lambda: b""):
    tracer = Tracer(
        plan or FlowPlan(),
        is_user_code=lambda file: file.startswith(FOLDER),
        roots=dict,
        positions=positions,
    )
    tracer.start()
    window()
    return tracer.stop()


def are_events_on():
    """Whether the running thread's events are reported."""
    if not MONITORED:
        return sys.gettrace() is not None
    tools = [tool for tool in range(6) if sys.monitoring.get_tool(tool) == "twice"]
    return any(sys.monitoring.get_events(tool) for tool in tools)


def are_line_events_on():
    if not MONITORED:
        return are_events_on()
    tools = [tool for tool in range(6) if sys.monitoring.get_tool(tool) == "twice"]
    return any(sys.monitoring.get_events(tool) & sys.monitoring.events.LINE for tool in tools)


def numbers():
    yield 1
    yield 2


def fails(value):
    text = str(value)
    raise ValueError(text)


def in_thread(work, name):
    thread = threading.Thread(target=work, name=name)
    _ = thread.start(), thread.join()  # no event of this thread comes between those of the other


def nested_calls():
    def inner(depth):
        return inner(depth - 1) + 1 if depth else 0

    return [inner(depth) for depth in range(4)], sorted([3, 1, 2], key=lambda item: -item)


def generators():
    def delegates():
        yield from numbers()
        yield 5

    def survives():
        while True:
            try:
                yield 1
            except KeyError:
                pass

    list(delegates())
    first = survives()
    next(first)
    first.throw(KeyError(1))
    first.close()
    second = delegates()
    next(second)
    with contextlib.suppress(KeyError):
        second.throw(KeyError(2))
    shared = numbers()
    next(shared)
    return [next(shared), *map(float, shared)]


def exceptions():
    def reraises():
        try:
            fails(1)
        finally:
            list(numbers())

    def swallows():
        try:
            fails(2)
        except ValueError:
            return

    with contextlib.suppress(ValueError):
        reraises()
    swallows()
    with contextlib.suppress(ValueError):
        sorted([1, 2], key=fails)


def coroutines():
    async def waits(count):
        for _ in range(count):
            await asyncio.sleep(0)

    async def gathers():
        await asyncio.gather(waits(1), waits(2))

    asyncio.run(gathers())


def threads():
    for name in ("w", "w", "v"):
        in_thread(nested_calls, name)
        list(numbers())


def long_loops():
    total = 0.0
    for number in range(9000):
        total += number / 3
    in_thread(lambda: [fib(number) for number in range(9)], "w")
    for number in range(5000):
        total -= number
    return total


def fib(number):
    return number if number < 2 else fib(number - 1) + fib(number - 2)


SHORT = (nested_calls, generators, exceptions, coroutines, threads)
