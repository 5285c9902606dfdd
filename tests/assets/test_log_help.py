"""The commands in the help can be typed, and the format's page is complete."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from twice.assets.log.fields import FIELDS
from twice.assets.log.kinds import UNKNOWN_WORDS
from twice.cli.commands import asset
from twice.cli.group import main_group

ROOT = Path(__file__).parents[2]
FORMAT = (ROOT / "docs" / "format" / "determinism-log.md").read_text("utf-8")
OWN = (
    "init", "seal", "show", "verify", "gate", "diff", "package", "export", "record", "rerender",
    "calibrate",
)  # fmt: skip


def _find(action: str) -> click.Command:
    found = asset.command.get_command(main_group().make_context("twice", ["asset"]), action)
    assert found is not None
    return found


def _lines() -> list[str]:
    said = [asset.__doc__ or "", *(re.sub(r"\\\n +", "", _find(each).help or "") for each in OWN)]
    found = [line.strip() for text in said for line in text.splitlines()]
    return [each for each in found if re.match(r"twice asset \w", each)]


@pytest.mark.parametrize("line", _lines())
def test_every_command_that_is_shown_can_be_typed(line: str) -> None:
    _, _, action, *words = shlex.split(line.partition(" > ")[0])

    assert _find(action).make_context(action, words).params


def test_every_command_is_shown() -> None:
    shown = {line.split()[2] for line in _lines()}

    assert set(OWN) <= shown


def test_the_page_of_the_format_names_every_field_of_a_log() -> None:
    named = set(re.findall(r"`([\w-]+)`", FORMAT))
    top = {at[1:] for at in FIELDS if at.count("/") == 1}
    fields = {at.rpartition("/")[2] for at in FIELDS if at.count("/") == 2} - {"*"}
    plain = set(re.findall(r"\w+", FORMAT))

    assert top <= named
    assert fields - plain - {"width_px", "height_px", "mode", "duration_s"} == set()
    assert {each for each in UNKNOWN_WORDS if f"`{each}`" not in FORMAT} == set()
