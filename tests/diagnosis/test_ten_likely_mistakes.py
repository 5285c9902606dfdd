"""The ten mistakes that building such a thing invites, each with the check that exposes it.

The zoo under ``tests/zoo`` holds diagnosis to more than the first four; here each is one program.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import twice
from programs import chains, cli, names, recorded, verified
from twice.recorder.cadence import Cadence
from twice.recorder.runrecord import RunRecord
from twice.recorder.streams import numpy_streams
from twice.recorder.streams.numpy_streams import GovernedBits
from twice.replayer.verify import verify


def pair(folder: Path, source: str, a: dict[str, str], b: dict[str, str]) -> tuple[Path, Path]:
    """One program, recorded in two surroundings."""
    paths = []
    for name, env in (("a", a), ("b", b)):
        with recorded(folder, source, out=folder / f"{name}.twice", env=env) as record:
            paths.append(record.path)
    return paths[0], paths[1]


def differ(a: Path, b: Path) -> bool:
    with RunRecord.open(a) as one, RunRecord.open(b) as other:
        return chains(one) != chains(other)


def diagnosed(a: Path, b: Path) -> dict[str, Any]:
    from twice.diagnosis.diagnose import diagnose

    return diagnose(a, b).to_json()


def line_of(folder: Path, mark: str) -> int:
    """Return the number of the program's line that ends in a marking comment."""
    lines = (folder / "program.py").read_text().splitlines()
    ((number, _),) = [(at, text) for at, text in enumerate(lines, 1) if text.endswith(f"# {mark}")]
    return number


SEEDS = {"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"}


@pytest.mark.heavy
def test_1_a_summation_order_case_differs_on_every_python(tmp_path: Path) -> None:
    """``sum()`` is compensated since 3.12: a case made with it would show nothing there."""
    a, b = pair(
        tmp_path,
        """
        def main(run):
            total = run.track("total", {"sum": 0.0})
            for tick in run.ticks(3):
                added = 0.0
                for name in {f"part {at}" for at in range(200)}:
                    added += 1.0 / (1 + int(name.split()[1])) ** 1.5  # guilty
                total["sum"] += added
        """,
        *SEEDS,
    )
    assert differ(a, b)
    found = diagnosed(a, b)
    assert found["result"] == "localised"
    assert found["components"] == ["total"]


@pytest.mark.heavy
def test_2_a_harmless_difference_that_stays_alive_does_not_hide_the_guilty_line(
    tmp_path: Path,
) -> None:
    source = """
        import os

        def main(run):
            board = run.track("board", {"level": 1.0, "names": 0})
            names = list({f"name {at}" for at in range(40)})  # innocent
            for tick in run.ticks(4):
                board["names"] = len(names)
                board["level"] = board["level"] * float(os.environ["SCALE"])  # guilty
    """
    a, b = pair(tmp_path, source, {**SEEDS[0], "SCALE": "1.5"}, {**SEEDS[1], "SCALE": "1.75"})
    assert differ(a, b)
    found = diagnosed(a, b)
    assert found["operation"] is not None, found
    assert found["operation"]["line"] == line_of(tmp_path, "guilty")
    canary = tmp_path / "canary"
    canary.mkdir()
    a, b = pair(
        canary,
        source,
        {**SEEDS[0], "SCALE": "1.5"},
        {**SEEDS[1], "SCALE": "1.5"},
    )
    assert diagnosed(a, b)["result"] == "same"


@pytest.mark.heavy
def test_3_a_cause_long_before_the_nearest_snapshot_is_not_lost(tmp_path: Path) -> None:
    source = """
        import os

        class Machine:
            def __init__(self):
                self.level, self.armed = 1.0, False

            def state(self):
                return {"level": self.level}

            def restore(self, state):
                self.level = state["level"]

        def main(run):
            machine = run.track("machine", Machine())
            for tick in run.ticks(20):
                if tick == 3:
                    machine.armed = os.environ["ARMED"] == "yes"  # guilty
                if tick == 15 and machine.armed:
                    machine.level += 1.0  # late
    """
    paths = []
    for name, armed in (("a", "yes"), ("b", "no")):
        with recorded(
            tmp_path, source, out=tmp_path / f"{name}.twice",
            env={"ARMED": armed}, cadence=Cadence("tick", 5),
        ) as record:  # fmt: skip
            paths.append(record.path)
    found = diagnosed(*paths)
    assert found["compare_point"]["tick"] == 15
    assert found["result"] == "localised"
    assert found["operation"]["line"] == line_of(tmp_path, "guilty")


@pytest.mark.heavy
def test_4_a_change_on_a_helpers_last_line_is_not_credited_to_its_caller(tmp_path: Path) -> None:
    a, b = pair(
        tmp_path,
        """
        import os

        def stretch(board):
            scale = 2.0
            board["level"] = scale * float(os.environ["SCALE"])  # guilty

        def main(run):
            board = run.track("board", {"level": 1.0})
            for tick in run.ticks(3):
                stretch(board)
                board["tick"] = tick
        """,
        {"SCALE": "1.5"},
        {"SCALE": "1.75"},
    )
    found = diagnosed(a, b)
    assert found["operation"]["function"] == "stretch"
    assert found["operation"]["line"] == line_of(tmp_path, "guilty")


