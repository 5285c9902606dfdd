"""The tour of the architecture names rooms, files and functions that exist."""

from __future__ import annotations

import re

import pytest
from test_layers import BELOW, ROOT

PAGE = ROOT.parents[1] / "docs" / "internals" / "architecture.md"
ROOMS = {
    heading.partition(":")[0]: text
    for heading, _, text in (
        each.partition("\n") for each in PAGE.read_text("utf-8").split("\n## ")[1:]
    )
}


def test_each_room_has_a_section() -> None:
    assert sorted(ROOMS) == sorted({*BELOW} - {"errors", "writing"})


@pytest.mark.parametrize("room", ROOMS)
def test_the_named_files_exist(room: str) -> None:
    named = re.findall(r"`([\w/]+(?:\.py|/))`", ROOMS[room])

    assert [
        each for each in named if not any((top / each).exists() for top in (ROOT / room, ROOT))
    ] == []


@pytest.mark.parametrize("room", ROOMS)
def test_each_folder_is_named(room: str) -> None:
    folders = {
        f"`{each.name}/`"
        for each in (ROOT / room).iterdir()
        if each.is_dir() and any(each.rglob("*.py"))
    }

    assert sorted(each for each in folders if each not in ROOMS[room]) == []


@pytest.mark.parametrize("room", ROOMS)
def test_the_functions_of_each_path_exist(room: str) -> None:
    code = "\n".join(each.read_text("utf-8") for each in sorted((ROOT / room).rglob("*.py")))
    named = [
        name
        for path in re.findall(r"`([\w →]+→[\w →]+)`", ROOMS[room])
        for name in path.split(" → ")
    ]

    assert [each for each in named if not re.search(rf"(?m)^(?:def|class) {each}\b", code)] == []
