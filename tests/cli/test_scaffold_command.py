"""``twice scaffold``: what it prints, what it exits with, and what a review stops."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from small_system import build, tree
from twice.cli import dispatch
from twice.specification.errors import SpecIncomplete, WorkspaceRefused

SEEDS = "swarm/determinism/seeds.py"
Scaffold = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = build(tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def scaffold(capsys: pytest.CaptureFixture[str]) -> Scaffold:
    """Run it; what it printed."""

    def run(*options: str, code: int = 0) -> str:
        assert dispatch(["scaffold", "swarm", *options]) == code
        return capsys.readouterr().out

    return run


def test_a_plan_changes_nothing(project: Path, scaffold: Scaffold) -> None:
    before = tree(project)

    said = scaffold("--plan")

    assert f"create  seeds       {SEEDS}\n" in said
    assert said.endswith("lay it down: twice scaffold swarm\n")
    assert tree(project) == before


@pytest.mark.usefixtures("project")
def test_the_proposed_command_does_what_was_planned(scaffold: Scaffold) -> None:
    options = ("--layer", "seeds", "--package", "my parts/wiring")

    said = scaffold(*options, "--replace", "--plan")

    proposed = "twice scaffold swarm --layer seeds --package 'my parts/wiring' --replace"
    assert said.endswith(f"lay it down: {proposed}\n")


def test_once_and_again_from_a_folder_below(
    project: Path, scaffold: Scaffold, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "laid down: 21 create; next: python -m pytest\n" in scaffold()
    before = tree(project)

    monkeypatch.chdir(project / "swarm")
    said = scaffold()

    assert said == "nothing to do: everything is laid down as the sheets say\n"
    assert tree(project) == before


@pytest.mark.usefixtures("project")
def test_its_document(scaffold: Scaffold) -> None:
    document = json.loads(scaffold("--layer", "seeds", "--json"))

    assert document["format"] == "twice.scaffold/2"
    assert (document["applied"], document["changed"]) == (True, True)
    assert {each["layer"] for each in document["files"]} == {"base", "seeds"}
    again = json.loads(scaffold("--layer", "seeds", "--json", "--plan"))
    assert (again["applied"], again["changed"]) == (False, False)
    assert {each["action"] for each in again["files"]} == {"same", "keep"}


def test_an_edited_file_is_listed_with_what_can_be_done(project: Path, scaffold: Scaffold) -> None:
    scaffold()
    with (project / SEEDS).open("a", encoding="utf-8") as file:
        file.write("MINE = 1\n")

    said = scaffold(code=1)

    assert f"edited  seeds  {SEEDS}  it was changed\n" in said
    assert "twice scaffold swarm --eject PATH" in said
    assert said.endswith("nothing was written: 1 file differs from the sheets\n")
    assert f"{SEEDS} is yours" in scaffold("--eject", SEEDS)
    assert "nothing to do" in scaffold()
    assert (project / SEEDS).read_text(encoding="utf-8").endswith("MINE = 1\n")


def test_lines_that_belong_into_a_file_of_the_users_are_printed(
    project: Path, scaffold: Scaffold
) -> None:
    (project / ".gitattributes").write_text("*.png binary\n", encoding="utf-8")

    assert "paste into .gitattributes:\n  *.twice binary\nlaid down: " in scaffold()


def test_a_review_stops_the_layer_of_a_high_finding(project: Path, scaffold: Scaffold) -> None:
    code = "import os\n\n\ndef order(path):\n    return {'names': os.listdir(path)}\n"
    (project / "swarm/listing.py").write_text(code, encoding="utf-8")

    said = scaffold("--review", code=1)

    named = "review: nothing of properties is laid down:\n  swarm/listing.py:5: concurrency: "
    assert named in said
    assert (project / SEEDS).exists()
    assert not (project / "tests/test_determinism.py").exists()


def test_a_critical_finding_stops_everything(project: Path, scaffold: Scaffold) -> None:
    code = "import random\nimport time\n\n\ndef begin():\n    random.seed(time.time())\n"
    (project / "swarm/begin.py").write_text(code, encoding="utf-8")
    before = tree(project)

    said = scaffold("--review", code=1)

    assert "review: nothing of everything is laid down:\n  swarm/begin.py:6: seeds: " in said
    assert said.endswith("nothing was laid down\n")
    assert tree(project) == before


def test_a_review_that_finds_nothing_high_stops_nothing(project: Path, scaffold: Scaffold) -> None:
    assert "laid down: 21 create" in scaffold("--review")


def test_an_incomplete_specification_is_refused_layer_by_layer(
    project: Path, scaffold: Scaffold
) -> None:
    next((project / "determinism-and-replay").glob("05-*.md")).unlink()
    before = tree(project)

    with pytest.raises(SpecIncomplete, match="--layer seeds") as refused:
        scaffold()

    assert "compare: determinism-and-replay/05-divergence-protocol.md is not there" in str(
        refused.value
    )
    assert tree(project) == before


def test_without_a_specification_it_says_how_to_begin(
    tmp_path: Path, scaffold: Scaffold, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(WorkspaceRefused, match="twice spec init"):
        scaffold()