def test_5_positions_are_read_by_the_slow_door_for_snapshots_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def count(owner: object, name: str) -> None:
        real = getattr(owner, name)

        def counted(*arguments: object) -> object:
            calls.append(name)
            return real(*arguments)

        monkeypatch.setattr(owner, name, counted)

    count(random.Random, "getstate")
    count(GovernedBits, "read")  # the two doors to a bit generator's public ``.state``
    count(numpy_streams, "pack_bits")
    with twice.recording(tmp_path / "a.twice", seed=1, cadence=Cadence("tick", 250)) as run:
        streams = [run.python(f"python/{at}") for at in range(5)]
        generators = [run.rng(f"numpy/{at}") for at in range(5)]
        list(run.ticks(1))
        before = len(calls)
        for _ in run.ticks(1000):
            for stream in (*streams, *generators):
                stream.random()
        within = len(calls) - before
    with RunRecord.open(tmp_path / "a.twice") as record:
        snapshots = len(record.reader.snapshots)
        drawn = {point.digests["streams"] for point in record.reader.points.iterate()}
    assert len(drawn) == 1001
    assert snapshots == 5
    assert within <= (snapshots + 1) * (10 + 2)


@pytest.mark.integration
@pytest.mark.heavy
def test_6_no_way_out_of_a_loop_loses_a_point(tmp_path: Path) -> None:
    def leave(how: str, run: twice.Run) -> int:
        entered = 0
        zipped = (tick for _, tick in zip("xyz", run.ticks(9), strict=False))
        for tick in zipped if how == "zip" else run.ticks(9):
            entered += 1
            if how == "break" and tick == 3:
                break
            if how == "raise" and tick == 2:
                raise LookupError
            if how == "return" and tick == 4:
                return entered
        return entered

    for how, entered in [("break", 4), ("raise", 3), ("return", 5), ("zip", 3), ("end", 9)]:
        path = tmp_path / f"{how}.twice"
        try:
            with twice.recording(path, seed=1) as run:
                leave(how, run)
        except LookupError:
            assert how == "raise"
        with RunRecord.open(path) as record:
            assert [tick for tick, name in names(record) if name == "tick"] == [*range(entered)]


@pytest.mark.integration
def test_7_a_policy_that_draws_from_a_stream_verifies(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        def main(run):
            policy, world = run.rng("policy"), run.rng("world")
            seen = run.track("seen", [])
            for tick in run.ticks(20):
                push = run.input("push", lambda: float(policy.normal()))
                seen.append(push + world.normal())
        """,
    )
    assert (statement.result, statement.exit_code) == ("PASS", 0)


@pytest.mark.fresh
@pytest.mark.integration
def test_8_verification_happens_in_the_records_surroundings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded with hash seed 1 and two BLAS threads, verified under hash seed 2 and one."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    for name in threads:
        monkeypatch.setenv(name, "2")
    with recorded(
        tmp_path,
        """
        import os
        import numpy as np

        def main(run):
            grid = run.rng("grid").normal(size=(300, 300))
            seen = run.track("seen", {"product": grid})
            seen["order"] = list({f"name {at}" for at in range(50)})
            seen["threads"] = os.environ["OPENBLAS_NUM_THREADS"]
            for tick in run.ticks(3):
                seen["product"] = np.tanh(seen["product"] @ grid)
        """,
    ) as record:
        path = record.path
    monkeypatch.setenv("PYTHONHASHSEED", "2")
    for name in threads:
        monkeypatch.setenv(name, "1")
    assert verify(path).result == "PASS"
    monkeypatch.delenv("PYTHONHASHSEED")
    for name in threads:
        monkeypatch.delenv(name)
    assert verify(path).result == "PASS"


@pytest.mark.integration
def test_9_a_forked_child_writes_nothing_into_the_record(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import os, sys

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(40):
                child = os.fork()
                if not child:
                    seen.append("child")
                    sys.exit(3)
                seen.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        allow=("process.fork",),
    )
    assert statement.result == "PASS"
    with RunRecord.open(statement.path) as record:
        record.reader.check()
        assert [tick for tick, name in names(record) if name == "tick"] == list(range(40))


@pytest.mark.heavy
def test_9_torch_at_two_threads_is_recorded_and_verified_without_hanging(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    statement = verified(
        tmp_path,
        """
        import torch

        def main(run):
            torch.set_num_threads(2)
            grid = torch.full((200, 200), 0.5)
            seen = run.track("seen", {"trace": 0.0})
            for tick in run.ticks(4):
                grid = (grid @ grid).tanh()
                seen["trace"] = float(grid.trace())
        """,
    )
    assert statement.result in {"PASS", "FAIL"}


@pytest.mark.heavy
def test_10_a_corrupt_tail_is_never_a_pass(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(50):
                seen.append(run.input("push", lambda: tick))
                print(tick)
        """,
    ) as record:
        path = record.path
    data, out = path.read_bytes(), tmp_path / "flipped.twice"
    for at in (-1, -20, -60, -110, -180, -400, -900, -1500, -2200):
        changed = bytearray(data)
        changed[at] ^= 0x04
        out.write_bytes(changed)
        done = cli("verify", out)
        assert done.returncode == 2, (at, done.stdout, done.stderr)
        assert not done.stdout.startswith("PASS")
        assert "Traceback" not in done.stderr
