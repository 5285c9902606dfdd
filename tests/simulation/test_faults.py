"""Faults of a simulation: what a crash leaves, what a network does that breaks, and that each fault comes again by its key."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from simulations import run_traced

from twice.errors import ScheduleRefused
from twice.foundation.seeds import Seed
from twice.schedules import fault, host
from twice.schedules.trial import running_trials
from twice.simulation.faults import (
    KINDS,
    FaultChoice,
    FollowedFaults,
    RandomFaults,
    StruckFault,
    follow,
    make_event_happen,
    parse_kinds,
)
from twice.simulation.loop import SimulatedLoop
from twice.simulation.strategies import RandomPicks
from twice.simulation.trace import Schedule, find_constraints

Main = Callable[[], Coroutine[Any, Any, Any]]


def run_fast(main: Main, faults: FaultChoice | None = None) -> Any:
    with asyncio.Runner(loop_factory=lambda: SimulatedLoop(faults=faults)) as runner:
        return runner.run(main())


def cause(event: str) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimulatedLoop)
    make_event_happen(loop, event)


def test_what_crashes_takes_no_further_step_and_begins_again():
    async def main() -> tuple[list[str], str]:
        told: list[str] = []

        async def serve() -> str:
            told.append("begins")

            async def beat() -> None:
                try:
                    await asyncio.sleep(3)
                    told.append("beat")
                finally:
                    told.append("beat ends")

            asyncio.get_running_loop().call_later(2, told.append, "timer")
            await asyncio.gather(beat(), asyncio.to_thread(lambda: None))
            return f"after {len(told)}"

        task = host("db", serve)
        await asyncio.sleep(1)
        cause("crash db 10")
        await asyncio.sleep(10)
        assert told == ["begins"]
        return told, await task

    told, value = run_fast(main)

    # Only the second life's timer and beat; no ``finally`` of the first one ran.
    assert told == ["begins", "begins", "timer", "beat", "beat ends"]
    assert value == "after 5"


def test_a_crash_breaks_the_connections_of_a_host_and_frees_its_address():
    async def main() -> list[str]:
        told: list[str] = []

        async def serve() -> None:
            async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                while line := await reader.readline():
                    writer.write(line)

            server = await asyncio.start_server(handle, "db", 5432)
            await server.serve_forever()

        task = host("db", serve)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        reader, writer = await asyncio.open_connection("db", 5432)
        writer.write(b"a\n")
        told.append((await reader.readline()).decode())
        cause("crash db 1")
        for _ in range(3):
            try:
                writer.write(b"b\n")
                told.append((await reader.readline()).decode())
                break
            except ConnectionResetError:
                told.append("reset")
            try:
                reader, writer = await asyncio.open_connection("db", 5432)
            except ConnectionRefusedError:
                told.append("refused")
                await asyncio.sleep(2)
                reader, writer = await asyncio.open_connection("db", 5432)
        task.cancel()
        return told

    assert run_fast(main) == ["a\n", "reset", "refused", "b\n"]


def test_a_host_that_ends_is_over_and_its_name_is_free():
    async def main() -> list[int]:
        async def work() -> int:
            await asyncio.sleep(1)
            return 5

        first = host("a", work)
        with pytest.raises(ScheduleRefused, match="A host 'a' was started"):
            host("a", work)
        found = [await first, await host("a", work)]
        cause("crash a 1")
        cancelled = host("b", work)
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        cause("crash b 1")
        cause("crash unknown 1")
        return found

    assert run_fast(main) == [5, 5]


def test_a_host_takes_those_that_it_has_started_with_it():
    async def main() -> tuple[list[str], str]:
        told: list[str] = []

        async def inner() -> str:
            told.append("inner begins")
            await asyncio.sleep(5)
            told.append("inner ends")
            return "inner"

        async def outer() -> str:
            told.append("outer begins")
            return await host("inner", inner)

        task = host("outer", outer)
        await asyncio.sleep(1)
        cause("crash inner 10")
        await asyncio.sleep(1)
        cause("crash outer 1")
        await asyncio.sleep(0.5)
        cause("crash inner 1")  # it is gone with the outer one
        value = await task
        await asyncio.sleep(100)
        return told, value

    begins = ["outer begins", "inner begins"]
    assert run_fast(main) == ([*begins, *begins, "inner ends"], "inner")


def test_an_error_of_a_host_is_that_of_its_task():
    async def main() -> None:
        async def fail() -> None:
            raise LookupError("gone")

        await host("a", fail)

    with pytest.raises(LookupError, match="gone"):
        run_fast(main)


def test_outside_of_a_simulated_loop_a_host_is_a_task_and_nothing_fails():
    async def work() -> str:
        return f"works, {fault('disk-full')}"

    async def main() -> str:
        return await host("a", work)

    assert asyncio.run(main()) == "works, False"
    assert not fault("disk-full")
    assert run_fast(work) == "works, False"


def test_the_network_breaks_and_heals():
    async def main() -> list[tuple[float, str]]:
        loop = asyncio.get_running_loop()
        told: list[tuple[float, str]] = []

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while line := await reader.readline():
                    writer.write(line)
            except ConnectionResetError:
                told.append((loop.time(), "server reset"))

        server = await asyncio.start_server(handle, "db", 1)
        reader, writer = await asyncio.open_connection("db", 1)

        async def ask() -> None:
            writer.write(b"a\n")
            line = (await reader.readline()).decode()
            told.append((loop.time(), line))

        await ask()
        cause("partition db:1 10")
        cause("partition db:1 1")  # it is cut off already
        cause("partition db:2 1")  # nothing listens there
        await ask()
        cause("latency 1")
        await ask()
        cause("drop db:2")
        cause("drop db:1")
        with pytest.raises(ConnectionResetError):
            await reader.readline()
        await asyncio.sleep(0)
        server.close()
        return told

    first, second, third, last = run_fast(main)

    assert (first, second, last[1]) == ((0, "a\n"), (10, "a\n"), "server reset")
    assert 10 < third[0] <= 12


def test_a_connection_runs_in_the_context_of_who_has_it():
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")

    async def main() -> list[str]:
        told = []

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            told.append(name.get())
            writer.close()

        name.set("server")
        server = await asyncio.start_server(handle, "db", 1)
        name.set("client")
        reader, writer = await asyncio.open_connection("db", 1)
        writer.write(b"a\n")
        await reader.read()
        server.close()
        return told

    assert run_fast(main) == ["server"]


async def run_shop() -> list[str]:
    """Serve orders on a host that has a disk, to clients that try again."""
    disk: list[str] = []

    async def serve() -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while line := await reader.readline():
                if not fault("disk-full"):
                    disk.append(line.decode().strip())
                    writer.write(line)
                await asyncio.sleep(0.01)

        await asyncio.start_server(handle, "shop", 80)
        await asyncio.sleep(10_000)

    async def order(name: str) -> None:
        for _ in range(5):
            try:
                reader, writer = await asyncio.open_connection("shop", 80)
                writer.write(f"{name}\n".encode())
                async with asyncio.timeout(5):
                    if await reader.readline():
                        return
            except (OSError, TimeoutError):
                pass
            await asyncio.sleep(1)

    shop = host("shop", serve)
    await asyncio.gather(*(order(name) for name in "abc"))
    shop.cancel()
    return disk


@pytest.fixture
def _settled() -> Iterator[None]:
    """Collect no garbage and keep sets in order meanwhile, as a search does."""
    with running_trials():
        yield


def list_program_steps(schedule: Schedule) -> list[tuple[str, int, int]]:
    """List steps until the program has ended: what its runner cancels then ends in any order."""
    steps = [(each.key, each.arrival, each.time_ns) for each in schedule.steps]
    end = next(n for n, (key, *_) in enumerate(steps) if "_run_until_complete_cb" in key)
    return steps[:end]


@pytest.mark.usefixtures("_settled")
@pytest.mark.parametrize("number", range(1, 200))
@pytest.mark.sample(20)
def test_faults_by_chance_come_again_by_their_keys(number: int):
    def choose() -> RandomFaults:
        return RandomFaults(Seed(3), number, 60, KINDS)

    made = Schedule(RandomPicks(Seed(number)), keeps_steps=True, faults=choose())
    value = run_traced(run_shop, made)
    again = Schedule(RandomPicks(Seed(number)), faults=choose())
    assert (run_traced(run_shop, again), again.digest()) == (value, made.digest())

    keys = [each.key for each in made.struck]
    constraints = find_constraints(made.steps)
    followed = Schedule(after=constraints, keeps_steps=True, faults=follow(keys))
    assert run_traced(run_shop, followed) == value
    assert list_program_steps(followed) == list_program_steps(made)
    assert followed.list_unmet() == []
    assert [each.key for each in followed.struck] == keys
    if keys:
        without = Schedule(after=constraints)
        run_traced(run_shop, without)
        assert without.digest() != made.digest()


def test_every_kind_of_fault_is_chosen():
    kinds = set()
    for number in range(80):
        made = Schedule(keeps_steps=True, faults=RandomFaults(Seed(1), number, 60, KINDS))
        run_traced(run_shop, made)
        kinds |= {each.what.partition(" ")[0] for each in made.struck}

    assert kinds == {*KINDS[1:], "disk-full"}


def test_only_the_asked_kinds_are_chosen():
    for kind in KINDS:
        for number in range(30):
            made = Schedule(keeps_steps=True, faults=RandomFaults(Seed(1), number, 60, [kind]))
            run_traced(run_shop, made)
            said = {each.what.partition(" ")[0] for each in made.struck}
            assert said <= {"disk-full" if kind == "points" else kind}


def test_a_fault_that_never_comes_about_is_said():
    schedule = Schedule(faults=FollowedFaults(["disk-full@run_shop/nobody?0"]))
    run_traced(run_shop, schedule)

    assert schedule.list_unmet() == ["the fault disk-full@run_shop/nobody?0"]


def test_kinds_are_read_from_words():
    assert parse_kinds("all") == KINDS
    assert parse_kinds("none") == ()
    assert parse_kinds("crash,points") == ("points", "crash")
    for wrong in ("", "disk", "points,", "all,none", "Crash"):
        with pytest.raises(ScheduleRefused, match="is no kind of fault"):
            parse_kinds(wrong)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("disk-full@main/db/serve:1?2", "the fault 'disk-full' struck in serve()"),
        ("crash db 1@main/db#3", "the host 'db' crashed after a step of db(), for 1 s"),
        ("partition db:1 60@main!put#3", "db:1 was cut off after a step of main(), for 60 s"),
        ("drop /tmp/a b@main#0", "the connections of /tmp/a b broke after a step of main()"),
        ("latency 0.1@#0", "chunks took up to 0.1 s after a step of the program()"),
    ],
)
def test_faults_are_told_in_words(key: str, told: str):
    assert str(StruckFault(key, None)) == told
