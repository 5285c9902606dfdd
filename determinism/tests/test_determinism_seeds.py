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

from wiring.seeds import STREAMS
from wiring.specified import RECORD

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
    (5, "checker", "9980772888a9f1d79235da28acd89180"),
    (5, "names", "af19065160b8130131f7f7959f9877d1"),
    (5, "tree", "c3f4eada1c6b0b63751efb19ab0a52da"),
    (5, "values", "a2810eac2f5d336d89d59785bb350ccd"),
)
DRAWS: Final[tuple[tuple[int, str, tuple[str, ...]], ...]] = (
    (
        5,
        "checker",
        (
            "ff0f403dd9450ad4",
            "ed61eed397e72955",
            "71d23a41d875bb5f",
            "9b3ad97a26145ef1",
        ),
    ),
    (
        5,
        "names",
        (
            "d62e945917b21231",
            "f741fd1293455e1a",
            "8c5051243299ae7b",
            "4accb44c50dc5183",
        ),
    ),
    (
        5,
        "tree",
        (
            "1134f0ff9700b47b",
            "e8e31f6fe525bc71",
            "3f4159498d83be12",
            "4e662cb6a2be3401",
        ),
    ),
    (
        5,
        "values",
        (
            "39c1f840637b3f4d",
            "bfdd9d6543acabaf",
            "785dc0bd8d70c578",
            "288108369163421d",
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
