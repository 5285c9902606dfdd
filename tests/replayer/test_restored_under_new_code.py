"""An old snapshot is restored under code whose class has a newer version of its state."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import twice
from programs import cli
from twice.errors import MigrationRefused
from twice.testing.frozen_snapshots import check_frozen

STATES = Path(__file__).parents[1] / "corpora/state_schemas"
POND = "pond was migrated from version 1 of its state to version 3, before tick 5"
LEDGER = "ledger was migrated from version 0 of its state to version 1, before tick 5"

pytestmark = pytest.mark.integration


@pytest.fixture
def pond(tmp_path: Path) -> Path:
    """A record that the first version of a program made, beside the present version."""
    shutil.copy(STATES / "pond_version_1.twice", tmp_path / "a.twice")
    shutil.copy(STATES / "pond.py", tmp_path)
    return tmp_path


def change(folder: Path, before: str, after: str) -> None:
    path = folder / "pond.py"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def informational(verb: str, folder: Path, *options: object) -> tuple[int, str, str]:
    done = cli(verb, "a.twice", "--trust", "--informational", *options, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def test_a_branch_migrates_and_says_so(pond: Path) -> None:
    code, told, _ = informational(
        "branch", pond, "--at", 7, "--input", "food=3", "-o", "b.twice", "--quiet"
    )

    assert (code, told.count("caveat:")) == (0, 2)
    assert f"caveat: {POND}" in told
    assert f"caveat: {LEDGER}" in told
    assert "identical but for pond, ledger" in told
    with twice.open(pond / "b.twice") as made:
        versions = [
            {name: entry.get("state_version") for name, entry in envelope["subsystems"].items()}
            for envelope in (json.loads(made.reader.envelope(at)) for at in range(3))
        ]
        stock = made.state_at(2)["pond"]
        moved = (made.ending or {})["branch"]["migrated"]
    old = {"pond": 1, "ledger": None, "streams": None}
    assert versions == [old, old, {"pond": 3, "ledger": 1, "streams": None}]
    assert sorted(stock["stock"]) == ["carp", "pike"]
    assert moved[0] == {"component": "pond", "from": 1, "to": 3, "tick": 5}


def test_a_branch_at_a_snapshot_has_its_parent_s_prefix(pond: Path) -> None:
    code, told, _ = informational("branch", pond, "--at", 5, "-o", "b.twice", "--quiet", "--json")

    assert (code, json.loads(told)["prefix"]["identical"]) == (0, True)


def test_a_replay_shows_the_migrated_state_and_says_so(pond: Path) -> None:
    code, told, beside = informational("replay", pond, "--at", 6, "--json")

    found = json.loads(told)
    assert code == 0
    assert found["states"][0]["state"]["ledger"] == {"total": 6.0}
    assert [each.partition(":")[0] for each in found["caveats"]] == [POND, LEDGER]
    assert f"caveat: {POND}" in beside


def test_a_verification_from_a_snapshot_says_so_and_never_passes(pond: Path) -> None:
    code, told, _ = informational("verify", pond, "--from", 5, "--json")

    found = json.loads(told)
    assert (code, found["result"], found["compare_points"]["failed"]) == (2, "UNKNOWN", 0)
    assert {POND, LEDGER} <= {each.partition(":")[0] for each in found["caveats"]}


def test_restores_say_which_states_were_migrated(pond: Path) -> None:
    _, told, _ = informational("verify", pond, "--restores", "--json")

    found = json.loads(told)
    assert (found["restores"]["tested"], found["restores"]["failed"]) == (3, [])
    assert [each["tick"] for each in found["restores"]["migrated"]] == [0, 0]
    assert any("ledger was migrated" in each for each in found["caveats"])


def test_a_difference_elsewhere_still_refuses_the_branch(pond: Path) -> None:
    change(pond, "lambda: 1.0", "lambda: 2.0")

    code, _, beside = informational("branch", pond, "--at", 7, "-o", "b.twice", "--quiet")

    assert (code, "E-REPLAY-001" in beside, (pond / "b.twice").exists()) == (2, True, False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    state_version = 3\n", ""),
        ("def migrate(state, version):\n        if", "def moved(state, version):\n        if"),
        ('state = {"carp": state["fish"]}', "raise ValueError(version)"),
        ('return {"stock": {', 'return {"stock": object(), **{'),
    ],
)
def test_a_refused_migration_leaves_nothing(pond: Path, before: str, after: str) -> None:
    change(pond, before, after)
    found = sorted(pond.iterdir())

    code, told, beside = informational("branch", pond, "--at", 7, "-o", "b.twice", "--quiet")

    assert (code, told) == (2, "")
    assert beside.count("E-TRACK-004") == 1
    assert [each for each in sorted(pond.iterdir()) if each.name != "__pycache__"] == found


def test_a_restore_that_raises_before_the_fork_refuses_the_branch(pond: Path) -> None:
    change(
        pond, "    state_version = 3", "    state_version = 1"
    )  # the shape changed, and the version did not

    code, _, beside = informational("branch", pond, "--at", 7, "-o", "b.twice", "--quiet")

    assert (code, "E-REPLAY-001" in beside, (pond / "b.twice").exists()) == (2, True, False)
    assert "ended before tick 7: exception" in beside


def test_a_frozen_snapshot_comes_back_under_new_code() -> None:
    migrated = check_frozen(STATES / "pond_version_1.twice")

    assert [(each.component, each.old, each.new) for each in migrated[10]] == [
        ("pond", 1, 3),
        ("ledger", 0, 1),
    ]
    assert sorted(migrated) == [0, 5, 10]


def test_the_code_that_made_it_migrates_nothing(pond: Path) -> None:
    shutil.copy(STATES / "pond_version_1.py", pond / "pond.py")

    assert check_frozen(pond / "a.twice", every=True) == {0: [], 5: [], 10: []}


def test_a_frozen_snapshot_that_no_code_reads_any_more_fails(pond: Path) -> None:
    change(pond, 'state = {"carp": state["fish"]}', "pass")

    with pytest.raises(MigrationRefused, match="KeyError: 'carp'"):
        check_frozen(pond / "a.twice")
