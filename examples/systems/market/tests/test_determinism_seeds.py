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
    (11, "traders/0", "fd5608d638fa047540a1b053af2a5b3f"),
    (11, "traders/1", "8318ddf7fc59e3004756876160d918cd"),
    (11, "traders/2", "a0ff5990d8d417d46a647408919ef30b"),
    (11, "traders/3", "dc830e389bcccfca28b1d1eee785e743"),
    (11, "traders/4", "d8ee41d57da8e467cf0754c6bd2141f6"),
)
DRAWS: Final[tuple[tuple[int, str, tuple[str, ...]], ...]] = (
    (
        11,
        "traders/0",
        (
            "9c008711b9a8427a",
            "99c3851900217f45",
            "ae2cc5610b9594fa",
            "66dc35660395ffc6",
        ),
    ),
    (
        11,
        "traders/1",
        (
            "3c6a91850d6ef93a",
            "dd7c1119e6f4306e",
            "ce2a449bda7427df",
            "c1eabbe171909b37",
        ),
    ),
    (
        11,
        "traders/2",
        (
            "6547571b9a5453ff",
            "e8ad1185998a0912",
            "469f003de3d65874",
            "69342c8df85ff970",
        ),
    ),
    (
        11,
        "traders/3",
        (
            "b347ea4acf63f1c7",
            "58fd5358d7a6aa5a",
            "1228ae4510ac4882",
            "6de71c53f4df6b55",
        ),
    ),
    (
        11,
        "traders/4",
        (
            "83b1afec7658a5bd",
            "4a5fd93a03599f47",
            "90f2aed60c5ffc1e",
            "96eb02ca55555870",
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
