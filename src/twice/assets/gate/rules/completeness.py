"""The rule on what a log has to say, by what is promised.

Invariant: each field that is missing or wrong has exactly one row, and its check names the field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.gate.facts import Facts
from twice.assets.gate.row import Row
from twice.assets.log.io import Problem
from twice.assets.log.kinds import Fault

CHECKS: Final = {
    "complete": "Every field that the promise needs is there, known and possible; "
    "a row complete:/pointer for each that is not.",
}


def judge(facts: Facts) -> Iterator[Row]:
    """Judge one log."""
    problems = facts.examined.problems
    for each in problems:
        yield facts.red(f"complete:{each.pointer}", _evidence(each), _fix(each))
    if not problems:
        mode = facts.log.promise.mode if facts.log.promise is not None else None
        yield facts.green("complete", f"every field that a {mode} log needs")


def _evidence(problem: Problem) -> str:
    match problem.fault:
        case Fault.MISSING:
            return f"{problem.pointer} ({problem.words}) is missing"
        case Fault.UNKNOWN:
            return f"{problem.pointer} ({problem.words}) is {problem.found}, which says nothing"
        case Fault.UNEXPECTED:
            return f"{problem.pointer} is {problem.words}"
        case _:
            return f"{problem.pointer or 'the document'} ({problem.words}) is {problem.found}"


def _fix(problem: Problem) -> str:
    if problem.fault is Fault.UNEXPECTED:
        return f"take {problem.pointer} out"
    return f"set {problem.pointer or 'the document'} to {problem.expected}"
