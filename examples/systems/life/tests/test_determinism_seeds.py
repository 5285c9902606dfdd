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
    (5, "field", "3b217af369c44224f9c7796dd4922566"),
)
DRAWS: Final[tuple[tuple[int, str, tuple[str, ...]], ...]] = (
    (
        5,
        "field",
        (
            "aefd5a96332ea705",
            "20ce80955f265132",
            "b7cef06097cecbe0",
            "be33f3779ffd53f4",
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
