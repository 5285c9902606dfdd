"""What a child does to itself before the program is loaded."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from programs import recorded
from twice.errors import SurroundingsRefused
from twice.recording.surroundings.handed import (
    CHILD_CPUS,
    CHILD_FOLDER,
    CHILD_GC,
    CHILD_SWITCH,
    CHILD_UMASK,
    take_handed,
)
from twice.replaying.verifying import verify

SEEN = """
    import gc, os, sys
    def main(run):
        for tick in run.ticks(1):
            run.compare("seen", [
                list(gc.get_threshold()), os.getcwd(),
                [name for name in os.environ if name.startswith("TWICE_CHILD")],
            ])
            print(gc.get_threshold()[0], os.path.basename(os.getcwd()))
    """


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    kept = gc.get_threshold(), sys.getswitchinterval(), Path.cwd()
    yield
    assert (gc.get_threshold(), sys.getswitchinterval(), Path.cwd()) == kept


def test_a_record_keeps_what_was_handed_and_is_verified_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    given = {CHILD_GC: "7,3,2", CHILD_FOLDER: str(tmp_path / "elsewhere")}

    with recorded(tmp_path, SEEN, env=given) as record:
        path, kept = record.path, record.identity["surroundings"]
    monkeypatch.setenv(CHILD_GC, "9,9,9")

    assert {row["name"]: row["value"] for row in kept["variables"]}[CHILD_GC] == "7,3,2"
    assert verify(path).exit_code == 0


def test_it_is_taken_out_of_the_environment() -> None:
    environ = {CHILD_GC: "", "OTHER": "1"}
    take_handed(environ)

    assert environ == {"OTHER": "1"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (CHILD_GC, "many"), (CHILD_GC, "1,2,3,4"), (CHILD_SWITCH, "-1"), (CHILD_UMASK, "9"),
        (CHILD_CPUS, "0"), (CHILD_FOLDER, os.path.join(os.sep, "not", "there")),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(name: str, value: str) -> None:
    with pytest.raises(SurroundingsRefused, match=name):
        take_handed({name: value})
