"""Claims about what runs fail of, and which of them failed of the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.recorder.program import Program
from twice.runs.causes import CauseGroups, FailureCause, find_cause, find_difference

PROGRAM = Program("function", "p.py", "main", "/code")


def raised(kind: str, *frames: tuple[str, int, str], how: str = "exception") -> dict[str, Any]:
    places = [dict(zip(("file", "line", "function"), frame, strict=True)) for frame in frames]
    exception = {"type": kind, "message": "of no account", "frames": places}
    return {"how": how, "exit_code": 1, "exception": exception}


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (raised("builtins.ValueError", ("/code/p.py", 3, "main"), ("/code/sub/q.py", 9, "step")), "ValueError at sub/q.py:9 in step"),
        (raised("app.Odd", ("/lib/other.py", 2, "<module>")), "app.Odd at /lib/other.py:2 in <module>"),
        (raised("builtins.SyntaxError"), "SyntaxError"),
        (raised("twice.errors.TickMisuse", ("/code/p.py", 3, "main"), how="refused"), "refused: twice.errors.TickMisuse at p.py:3 in main"),
        ({"how": "exit", "exit_code": 3}, "exit code 3"),
    ],
)  # fmt: skip
def test_a_failure_is_known_by_its_type_and_the_innermost_line_of_the_user(
    ending: dict[str, Any], said: str
) -> None:
    assert str(find_cause(ending, PROGRAM)) == said


@pytest.mark.parametrize(
    "ending", [{"how": "completed", "exit_code": 0}, {"how": "exit", "exit_code": 0}]
)
def test_what_ended_well_has_no_cause(ending: dict[str, Any]) -> None:
    assert find_cause(ending, PROGRAM) is None


def statement(result: str = "FAIL", at: str = "", **more: Any) -> dict[str, Any]:
    failure = {"name": "tick", "columns": ["walk", "streams"], "at": at}
    return {"result": result, "first_failure": None if result == "PASS" else failure, **more}


OPERATION = {"file": "/code/p.py", "line": 7, "function": "main", "name": "x"}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (statement(divergence={"operation": OPERATION}), "differs first at p.py:7, x"),
        (statement(divergence={"operation": None}), "differs first at tick: walk, streams"),
        (statement(at="p.py:4"), "differs first at p.py:4, tick: walk, streams"),
        (statement("PASS"), "None"),
        (statement("UNKNOWN"), "None"),
    ],
)
def test_a_record_that_fails_is_known_by_its_first_differing_line(
    document: dict[str, Any], said: str
) -> None:
    assert str(find_difference(document, PROGRAM)) == said


CAUSES = [FailureCause("raised", kind, "p.py", line) for kind in "AB" for line in (1, 2)]


@given(
    st.lists(st.sampled_from(CAUSES), max_size=30).flatmap(
        lambda causes: st.tuples(st.just(causes), st.permutations(range(len(causes))))
    )
)
def test_the_groups_are_the_same_whatever_ended_first(
    given_: tuple[list[FailureCause], list[int]],
) -> None:
    causes, order = given_
    groups = CauseGroups()
    for number in order:
        groups.add(causes[number], number, f"{number}.twice", "arm")

    found = [*groups]
    assert {group.cause: group.runs for group in found} == {
        one: causes.count(one) for one in causes
    }
    assert [group.record for group in found] == [
        f"{causes.index(group.cause)}.twice" for group in found
    ]
    assert [group.runs for group in found] == sorted((group.runs for group in found), reverse=True)
