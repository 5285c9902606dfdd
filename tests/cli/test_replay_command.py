from __future__ import annotations

import json
from pathlib import Path

import pytest

import twice
from programs import cli, recorded

pytestmark = pytest.mark.integration


def test_the_state_before_a_tick_is_the_snapshots_there(recorded_swarm: Path) -> None:
    told = json.loads(cli("replay", "a.twice", "--at", 100, "--json", cwd=recorded_swarm).stdout)
    with twice.open(recorded_swarm / "a.twice") as record:
        energy = record.state_at(1)["swarm"]["energy"]

    assert told["format"] == "twice.replay/1"
    (state,) = told["states"]
    assert (state["tick"], state["state"]["swarm"]["energy"]) == (100, energy)
    assert state["inputs"][0]["name"] == "push"


def test_steps_lead_from_one_tick_to_another(recorded_swarm: Path) -> None:
    done = cli("replay", "a.twice", "--at", 2, "--to", 8, "--step", 3, "--json", cwd=recorded_swarm)

    assert [state["tick"] for state in json.loads(done.stdout)["states"]] == [2, 5, 8]


def test_text_says_where_and_what(recorded_swarm: Path) -> None:
    done = cli("replay", "a.twice", "--at", 3, cwd=recorded_swarm, input="")

    assert done.stdout.splitlines()[0] == "before tick 3"
    assert "  swarm['energy'] = " in done.stdout


def test_commands_through_a_pipe_go_forwards_and_back(swarm: Path) -> None:
    talk = "go 5\ninputs\nforward 2\nback\nstate swarm\nquit\n"

    done = cli("replay", "a.twice", cwd=swarm, input=talk)

    places = [row for row in done.stdout.splitlines() if row.startswith("before")]
    assert done.returncode == 0, done.stderr
    assert places == [f"before tick {tick} of 210" for tick in (0, 5, 7, 6)]
    assert "swarm['energy'] = " in done.stdout


def test_a_command_that_cannot_be_done_says_why_and_the_rest_goes_on(recorded_swarm: Path) -> None:
    done = cli("replay", "a.twice", cwd=recorded_swarm, input="jump\ngo x\ngo 999\nback\ninputs\n")

    assert done.returncode == 2
    assert done.stdout.splitlines()[-1].startswith("push = ")
    assert [row.split()[0] for row in done.stderr.splitlines() if row.startswith("E-")] == [
        "E-USE-001", "E-USE-001", "E-RECORD-006", "E-RECORD-006",
    ]  # fmt: skip


def test_going_nowhere_is_refused(recorded_swarm: Path) -> None:
    for way in (("--at", 9, "--to", 3), ("--step", 0), ("--step", -1)):
        done = cli("replay", "a.twice", *way, cwd=recorded_swarm)
        assert done.returncode == 2
        assert done.stderr.startswith("E-USE-001")


def test_changed_code_is_refused_unless_for_information(tmp_path: Path) -> None:
    with recorded(tmp_path, "def main(run):\n    for _ in run.ticks(5):\n        pass\n") as record:
        path = record.path
    program = tmp_path / "program.py"
    program.write_text(program.read_text() + "\n# changed\n")

    refused = cli("replay", path, "--at", 3, input="")
    told = cli("replay", path, "--at", 3, "--informational", "--json")

    assert (refused.returncode, refused.stderr[:13]) == (2, "E-PROGRAM-004")
    assert json.loads(told.stdout)["informational"] is True
    assert "informational" in told.stderr
