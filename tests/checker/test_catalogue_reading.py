"""Catalogues that come with twice are read quickly, and as what they are."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from twice.checker import catalogue

_SHIPPED = sorted(Path(catalogue.__file__).parent.glob("*.toml"))


@pytest.mark.parametrize("path", _SHIPPED, ids=lambda path: path.stem)
def test_the_quick_way_reads_what_toml_says(path: Path) -> None:
    text = path.read_text("utf-8")
    assert catalogue._plain(text) == tomllib.loads(text)


def test_what_is_no_plain_table_is_left_to_the_parser_of_toml() -> None:
    text = 'format = "twice.catalogue/1"\n[clock.names]\n"a.b" = "say \\"now\\""\n'
    assert catalogue._plain(text) == tomllib.loads(text)
    assert catalogue._plain("[a]\nb = 1\n") == {"a": {"b": 1}}


def test_several_groups_are_asked_at_once() -> None:
    shipped = catalogue.shipped()
    both = shipped.together("clock", "entropy")
    assert both == {*shipped.names("clock"), *shipped.names("entropy")}
    assert shipped.together("clock", "entropy") is both
