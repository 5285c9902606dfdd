"""A search finds the order that fails, shrinks it to what is needed, and says no more than it saw."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from explored_programs import look, make_needle, transfer

from twice.schedules import always, eventually, sometimes
from twice.schedules.search import Findings


def sentences(findings: Findings) -> list[str]:
    return [str(each) for found in findings.found for each in found.orderings]


@pytest.mark.parametrize("strategy", ["random", "pct", "portfolio", "delay-bounded"])
def test_the_one_order_that_matters_is_named_by_its_lines(strategy: str):
    findings = look(transfer, strategy)

    (found,) = findings.found
    assert found.failure.type == "AssertionError"
    # The audit begins first, or goes on first.
    assert dict(found.order.after) in (
        {"transfer/move#1": "transfer/audit#1"},
        {"transfer/move#0": "transfer/audit#0"},
    )
    (sentence,) = sentences(findings)
    assert sentence.startswith("audit() explored_programs.py:")
    assert " ran before move() explored_programs.py:" in sentence
    assert found.is_minimal


@pytest.mark.parametrize(("noise", "depth"), [(3, 1), (10, 2), (20, 3)])
def test_what_is_left_of_a_long_schedule_is_what_it_needs(noise: int, depth: int):
    (found,) = look(make_needle(noise, depth)).found

    assert found.is_minimal
    assert depth <= len(found.order.after) <= depth + 1


def test_fifo_order_itself_may_fail():
    async def main() -> None:
        await asyncio.sleep(0)
        raise LookupError("always")

    (found,) = look(main).found

    assert (found.number, dict(found.order.after)) == (0, {})
    assert found.failure.message == "always"


def test_a_bounded_search_ends_and_says_so_and_a_truncated_one_does_not():
    async def main() -> int:
        return len(await asyncio.gather(*(asyncio.sleep(0, n) for n in range(3))))

    whole, part = look(main, "delay-bounded", 5000), look(main, "delay-bounded", 3)

    assert (whole.is_exhausted, whole.found, len(whole.outcomes)) == (True, [], 1)
    assert (part.is_exhausted, part.schedules) == (False, 3)
    assert not look(main, "random", 3).is_exhausted
    assert look(main, "fifo", 3).schedules == 1


def test_values_that_differ_are_counted_though_nothing_fails():
    async def main() -> int:
        value = 0

        async def add() -> None:
            nonlocal value
            seen = value
            await asyncio.sleep(0)
            value = seen + 1

        await asyncio.gather(add(), add(), add())
        return value

    findings = look(main, "random", 60)

    assert findings.found == []
    assert set(findings.outcomes) == {"1", "2", "3"}


def test_several_kinds_of_failures_are_found_when_it_goes_on():
    async def main() -> None:
        first: list[str] = []

        async def note(name: str) -> None:
            await asyncio.sleep(0)
            first.append(name)

        await asyncio.gather(*(note(name) for name in "abc"))
        if first[0] == "b":
            raise LookupError
        if first[0] == "c":
            raise KeyError

    assert {each.failure.type for each in look(main, schedules=100, goes_on=True).found} == {
        "LookupError",
        "KeyError",
    }


def test_steps_of_two_tasks_of_one_function_are_told_apart():
    async def main() -> None:
        order: list[int] = []

        async def put(number: int) -> None:
            await asyncio.sleep(1)
            order.append(number)

        await asyncio.gather(put(1), put(2), put(3))
        assert order.index(1) < order.index(3)

    (sentence,) = sentences(look(main))

    assert sentence.count("put()") == 2
    assert "has scheduled" not in sentence
    assert " of main/put:2 ran before " in sentence
    assert sentence.endswith(" of main/put")


def test_a_deadlock_is_a_failure_with_its_order():
    async def main() -> None:
        left, right = asyncio.Lock(), asyncio.Lock()

        async def take(first: asyncio.Lock, second: asyncio.Lock) -> None:
            async with first:
                await asyncio.sleep(0)
                async with second:
                    await asyncio.sleep(0)

        await take(left, right)
        await asyncio.gather(take(left, right), take(right, left))

    (found,) = look(main).found

    assert found.failure.type == "twice.errors.Deadlock"
    assert "Lock.acquire for main/take" in found.failure.message


def test_an_error_that_nobody_waits_for_is_a_failure():
    async def main() -> None:
        async def fail() -> None:
            raise OSError("unheard")

        task = asyncio.create_task(fail())
        await asyncio.sleep(1)
        del task

    (found,) = look(main).found

    assert (found.failure.type, found.failure.message) == ("OSError", "unheard")


def test_an_error_within_a_group_is_the_error():
    async def main() -> None:
        async def fail() -> None:
            raise OSError("inner")

        async with asyncio.TaskGroup() as group:
            group.create_task(fail())

    (found,) = look(main).found

    assert found.failure.type == "OSError"


def test_what_does_not_fail_again_is_said_to_be_so():
    turns: Iterator[int] = iter(range(1000))

    async def main() -> None:
        await asyncio.sleep(0)
        if next(turns) == 3:
            raise OSError("once")

    findings = look(main, schedules=20, goes_on=True)

    assert findings.found == []
    assert [each.message for each in findings.unshrunk] == ["once"]


def test_a_property_that_must_always_hold_is_checked_after_each_step():
    async def main() -> None:
        value = 0
        always(lambda: value < 2, "below two")

        async def add() -> None:
            nonlocal value
            value += 1
            await asyncio.sleep(0)
            value -= 1

        await asyncio.gather(add(), add())

    (found,) = look(main).found

    assert found.failure.type == "twice.errors.PropertyViolated"
    assert "below two" in found.failure.message


def test_what_must_hold_eventually_may_hold_late():
    async def late() -> None:
        done: list[int] = []
        eventually(lambda: done, "done")
        await asyncio.sleep(1)
        done.append(1)

    async def never() -> None:
        eventually(lambda: False, "done")
        await asyncio.sleep(1)

    assert look(late, schedules=3).found == []
    (found,) = look(never).found
    assert "the program ended, and it never held" in found.failure.message


def test_what_is_never_reached_is_named():
    async def main() -> None:
        order: list[str] = []

        async def note(name: str) -> None:
            order.append(name)
            await asyncio.sleep(0)

        await asyncio.gather(note("a"), note("b"))
        sometimes(order[0] == "b", "b first")
        sometimes(len(order) > 2, "three")

    findings = look(main, schedules=30)

    assert findings.reached == {"b first": True, "three": False}


def test_outside_of_a_simulation_the_words_change_nothing():
    async def main() -> int:
        always(True, "true")
        always(lambda: True, "true")
        eventually(lambda: False, "never")
        sometimes(False, "never")
        return 1

    assert asyncio.run(main()) == 1
    with pytest.raises(AssertionError, match="E-SCHEDULE-005"):
        always(False, "false")
