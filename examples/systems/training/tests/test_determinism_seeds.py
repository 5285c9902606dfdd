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
    (7, "lake/action_space", "57212f94784e6bc85bf1dde1e1f95fc0"),
    (7, "lake/observation_space", "2404be6bc154093e155a22fd367c8db2"),
    (7, "lake/reset", "47292a545dd937399f59394fb82e71f6"),
    (7, "learner", "533f3c9654a9acc18c72feeaf727688a"),
)
DRAWS: Final[tuple[tuple[int, str, tuple[str, ...]], ...]] = (
    (
        7,
        "lake/action_space",
        (
            "3be87b688e2c836f",
            "faa4394c847fded9",
            "b9f7f12a15699cc5",
            "ab06633114de892d",
        ),
    ),
    (
        7,
        "lake/observation_space",
        (
            "24655e37bb6067f8",
            "c04984a5ddfc6bd6",
            "20152f6862fdb74b",
            "5626d398995051cd",
        ),
    ),
    (
        7,
        "lake/reset",
        (
            "c42345c8e3786337",
            "631027bff16a653b",
            "462a90d1677ccf7e",
            "8f4d129a03a0e0e3",
        ),
    ),
    (
        7,
        "learner",
        (
            "1cfc499c339d9d8e",
            "e4597c5b2349458e",
            "671b13cf63a94ad1",
            "865168611d73016b",
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
