from __future__ import annotations

import json
from pathlib import Path

import pytest

from programs import cli
from twice.foundation.environment import Fingerprint

pytestmark = pytest.mark.integration


def test_the_environment_is_one_that_a_run_would_have() -> None:
    told = json.loads(cli("env", "--json").stdout)

    assert told["format"] == "twice.environment/1"
    assert Fingerprint.from_json(told).variables["PYTHONHASHSEED"] == "0"
    assert "unpinned" not in told["probes"].values()


def test_a_file_written_here_is_the_same_here(tmp_path: Path) -> None:
    (tmp_path / "here.json").write_text(cli("env", "--json").stdout)

    done = cli("env", "--against", "here.json", cwd=tmp_path)

    assert done.returncode == 0
    assert done.stdout == "same: this environment is that of here.json\n"


def test_a_record_is_compared_in_its_own_surroundings(recorded_swarm: Path) -> None:
    there = {"OMP_NUM_THREADS": "2", "PYTHONHASHSEED": "5"}

    done = cli("env", "--against", "a.twice", cwd=recorded_swarm, env=there)

    assert done.returncode == 0, done.stdout


def test_a_difference_exits_1_and_says_what_it_can_change(tmp_path: Path) -> None:
    told = json.loads(cli("env", "--json").stdout)
    told["libraries"]["numpy"] = "0.1"
    told["os"]["release"] = "another"
    (tmp_path / "there.json").write_text(json.dumps(told))

    text = cli("env", "--against", "there.json", cwd=tmp_path)
    document = json.loads(cli("env", "--against", "there.json", "--json", cwd=tmp_path).stdout)

    assert text.returncode == 1
    assert "1 of them can change result bits" in text.stdout.splitlines()[0]
    assert "library numpy  0.1 -> " in text.stdout
    affects = {one["what"]: one["affects"] for one in document["against"]["differences"]}
    assert affects == {"os release": "note", "library numpy": "numerics"}
    assert (document["against"]["same"], document["against"]["numerics"]) == (False, True)


def test_a_file_that_is_neither_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text("[[")
    (tmp_path / "other.json").write_text('{"format": "twice.environment/9"}')

    for name in ("words.json", "other.json"):
        done = cli("env", "--against", name, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith("E-CONFIG-001")
    assert cli("env", "--against", "nowhere", cwd=tmp_path).stderr.startswith("E-RECORD-005")


def test_a_knob_that_the_library_ignores_exits_1_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "bogus")
    monkeypatch.setenv("OPENBLAS_NUM_THREAD", "1")

    done = cli("env", "--float", "--json", cwd=tmp_path)

    told = json.loads(done.stdout)["float"]
    broken = {row["name"]: row["why"] for row in told["knobs"] if row["holds"] is False}
    assert done.returncode == 1
    assert told["profile"] is None
    assert {*broken} >= {"OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREAD"}
    assert "did you mean OPENBLAS_NUM_THREADS" in broken["OPENBLAS_NUM_THREAD"]


def test_the_knobs_of_a_profile_hold_and_no_probe_differs_from_another_machine(
    tmp_path: Path,
) -> None:
    there = cli("env", "--float", "--float-profile", "native", "--json", cwd=tmp_path)
    (tmp_path / "there.json").write_text(there.stdout, encoding="utf-8")

    done = cli("env", "--float", "--against", "there.json", "--json", cwd=tmp_path)

    told = json.loads(done.stdout)["float"]
    assert done.returncode == 0, done.stdout
    assert told["profile"] == "native"
    assert [row["name"] for row in told["knobs"] if row["holds"] is False] == []
    assert told["probes"]["differing"] == []
    assert told["probes"]["compared"] > 40


def test_a_profile_without_float_is_refused(tmp_path: Path) -> None:
    done = cli("env", "--float-profile", "native", cwd=tmp_path)

    assert done.returncode == 2
    assert "--float" in done.stderr


def test_a_policy_of_a_gpu_is_read_back_where_there_is_none() -> None:
    there = {"NCCL_ALGO": "Tree", "CUBLAS_WORKSPACE_CONFIG": None}
    told = json.loads(cli("env", "--gpu", "--json", env=there).stdout)["gpu_policy"]
    held = cli("env", "--gpu", "--gpu-policy", "deterministic", env=there)

    assert {*told} == {"policy", "knobs", "device"}
    assert told["policy"] is None
    assert {row["name"]: row["wanted"] for row in told["knobs"]}["NCCL_ALGO"] == "Tree"
    assert {"driver", "cards", "versions", "used"} <= told["device"].keys()
    assert held.returncode == 0, held.stdout
    assert held.stdout.startswith("holds: policy deterministic; ")
    assert "NCCL_ALGO" in held.stdout
    assert "Ring wanted: no interface tells" in held.stdout
    if not told["device"]["cards"]:
        assert "no GPU is here: knobs are read back, no device was asked" in held.stdout


@pytest.mark.parametrize("given", [("--gpu", "--float"), ("--gpu-policy", "deterministic")])
def test_a_policy_of_a_gpu_stands_with_its_own_option(given: tuple[str, ...]) -> None:
    done = cli("env", *given)

    assert done.returncode == 2
    assert done.stderr.startswith("E-USE-001")


def test_a_record_keeps_the_policy_of_its_gpu_and_is_verified_under_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os\n"
        "def main(run):\n"
        "    seen = run.track('seen', [''])\n"
        "    for tick in run.ticks(2):\n"
        "        seen[0] = os.environ['CUBLAS_WORKSPACE_CONFIG']\n"
    )
    made = cli(
        "record", "program.py:main", "--seed", "1", "--gpu-policy", "deterministic", "-o", "a.twice", cwd=tmp_path,
        env={"CUBLAS_WORKSPACE_CONFIG": "4096:8"},
    )  # fmt: skip
    verified = cli("verify", "a.twice", cwd=tmp_path)
    numerics = json.loads(cli("show", "a.twice", "--json", cwd=tmp_path).stdout)["ending"][
        "numerics"
    ]

    assert made.returncode == 0, made.stderr
    assert "CUBLAS_WORKSPACE_CONFIG=4096:8 of the environment gives way to :4096:8" in made.stderr
    assert verified.stdout.startswith("PASS")
    assert numerics["gpu_policy"] == "deterministic"
    assert {row["name"]: row["wanted"] for row in numerics["knobs"]}["NCCL_ALGO"] == "Ring"
