from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import twice
from programs import cli, recorded
from twice.cli import dispatch

pytestmark = pytest.mark.integration

RECORD_KEYS = {
    "format", "record", "run_id", "program", "seed", "config", "class", "policies", "code",
    "environment", "surroundings", "parent", "complete", "intact", "tear", "ending", "ticks",
    "points", "snapshots", "components", "streams", "effects", "size", "digest",
}  # fmt: skip


def shown(folder: Path, *arguments: object) -> dict[str, object]:
    done = cli("show", *arguments, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_overview_says_what_the_run_was(recorded_swarm: Path) -> None:
    told = shown(recorded_swarm, "a.twice")

    assert told["format"] == "twice.record/1"
    assert set(told) >= RECORD_KEYS
    assert (told["program"], told["seed"], told["ticks"]) == ("examples/swarm.py:main", "42", 210)
    assert told["class"]["class"] == "bit-exact"
    assert [entry["tick"] for entry in told["snapshots"]] == [0, 100, 200]
    assert told["streams"]["swarm"]["draws"] > 0
    assert told["intact"]


def test_the_first_line_answers_and_the_last_is_a_command(recorded_swarm: Path) -> None:
    rows = cli("show", "a.twice", cwd=recorded_swarm).stdout.splitlines()

    assert rows[0] == "a.twice: examples/swarm.py:main, seed 42, 210 ticks, completed"
    assert rows[-1] == "next: twice verify a.twice"


def test_a_branch_names_its_parent(recorded_swarm: Path) -> None:
    assert "branch of a.twice at tick 120" in cli("show", "b.twice", cwd=recorded_swarm).stdout


def test_a_tick_shows_what_went_in_and_what_stood_there(recorded_swarm: Path) -> None:
    told = shown(recorded_swarm, "b.twice", "--tick", 120)

    assert told["format"] == "twice.record/1"
    (entry,) = told["inputs"]
    assert (entry["name"], entry["value"], entry["substituted"]) == ("push", 0.3, True)
    assert [point["name"] for point in told["compare_points"]] == ["moved", "tick"]
    assert told["compare_points"][0]["digests"]["swarm"].startswith("blake3:")
    assert told["snapshot"]["tick"] == 100
    assert told["snapshot"]["values"]["swarm"]["position"]["array"]["shape"] == [4, 2]


def test_reads_of_the_world_stand_at_their_tick(tmp_path: Path) -> None:
    source = """
        import time
        def main(run):
            for tick in run.ticks(5):
                if tick == 3:
                    time.time()
                    print("\\x1b[31mthree")
    """
    with recorded(tmp_path, source) as record:
        path = record.path

    told = shown(tmp_path, path, "--tick", 3)
    before = shown(tmp_path, path, "--tick", 2)

    assert [entry["operation"] for entry in told["effects"]] == ["clock.time"]
    assert told["printed"] == {"output": "\x1b[31mthree\n"}
    assert (before["effects"], before["printed"]) == ([], {})
    assert "\x1b" not in cli("show", path, "--tick", 3).stdout


def test_a_snapshot_shows_its_envelope_and_values(recorded_swarm: Path) -> None:
    told = shown(recorded_swarm, "a.twice", "--snapshot", 2)
    text = cli("show", "a.twice", "--snapshot", 2, cwd=recorded_swarm).stdout

    assert told["snapshot"]["envelope"]["format"] == "twice.snapshot/1"
    assert set(told["snapshot"]["values"]) == {"streams", "swarm"}
    assert text.startswith("snapshot 2 of a.twice, before tick 200\n")
    assert "swarm['energy'] = " in text


def test_a_path_shows_one_part_of_the_state(recorded_swarm: Path) -> None:
    values = shown(recorded_swarm, "a.twice", "--snapshot", 1)["snapshot"]["values"]

    for path, value in {
        "swarm.energy": values["swarm"]["energy"],
        "swarm['energy']": values["swarm"]["energy"],
        "swarm.position[3, 1]": values["swarm"]["position"]["array"]["values"][3][1],
    }.items():
        told = shown(recorded_swarm, "a.twice", "--snapshot", 1, "--path", path)
        tick = shown(recorded_swarm, "a.twice", "--tick", 120, "--path", path)
        text = cli("show", "a.twice", "--tick", 120, "--path", path, cwd=recorded_swarm).stdout
        assert told["snapshot"]["values"] == tick["snapshot"]["values"] == {path: value}
        assert [row for row in text.splitlines() if " = " in row][-1] == f"  {path} = {value}"


def test_a_limit_counts_what_it_leaves_out(recorded_swarm: Path) -> None:
    done = cli("show", "a.twice", "--tick", 120, "--limit", 1, "--json", cwd=recorded_swarm)
    told = json.loads(done.stdout)
    whole = shown(recorded_swarm, "a.twice", "--tick", 120)
    text = cli("show", "a.twice", "--tick", 120, "--limit", 1, cwd=recorded_swarm)
    overview = shown(recorded_swarm, "a.twice", "--limit", 2)

    assert told["compare_points"] == whole["compare_points"][:1]
    assert told["omitted"]["compare_points"] == len(whole["compare_points"]) - 1
    assert len(told["snapshot"]["values"]) == 1
    assert f"{told['omitted']['values']:,} more values: --limit " in done.stderr
    assert f"compare-points: {len(whole['compare_points'])}\n" in text.stdout
    assert text.stderr.startswith("1 more compare-point, ")
    assert (len(overview["snapshots"]), overview["omitted"]["snapshots"]) == (2, 1)
    assert "omitted" not in whole


def test_a_limit_cuts_what_a_tick_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """
        def main(run):
            for tick in run.ticks(1):
                for number in range(1000):
                    print("line", number)
    """
    with recorded(tmp_path, source) as record:
        path = str(record.path)

    def show(*options: str) -> tuple[dict[str, Any], str]:
        assert dispatch(["show", path, "--tick", "0", "--json", *options]) == 0
        done = capsys.readouterr()
        return json.loads(done.out), done.err

    capsys.readouterr()
    (whole, _), (told, said) = show(), show("--limit", "2")

    assert whole["printed"]["output"].count("\n") == 1000
    assert told["printed"] == {"output": "line 0\nline 1\n"}
    assert told["omitted"]["printed"] == 998
    assert said.startswith("998 more printed lines, ")
    assert "--limit 1000 lists them" in said


def test_a_path_to_nothing_is_refused(recorded_swarm: Path) -> None:
    for options in (
        ("--snapshot", 0, "--path", "swarm.ener"),
        ("--tick", 3, "--path", "swarm.position[4, 0]"),
        ("--path", "swarm"),
        ("--secrets", "--path", "swarm"),
        ("--limit", 0),
    ):
        done = cli("show", "a.twice", *options, cwd=recorded_swarm)
        assert (done.returncode, done.stdout, done.stderr[:9]) == (2, "", "E-USE-001"), options


def test_what_is_outside_of_the_record_is_refused(recorded_swarm: Path) -> None:
    for part in (("--tick", 210), ("--tick", -2), ("--snapshot", 3), ("--snapshot", -1)):
        done = cli("show", "a.twice", *part, cwd=recorded_swarm)
        assert done.returncode == 2
        assert done.stderr.startswith("E-RECORD-006")
        assert done.stdout == ""


def test_nothing_is_executed(tmp_path: Path) -> None:
    source = """
        import dataclasses, pathlib
        pathlib.Path("executed").touch()
        @dataclasses.dataclass
        class Cell:
            x: int
        class Grid:
            def state(self):
                return {"cell": Cell(3)}
        def main(run):
            run.track("grid", Grid())
            for _ in run.ticks(2):
                run.input("cell", lambda: Cell(4))
    """
    with recorded(tmp_path, source) as record:
        path = record.path
    (Path.cwd() / "executed").unlink(missing_ok=True)
    (tmp_path / "executed").unlink(missing_ok=True)

    snapshot = shown(tmp_path, path, "--snapshot", 0)["snapshot"]
    tick = shown(tmp_path, path, "--tick", 1)

    assert snapshot["values"]["grid"]["cell"]["fields"] == {"x": 3}
    assert tick["inputs"][0]["value"]["type"].endswith(":Cell")
    assert not (tmp_path / "executed").exists()


def test_a_torn_record_is_shown_as_torn(swarm: Path) -> None:
    whole = (swarm / "a.twice").read_bytes()
    (swarm / "torn.twice").write_bytes(whole[: len(whole) * 3 // 4])

    done = cli("show", "torn.twice", cwd=swarm)

    assert done.returncode == 1
    assert done.stdout.startswith("TORN torn.twice: ")
    assert done.stdout.splitlines()[-1] == "next: twice migrate torn.twice -o torn.closed.twice"
    assert "nothing from the world" not in done.stdout


def test_a_changed_byte_is_shown_as_damage(swarm: Path) -> None:
    data = bytearray((swarm / "a.twice").read_bytes())
    with twice.open(swarm / "a.twice") as record:
        size = record.reader.summary()["file_bytes"]
    data[size // 2] ^= 1
    (swarm / "a.twice").write_bytes(data)

    done = cli("show", "a.twice", cwd=swarm)

    assert done.returncode in {1, 2}
    assert "E-RECORD-004" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
