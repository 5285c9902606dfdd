"""Before anything is executed again: code, rules, surroundings and restored state are held to account."""

from __future__ import annotations

import os
import py_compile
import shutil
from pathlib import Path
from typing import Any

import pytest

from programs import cli, recorded, rewritten
from twice.errors import (
    ProgramChanged,
    ProgramNotFound,
    RecordForeign,
    RecordVersion,
    RestoreRefused,
    SurroundingsRefused,
)
from twice.recorder.cadence import Cadence
from twice.recorder.record import RecordReader
from twice.recorder.runrecord import RunRecord
from twice.recorder.snapshots import load
from twice.replayer.branch_session import branch
from twice.replayer.replay_session import replay
from twice.replayer.rerun import rerun
from twice.replayer.verify import verify

WALKING = """
    import os
    from beside import PUSH

    def main(run):
        walk = run.track("walk", Walk(run.rng("walk")))
        for tick in run.ticks(6):
            walk.step(PUSH)
"""


def walking(folder: Path, **options: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "beside.py").write_text("PUSH = 0.5\n")
    with recorded(folder, WALKING, walk=True, **options) as record:
        return record.path


@pytest.mark.integration
@pytest.mark.parametrize("name", ["program.py", "beside.py"])
def test_a_changed_source_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    path = walking(tmp_path)
    changed = tmp_path / name
    changed.write_text(changed.read_text() + "# another line\n")
    for execute in (
        lambda: verify(path),
        lambda: replay(path),
        lambda: branch(path, at=3, out=tmp_path / "b.twice"),
        lambda: rerun(path, out=tmp_path / "b.twice"),
    ):
        with pytest.raises(ProgramChanged, match=f"{name} differs"):
            execute()
    assert not (tmp_path / "b.twice").exists()


@pytest.mark.integration
def test_going_on_for_information_is_never_a_pass(tmp_path: Path) -> None:
    path = walking(tmp_path)
    (tmp_path / "beside.py").write_text("PUSH = 0.5  # the same, and not the same bytes\n")
    statement = verify(path, informational=True)
    assert (statement.result, statement.exit_code) == ("UNKNOWN", 2)
    assert statement.counts["passed"] == statement.counts["evaluated"] == 8
    assert statement.caveats[0].startswith("informational: the code differs")
    (tmp_path / "beside.py").write_text("PUSH = 0.25\n")
    assert verify(path, informational=True).result == "FAIL"
    with replay(path, informational=True) as session:
        assert session.informational
    done = cli("verify", path, "--informational")
    assert (done.returncode, "FAIL" in done.stdout) == (1, True)


@pytest.mark.integration
def test_a_program_that_is_gone_is_refused(tmp_path: Path) -> None:
    path = walking(tmp_path)
    (tmp_path / "program.py").unlink()
    with pytest.raises(ProgramChanged, match="is gone"):
        verify(path)
    with pytest.raises(ProgramNotFound, match="is not there"):
        verify(path, informational=True)


@pytest.mark.integration
def test_a_checkout_that_was_moved_is_found_from_inside_or_beside_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    path = walking(here, out=tmp_path / "a.twice")
    with RunRecord.open(path) as record:
        assert record.setup.program.target == "program.py"
    monkeypatch.chdir(tmp_path)
    shutil.move(here, tmp_path / "there")
    with pytest.raises(ProgramChanged, match="is gone"):
        verify(path)
    shutil.copy(path, tmp_path / "there" / "a.twice")
    assert verify(tmp_path / "there" / "a.twice").result == "PASS"
    monkeypatch.chdir(tmp_path / "there")
    assert verify(path).result == "PASS"


@pytest.mark.integration
def test_rules_that_this_version_does_not_know_are_refused(tmp_path: Path) -> None:
    path, out = walking(tmp_path), tmp_path / "b.twice"
    with RunRecord.open(path) as record:
        rules = record.identity["behaviours"]
    assert verify(rewritten(path, out)).result == "PASS"
    for changed in (
        {**rules, "session": 99},
        {**rules, "session": 0},
        {**rules, "effects_order": "one"},
        {**rules, "gravity": 1},
        {name: number for name, number in rules.items() if name != "seed_derivation"},
    ):
        with pytest.raises(RecordVersion, match="made under rule"):
            verify(rewritten(path, out, behaviours=changed))
    for damaged in (None, [], {"session": None}):
        with pytest.raises(RecordVersion):
            RunRecord.open(rewritten(path, out, behaviours=damaged))
    with pytest.raises(RecordVersion, match=r"twice\.run/9"):
        RunRecord.open(rewritten(path, out, format="twice.run/9"))


