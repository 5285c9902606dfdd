# Laid down by twice scaffold from sheets 02 and 03; owned by it: change the sheet, or eject the file.
"""Streams: known seeds and first draws, and no stream but those of 02 and 03."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import twice

from determinism.seeds import STREAMS
from determinism.specified import RECORD

ROOT = Path(__file__).parents[1]


def _twice(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "twice", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture(name="record", scope="module")
def _record(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[twice.RunRecord]:
    out = tmp_path_factory.getbasetemp() / "run-of-the-specification.twice"
    if not out.exists():
        new = tmp_path_factory.mktemp("run") / "run.twice"
        done = _twice(*RECORD, "--quiet", "-o", str(new))
        assert done.returncode == 0, done.stderr
        new.replace(out)
    with twice.open(out) as opened:
        yield opened


SEEDS: Final[tuple[tuple[int, str, str], ...]] = (
    (3, "banks/0", "e898658d3b0fb8108b35a7a67c66fdbb"),
    (3, "banks/1", "fbedc811d35b0bf569ed635dcd9cd2fc"),
    (3, "banks/2", "77e7b59c3e906f1af78e96132f59e261"),
    (3, "banks/3", "7cae5b2d08d8feebf70e5404dcd4bbbb"),
)
DRAWS: Final[tuple[tuple[int, str, tuple[str, ...]], ...]] = (
    (
        3,
        "banks/0",
        (
            "420023412438090d",
            "3fe5ae808bef1845",
            "532f07d60d06d91f",
            "5969ed52628e8ff0",
        ),
    ),
    (
        3,
        "banks/1",
        (
            "03768b289f162e65",
            "63adf1773c4f1b67",
            "894f733bb3c2eab6",
            "560719af18358c55",
        ),
    ),
    (
        3,
        "banks/2",
        (
            "27825e37f8dbaa6a",
            "91a40cc598085076",
            "aaf84200c29710ac",
            "985133486604064a",
        ),
    ),
    (
        3,
        "banks/3",
        (
            "bff5bbe85e48b60e",
            "eb06a41830a63e3d",
            "93cb58a730573650",
            "11c99a29b4ecbba2",
        ),
    ),
)


def _ending(record: twice.RunRecord) -> dict[str, dict[str, object]]:
    assert record.ending is not None, "the run did not end"
    streams: dict[str, dict[str, object]] = record.ending["streams"]
    return streams


@pytest.mark.parametrize(("master", "name", "seed"), SEEDS)
def test_a_sub_seed_is_the_known_one(
    master: int, name: str, seed: str, tmp_path: Path
) -> None:
    with twice.recording(tmp_path / "a.twice", seed=master) as run:
        if not name.startswith("global/"):
            run.rng(name)
    with twice.open(tmp_path / "a.twice") as record:
        assert int(str(_ending(record)[name]["seed"]), 16) == int(seed, 16)


@pytest.mark.parametrize(("master", "name", "draws"), DRAWS)
def test_first_draws_are_the_known_ones(
    master: int, name: str, draws: tuple[str, ...], tmp_path: Path
) -> None:
    with twice.recording(tmp_path / "a.twice", seed=master) as run:
        if STREAMS[name] == "python":
            stream = run.python(name)
            found = [stream.getrandbits(64) for _ in draws]
        else:
            generator = run.rng(name)
            found = [int(generator.bit_generator.random_raw()) for _ in draws]
    assert found == [int(each, 16) for each in draws]


def test_a_run_takes_no_stream_but_those_of_the_specification(
    record: twice.RunRecord,
) -> None:
    for name, each in _ending(record).items():
        if each["draws"] or not name.startswith("global/"):
            kind = str(each["kind"]).partition("-")[0]
            assert STREAMS.get(name) in (kind, "other"), f"{name} ({kind})"
