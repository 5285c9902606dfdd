"""Values of a log as people type them: after ``--set``, or asked for on the terminal.

Invariant: what is typed becomes a part of a log; whether a log takes it is not asked here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import click

from twice.assets.making.drafting import Saying
from twice.assets.model.promise import Grade
from twice.assets.model.reading import Problem
from twice.assets.store.sealing import joined
from twice.cli.options import several, split_pairs
from twice.foundation.printable import printable

settings_option: Final = several(
    "--set", "settings", metavar="PATH=VALUE",
    help="one more value of the log, such as art.steps=20; JSON where it is, else text",
)  # fmt: skip
who_option: Final = click.option(
    "--declared-by", "who", default="", metavar="WHO",
    help="who says what no other evidence speaks of",
)  # fmt: skip
_EXPECTED: Final = {
    "/promise": "bytes, payload or tolerance; else why it cannot be promised",
    "/producer": "a role such as illustrator",
    "/promise/constraints": "what keeps it consistent all the same",
}
"""What is asked for where a block would be expected."""


def add_settings(document: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Put the values of ``--set`` over a part of a log.

    Raises:
        UsageError: E-USE-001: one is no setting.
    """
    for path, text in split_pairs(settings, "--set", "art.steps=20").items():
        document = joined(document, parse_value(path, text))
    return dict(document)


def parse_value(path: str, text: str) -> dict[str, Any]:
    """Read a value as a part of a log; JSON where it is, else text.

    Args:
        path: of the value, with dots between names.
        text: as it was typed.
    """
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    for step in reversed(path.split(".")):
        value = {step: value}
    return dict(value)


def parse_answer(path: str, answer: str) -> dict[str, Any]:
    """Read what was typed on the terminal for a value, as a part of a log.

    Args:
        path: of the value, with dots.
        answer: a value, or ``na: REASON``; of a promise its grade or why there is none.
    """
    if answer.startswith("na:"):
        answer = json.dumps({"not_applicable": answer.removeprefix("na:").strip()})
    elif path == "promise" and not answer.startswith("{"):
        if answer in {str(each) for each in Grade}:
            return {"promise": {"mode": "deterministic", "grade": answer}}
        return {"promise": {"mode": "non-deterministic", "why": answer, "why_code": "other"}}
    elif path == "producer" and not answer.startswith("{"):
        path = "producer.role"
    elif path == "promise.constraints" and not answer.startswith("["):
        answer = json.dumps([answer])
    return parse_value(path, answer)


def ask_missing(said: Saying) -> Callable[[list[Problem]], Saying | None]:
    """Give what asks for each missing value once, on a terminal; in a pipe there is nobody to ask."""

    def ask(missing: list[Problem]) -> Saying | None:
        nonlocal said
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        sys.stderr.write("\nAn empty line leaves a value open; na: REASON says that it has none.\n")
        for each in missing:
            expected = _EXPECTED.get(each.pointer, each.expected)
            sys.stderr.write(printable(f"{each.pointer} ({each.words}; {expected}): "))
            sys.stderr.flush()
            answer = sys.stdin.readline().strip()
            if answer and each.pointer == "/evidence//who":
                said = replace(said, who=answer)
            elif answer:
                path = each.pointer[1:].replace("/", ".")
                said = replace(said, declared=joined(said.declared, parse_answer(path, answer)))
        return said

    return ask
