"""The list of twice's own files that carry the program's code names files that exist."""

from __future__ import annotations

from pathlib import Path

from twice.recorder.audit import channels


def test_a_file_that_carries_the_program_is_where_the_list_says() -> None:
    assert [each for each in channels._CARRYING if not Path(each).exists()] == []