@pytest.mark.integration
@pytest.mark.parametrize(
    "setup",
    [None, {}, {"program": 3}, "text", {"program": {"kind": "function"}}],
    ids=repr,
)
def test_an_identity_that_twice_never_wrote_is_refused_in_one_sentence(
    tmp_path: Path, setup: object
) -> None:
    out = rewritten(walking(tmp_path), tmp_path / "b.twice", setup=setup)
    with pytest.raises(RecordForeign, match=r"twice (writes|does not write)"):
        RunRecord.open(out)
    done = cli("verify", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("E-RECORD-002")
    assert "Traceback" not in done.stderr


@pytest.mark.integration
def test_a_snapshot_whose_state_hash_is_another_is_refused(tmp_path: Path) -> None:
    path = walking(tmp_path, cadence=Cadence("tick", 2))
    with RecordReader.open(path) as reader:
        load(reader, 1)
        envelope = bytes(reader.envelope(1))
        at = envelope.index(b'"state_hash":"blake3:') + 21
        forged = (
            envelope[:at] + (b"0" if envelope[at : at + 1] != b"0" else b"1") + envelope[at + 1 :]
        )
        reader.envelope = lambda number: forged  # type: ignore[method-assign]
        with pytest.raises(RestoreRefused, match="state hash"):
            load(reader, 1)


@pytest.mark.integration
def test_a_component_that_comes_back_different_is_refused_with_its_fields(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        class Half:
            def __init__(self):
                self.kept, self.lost = 0, {"deep": [0, 0]}

            def state(self):
                return {"kept": self.kept, "lost": self.lost}

            def restore(self, state):
                self.kept = state["kept"]

        def main(run):
            half = run.track("half", Half())
            for tick in run.ticks(6):
                half.kept += 1
                half.lost["deep"] = [tick, tick]
        """,
        cadence=Cadence("tick", 2),
    ) as record:
        assert verify(record.path).result == "PASS"
        with pytest.raises(RestoreRefused, match="'half' came back different") as caught:
            verify(record.path, first=4)
        assert "lost" in caught.value.happened
        with replay(record.path, at=4) as session, pytest.raises(RestoreRefused, match="half"):
            session.state()


@pytest.mark.integration
def test_a_component_without_restore_is_reached_from_the_top(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        class Counter:
            ticks = 0

            def state(self):
                return self.ticks

        def main(run):
            counter = run.track("counter", Counter())
            for tick in run.ticks(6):
                counter.ticks += 1
        """,
        cadence=Cadence("tick", 2),
    ) as record:
        part = verify(record.path, first=4)
        assert (part.result, part.first) == ("PARTIAL", 0)
        with replay(record.path, at=5) as session:
            assert session.state("counter") == 5


def test_a_random_hash_seed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "random")
    with pytest.raises(SurroundingsRefused, match="PYTHONHASHSEED is 'random'"):
        walking(tmp_path)
    assert not (tmp_path / "a.twice").exists()


@pytest.mark.integration
def test_what_was_not_set_is_pinned_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONHASHSEED", "TZ", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    with recorded(
        tmp_path,
        """
        import os

        def main(run):
            run.track("seen", {name: os.environ[name] for name in ("PYTHONHASHSEED", "TZ")})
        """,
    ) as record:
        kept = {row["name"]: row for row in record.identity["surroundings"]["variables"]}
        assert (kept["PYTHONHASHSEED"]["value"], kept["TZ"]["value"]) == ("0", "UTC")
        assert verify(record.path).result == "PASS"
    assert "PYTHONHASHSEED" not in os.environ


@pytest.mark.heavy
def test_a_torn_record_is_partial_and_never_exits_zero(tmp_path: Path) -> None:
    path = walking(tmp_path, cadence=Cadence("tick", 2))
    whole = path.read_bytes()
    results = set()
    for cut in range(len(whole) - 1, 0, -max(1, len(whole) // 9)):
        path.write_bytes(whole[:cut])
        done = cli("verify", path)
        assert done.returncode == 2, (cut, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        results.add((done.stdout or done.stderr).split(maxsplit=1)[0].strip(":"))
    assert results <= {"PARTIAL", "UNKNOWN", "E-RECORD-003"}
    assert "PARTIAL" in results


def test_byte_code_without_source_is_code_of_the_program(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"

    def compile_helper(text: str) -> None:
        helper.write_text(text)
        py_compile.compile(str(helper), cfile=str(tmp_path / "helper.pyc"), doraise=True)
        helper.unlink()

    compile_helper("VALUE = 1\n")
    (tmp_path / "program.py").write_text("import helper\nprint(1)\n")
    assert cli("record", "program.py", "--seed", 1, "-o", "a.twice", cwd=tmp_path).returncode == 0
    assert cli("verify", "a.twice", cwd=tmp_path).returncode == 0
    compile_helper("VALUE = 2\n")
    refused = cli("verify", "a.twice", cwd=tmp_path)
    assert refused.returncode == 2
    assert "E-PROGRAM-004  helper.pyc" in refused.stderr


@pytest.mark.integration  # executions begin in processes of their own
def test_no_execution_begins_where_a_task_lives_that_reads_later(tmp_path: Path) -> None:
    source = """
        import asyncio, time

        def main(run):
            seen = run.track("seen", [])

            async def look():
                for tick in run.ticks(8):
                    seen.append(time.time_ns())
                    if tick == 2:
                        run.input("push", lambda: 1)

            asyncio.run(look())
        """
    # Between the snapshot before tick 3 and the end, no compare-point would show other values.
    coarse: dict[str, Any] = {"granularity": "decision", "cadence": Cadence("decision")}
    with recorded(tmp_path, source, **coarse) as record:
        recorded_values = [value for _, value in record.actor_reads()["main/task:0"]]
        assert [entry.tick for entry in record.reader.snapshots] == [0, 3]
        with replay(record.path, at=6) as session:
            assert session.state("seen") == recorded_values[:6]
        with branch(record.path, at=6, out=tmp_path / "b.twice") as left:
            assert [value for _, value in left.actor_reads()["main/task:0"]][:6] == (
                recorded_values[:6]
            )
