"""A changed byte in a session's record is refused with its place and what to do, and never passes.

``TWICE_FLIPS=3000`` changes so many bytes, one at a time.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from programs import cli, recorded
from twice.errors import TwiceError
from twice.recorder.cadence import Cadence
from twice.recorder.runrecord import RunRecord

pytestmark = pytest.mark.integration

EVERYTHING = """
    import os, sys, time

    def main(run):
        walk = run.track("walk", Walk(run.rng("walk")))
        board = run.track("board", {"cells": bytearray(9000)})
        for tick in run.ticks(60):
            push = run.input("push", lambda: float(walk.rng.normal()))
            walk.step(push)
            board["cells"][tick * 100] = tick
            time.time(), os.urandom(3)
            print("tick", tick)
            print("aside", tick, file=sys.stderr)
            run.compare("x", walk.x)
"""
FLIPS, CHUNKS = int(os.environ.get("TWICE_FLIPS", "1000")), 4


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound")
    with recorded(folder, EVERYTHING, walk=True, cadence=Cadence("tick", 10)) as record:
        kinds = {frame.kind for frame in record.reader.frames()}
        assert {"effects", "input", "output", "errors"} <= kinds
        assert len(record.reader.snapshots) == 6
        record.reader.check()
        return record.path


def flips(size: int) -> list[tuple[int, int]]:
    draw = random.Random(11)
    return [(draw.randrange(size), 1 << draw.randrange(8)) for _ in range(FLIPS)]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_flipped_byte_is_refused_with_place_and_remedy(
    sound: Path, tmp_path: Path, chunk: int
) -> None:
    data, path = sound.read_bytes(), tmp_path / "a.twice"
    passed, unclear = [], []
    for at, bit in flips(len(data))[chunk::CHUNKS]:
        changed = bytearray(data)
        changed[at] ^= bit
        path.write_bytes(changed)
        try:
            with RunRecord.open(path) as record:
                record.reader.check()
        except TwiceError as error:
            if not (error.id.startswith("E-RECORD") and error.remedy and str(path) in str(error)):
                unclear.append((at, bit, str(error)))
        else:
            passed.append((at, bit))
    assert passed == []
    assert unclear == []


@pytest.mark.parametrize("number", range(5))
def test_verifying_a_flipped_record_is_one_clear_error(
    sound: Path, tmp_path: Path, number: int
) -> None:
    data, path = sound.read_bytes(), tmp_path / "a.twice"
    places = [at for at, _ in flips(len(data))[:4]] + [0, 9, len(data) - 1, len(data) - 90]
    places += [len(data) // 2, len(data) - 400]
    for at in places[number::5]:
        changed = bytearray(data)
        changed[at] ^= 0x20
        path.write_bytes(changed)
        done = cli("verify", path, "--json")
        assert done.returncode == 2, (at, done.stdout)
        assert "Traceback" not in done.stderr
        told = json.loads(done.stdout)
        is_refused = "error" in told and told["error"]["id"].startswith("E-RECORD-")
        assert is_refused or told["result"] == "PARTIAL", (at, done.stdout)
