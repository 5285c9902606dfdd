"""``twice scaffold``: what it prints, what it exits with, and what a review stops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from programs import cli
from small_system import build, tree

pytestmark = pytest.mark.integration

SEEDS = "swarm/determinism/seeds.py"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return build(tmp_path / "project")


def scaffold(project: Path, *options: str, code: int = 0) -> str:
    """Run it; what it printed."""
    done = cli("scaffold", "swarm", *options, cwd=project)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code != 2 else done.stderr


def test_a_plan_changes_nothing(project: Path) -> None:
    before = tree(project)

    said = scaffold(project, "--plan")

    assert f"create  seeds       {SEEDS}\n" in said
    assert said.endswith("lay it down: twice scaffold swarm\n")
    assert tree(project) == before


def test_once_and_again_from_a_folder_below(project: Path) -> None:
    assert "laid down: 21 create; next: python -m pytest\n" in scaffold(project)
    before = tree(project)

    said = scaffold(project / "swarm")

    assert said == "nothing to do: everything is laid down as the sheets say\n"
    assert tree(project) == before


def test_its_document(project: Path) -> None:
    document = json.loads(scaffold(project, "--layer", "seeds", "--json"))

    assert document["format"] == "twice.scaffold/1"
    assert (document["applied"], document["changed"]) == (True, True)
    assert {each["layer"] for each in document["regions"]} == {"base", "seeds"}
    again = json.loads(scaffold(project, "--layer", "seeds", "--json", "--plan"))
    assert (again["applied"], again["changed"]) == (False, False)
    assert {each["action"] for each in again["regions"]} == {"same", "keep"}


def test_an_edited_file_is_listed_with_what_can_be_done(project: Path) -> None:
    scaffold(project)
    with (project / SEEDS).open("a", encoding="utf-8") as file:
        file.write("MINE = 1\n")

    said = scaffold(project, code=1)

    assert f"edited  seeds  {SEEDS}  it was changed; the sheets were not\n" in said
    assert "twice scaffold swarm --eject PATH" in said
    assert f"{SEEDS} is yours" in scaffold(project, "--eject", SEEDS)
    assert "nothing to do" in scaffold(project)
    assert (project / SEEDS).read_text(encoding="utf-8").endswith("MINE = 1\n")


def test_command_files_for_agents_are_laid_down_where_they_are_wanted(project: Path) -> None:
    scaffold(project, "--agent-commands", ".agent/commands")

    names = {each.name for each in (project / ".agent/commands").iterdir()}
    assert names == {
        f"twice-{each}.md" for each in ("check", "diagnose", "review", "scaffold", "verify")
    }
    text = (project / ".agent/commands/twice-verify.md").read_text(encoding="utf-8")
    assert "twice verify $ARGUMENTS --diagnose --json" in text
    assert "nothing to do" in scaffold(project)


def test_a_review_stops_the_layer_of_a_high_finding(project: Path) -> None:
    code = "import os\n\n\ndef order(path):\n    return {'names': os.listdir(path)}\n"
    (project / "swarm/listing.py").write_text(code, encoding="utf-8")

    said = scaffold(project, "--review", code=1)

    named = "review: nothing of properties is laid down:\n  swarm/listing.py:5: concurrency: "
    assert named in said
    assert (project / SEEDS).exists()
    assert not (project / "tests/test_determinism.py").exists()


def test_a_review_that_finds_nothing_high_stops_nothing(project: Path) -> None:
    assert "laid down: 21 create" in scaffold(project, "--review")


def test_an_incomplete_specification_is_refused_layer_by_layer(project: Path) -> None:
    next((project / "determinism-and-replay").glob("05-*.md")).unlink()
    before = tree(project)

    said = scaffold(project, code=2)

    assert said.startswith("E-SPEC-005")
    assert "compare: determinism-and-replay/05-divergence-protocol.md is not there" in said
    assert "--layer seeds" in said
    assert tree(project) == before


def test_without_a_specification_it_says_how_to_begin(tmp_path: Path) -> None:
    done = cli("scaffold", "swarm", cwd=tmp_path)

    assert done.returncode == 2
    assert "twice spec init" in done.stderr
