"""What a child does to itself before the program is loaded."""

from __future__ import annotations

import ast
import gc
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from programs import recorded
from twice.errors import SurroundingsRefused
from twice.recorder.environment.process_start import (
    CHILD_ADDRESSES,
    CHILD_CLOCK_OFFSET,
    CHILD_CPUS,
    CHILD_FOLDER,
    CHILD_GC,
    CHILD_LISTINGS,
    CHILD_SWITCH,
    CHILD_UMASK,
    apply_child_settings,
)
from twice.replayer.verify import verify

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


@pytest.mark.integration
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
    apply_child_settings(environ)

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
        apply_child_settings({name: value})


OTHERWISE = """
    import datetime, os, time
    from pathlib import Path
    def main(run):
        for tick in run.ticks(2):
            now = time.time()
            told = [
                datetime.datetime.now().timestamp() - now < 60, time.clock_gettime(0) - now < 60,
                os.listdir(Path(__file__).parent / "data"), datetime.datetime.now().year,
            ]
            print(told)
    """


@pytest.mark.integration
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux fixes addresses")
def test_another_clock_and_other_orders_are_handed_and_read_back(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("anchor", "buoy", "chain"):
        (tmp_path / "data" / name).touch()
    given = {
        CHILD_CLOCK_OFFSET: str(1000 * 86_400),
        CHILD_LISTINGS: "backwards",
        CHILD_ADDRESSES: "fixed",
    }

    with recorded(tmp_path, OTHERWISE, env=given) as record:
        settings = record.identity["environment"]["settings"]
        told = ast.literal_eval(record.printed()[0].decode().splitlines()[0])

    assert [settings[name] for name in ("addresses", "clock offset")] == ["fixed", "24000 h"]
    assert told[:2] == [True, True]
    assert told[2] == os.listdir(tmp_path / "data")[::-1]
    assert told[3] >= datetime.now(UTC).year + 2


def test_what_another_version_could_do_is_refused_and_not_left_out() -> None:
    with pytest.raises(SurroundingsRefused, match="TWICE_CHILD_CLOCK_RATE"):
        apply_child_settings({"TWICE_CHILD_CLOCK_RATE": "8"})


def test_a_word_that_no_hook_knows_is_refused() -> None:
    with pytest.raises(SurroundingsRefused, match="expected backwards"):
        apply_child_settings({CHILD_LISTINGS: "sideways"})
