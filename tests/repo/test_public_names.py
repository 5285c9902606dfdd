"""The names that scripts import are a promise: this list is frozen, and only grows.

A name in the list that goes away breaks somebody's script; a name in ``__all__`` that is not in the
list was promised by accident. Adding one means adding a line to ``public_names.txt``.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import twice

PROMISED = Path(__file__).with_name("public_names.txt").read_text(encoding="utf-8").split()
FRONT_DOOR = [name.removeprefix("twice.") for name in PROMISED if name.count(".") == 1]


@pytest.mark.parametrize("name", PROMISED)
def test_a_promised_name_is_there(name: str) -> None:
    module, _, member = name.rpartition(".")

    assert hasattr(importlib.import_module(module), member)


@pytest.mark.parametrize("name", PROMISED)
def test_a_promised_name_says_what_it_is_for(name: str) -> None:
    module, _, member = name.rpartition(".")
    promised = getattr(importlib.import_module(module), member)

    assert (inspect.getdoc(promised) or "").strip()


def test_the_front_door_promises_exactly_what_is_written_down() -> None:
    assert sorted(twice.__all__) == FRONT_DOOR


def test_the_list_is_in_order_without_repeats() -> None:
    assert sorted(dict.fromkeys(PROMISED)) == PROMISED


def test_the_version_is_that_of_the_project() -> None:
    project = Path(__file__).parents[2] / "pyproject.toml"
    written = re.search(r'^version = "(.+)"$', project.read_text(encoding="utf-8"), re.MULTILINE)

    assert written is not None
    assert twice.__version__ == written[1]
