"""The page of ten verdicts shows what ``twice diagnose`` prints now, and is what its script writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from cases import PRECONDITIONS
from programs import cli
from ten_verdicts import (
    EXAMPLES,
    EXIT_CODES,
    PAGE,
    UNSET,
    Example,
    find_verdict,
    mask,
    page_of,
    settle,
    verdicts_on,
)
from tiers import sampled

SAMPLE = {"set order", "left out of state"}
"""A line and a branch; neither by chance."""
SHOWN = verdicts_on(PAGE.read_text("utf-8"))


def type_here(command: Sequence[str], folder: Path) -> str:
    """Run a command as the tests run them."""
    done = cli(*command, cwd=folder, env=dict.fromkeys(UNSET))
    assert command[0] == "diagnose" or not done.returncode, done.stderr
    if command[0] == "diagnose":
        assert done.returncode == EXIT_CODES[done.stdout.partition(":")[0]], done.stderr
    return done.stdout


@pytest.mark.integration
@pytest.mark.parametrize("example", sampled(EXAMPLES, SAMPLE, name=lambda each: each.name))
def test_the_page_shows_what_is_printed_now(example: Example, tmp_path: Path) -> None:
    lacks = [need for need in example.needs if not PRECONDITIONS[need]()]
    if lacks:
        pytest.skip(f"{example.name} needs {lacks}, which this machine does not have")

    now = find_verdict(example, tmp_path, type_here)

    assert mask(example, now) == mask(example, SHOWN[example.name])
    assert settle(example, now, SHOWN[example.name]) == SHOWN[example.name]


def test_the_page_is_what_its_script_writes() -> None:
    assert page_of(SHOWN) == PAGE.read_text("utf-8"), "run python tests/zoo/ten_verdicts.py"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_a_verdict_fits_a_screen_and_names_no_machine(example: Example) -> None:
    lines = SHOWN[example.name].splitlines()

    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if re.search(r"0x[0-9a-f]{6}|(?<![\w.])/\w+/", line)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_the_pieces_of_a_program_are_short(example: Example) -> None:
    count = sum(last - first + 1 for first, last in example.shown)
    assert 4 <= count <= 17
    assert max(last for _, last in example.shown) <= len(example.text.splitlines())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_values_of_chance_alone_are_kept_from_the_page(example: Example) -> None:
    shown = SHOWN[example.name]
    other_line = re.sub(r"(\.py):(\d+)", r"\1:9\2", shown)
    other_result = re.sub(r"^\S+:", "same:", shown)

    assert settle(example, shown, None) == shown
    assert settle(example, other_result, shown) == other_result
    if ".py:" in shown:
        assert settle(example, other_line, shown) == other_line
    other_value = re.sub(r"^(  field: .* /) .*$", r"\1 7", shown, flags=re.MULTILINE)
    assert settle(example, other_value, shown) == (shown if example.by_chance else other_value)
