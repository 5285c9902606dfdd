"""Bringing a specification up to date after the code changed: every part says what became of it, and what is a person's stays."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent / "gate"))

from gatesystems import COST, VECTOR, Kept

from twice.cli import dispatch
from twice.specification import refresh as refreshing
from twice.specification.errors import SheetRefused, SpecIncomplete
from twice.specification.location import FOLDER
from twice.specification.record_traits import digest_vector
from twice.specification.workspace import open_workspace, save

SYSTEMS = Path(__file__).parents[2] / "examples" / "systems"
SOURCE = "src/herd.py"
Shown = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def project(kept: Kept, tmp_path: Path) -> Path:
    return kept.system("M", (), tmp_path / "herd").project


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Collect the options with which costs would be measured, and measure nothing."""
    asked: list[dict[str, Any]] = []

    class Judged:
        result, why = "inside", "it is within the budget"

    class Cost:
        judgement = Judged

    def measure(variant: object, **options: Any) -> type[Cost]:
        asked.append(options)
        return Cost

    def keep(project: Path, _: object, *, base: str) -> None:
        assert COST.startswith(f"{base}/")
        (project / COST).write_text("measured", encoding="utf-8")

    monkeypatch.setattr(refreshing, "measure_cost", measure)
    monkeypatch.setattr(refreshing, "write_evidence", keep)
    return asked


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be executed."""

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("something was executed")

    monkeypatch.setattr(refreshing, "record_program", refuse)
    monkeypatch.setattr(refreshing.EvidenceContext, "record", refuse)
    monkeypatch.setattr(refreshing, "measure_cost", refuse)


def ran(project: Path, capsys: Shown, *, check: bool = False) -> tuple[int, dict[str, str], str]:
    """Return the exit code, the state of each part, and everything that was printed."""
    capsys.readouterr()
    words = ["--check"] if check else []
    code = dispatch(["spec", "refresh", *words, "--json", "--project", str(project)])
    said = json.loads(capsys.readouterr().out)
    states = {each["what"]: each["state"] for each in said["steps"]}
    return code, states, json.dumps(said)


def tree(project: Path) -> dict[Path, bytes]:
    return {
        each: each.read_bytes()
        for each in project.rglob("*")
        if each.is_file() and "__pycache__" not in each.parts
    }


def edit(project: Path, old: str, new: str, path: str = SOURCE) -> None:
    text = (project / path).read_text("utf-8")
    assert old in text
    (project / path).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.usefixtures("frozen")
def test_what_is_of_this_code_is_left_as_it_is(project: Path, capsys: Shown) -> None:
    dispatch(["spec", "refresh", "--project", str(project)])  # sheet 99 alone
    before = tree(project)

    code, states, _ = ran(project, capsys)

    same = dict.fromkeys(("vector", "digest", "costs", "99"), "same")
    assert (code, states) == (0, {**same, "scaffold": "absent"})
    assert tree(project) == before


@pytest.mark.usefixtures("frozen")
def test_a_look_executes_nothing_writes_nothing_and_says_what_is_stale(
    project: Path, capsys: Shown
) -> None:
    dispatch(["spec", "refresh", "--project", str(project)])
    edit(project, "randrange(10)", "randrange(12)")
    before = tree(project)

    code, states, said = ran(project, capsys, check=True)

    assert code == 1
    assert (states["vector"], states["costs"]) == ("stale", "stale")
    assert "src/herd.py differs" in said
    assert '"next": ["twice spec refresh"]' in said
    assert tree(project) == before


def test_code_that_changed_is_recorded_and_measured_anew(
    project: Path, capsys: Shown, measured: list[dict[str, Any]]
) -> None:
    before = open_workspace(project).text("01", "vector_digest")
    edit(project, "randrange(10)", "randrange(12)")

    code, states, said = ran(project, capsys)

    expected = {"vector": "updated", "digest": "updated", "scaffold": "absent", "costs": "updated"}
    assert (code, states) == (0, {**expected, "99": "updated"})
    workspace = open_workspace(project)
    with refreshing.RunRecord.open(project / VECTOR) as record:
        assert workspace.text("01", "vector_digest") == digest_vector(record) != before
    assert before in said
    assert measured[0]["budget_percent"] == 50
    assert workspace.text("99", "status") == "draft"
    assert '"next": ["twice scaffold herd"]' in said


def test_a_comment_moves_the_vector_and_not_its_digest(
    project: Path, capsys: Shown, measured: list[dict[str, Any]]
) -> None:
    with (project / SOURCE).open("a", encoding="utf-8") as file:
        file.write("# seen\n")

    _, states, _ = ran(project, capsys)

    assert (states["vector"], states["digest"]) == ("updated", "same")
    assert len(measured) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [("        weather.step()\n", "        raise ValueError\n"), ("def main", "def no")],
)
def test_a_run_that_does_not_end_well_replaces_nothing(
    project: Path, capsys: Shown, old: str, new: str
) -> None:
    edit(project, old, new)
    before = tree(project)

    with pytest.raises((SpecIncomplete, refreshing.TwiceError)):
        ran(project, capsys)

    assert tree(project) == before


def test_a_vector_that_is_gone_is_recorded_as_the_sheets_say(
    project: Path, capsys: Shown, measured: list[dict[str, Any]]
) -> None:
    (project / VECTOR).unlink()

    code, states, said = ran(project, capsys)

    assert (code, states["vector"], states["digest"]) == (0, "updated", "same")
    assert "it is not there" in said
    assert measured == []


def test_a_vector_of_another_run_than_the_sheets_say_is_recorded_anew(
    project: Path, capsys: Shown, measured: list[dict[str, Any]]
) -> None:
    edit(project, '"ticks=4"', '"ticks=5"', f"{FOLDER}/00-scope-and-goals.md")

    _, states, said = ran(project, capsys)

    assert (states["vector"], states["digest"], states["99"]) == ("updated", "updated", "absent")
    assert "the sheets say another run" in said
    assert measured == []


def moved_digest(project: Path) -> None:
    sheet = project / FOLDER / "01-determinism-class.md"
    digest = open_workspace(project).text("01", "vector_digest")
    sheet.write_text(
        sheet.read_text("utf-8").replace(digest, f"blake3:{'0' * len(digest[7:])}"), "utf-8"
    )


def edited_by_hand(project: Path) -> None:
    edit(project, "import", "import ", "determinism/seeds.py")


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize(
    ("change", "code", "scaffold", "digest"),
    [
        (lambda _: None, 0, "same", "same"),
        (moved_digest, 0, "updated", "updated"),
        (edited_by_hand, 1, "left", "same"),
    ],
    ids=["nothing", "digest", "by-hand"],
)
def test_generated_files_follow_and_those_that_were_changed_are_listed(
    tmp_path: Path,
    capsys: Shown,
    change: Callable[[Path], None],
    code: int,
    scaffold: str,
    digest: str,
) -> None:
    system = Path(shutil.copytree(SYSTEMS / "orders", tmp_path / "orders"))
    before = tree(system)
    change(system)
    mine = (system / "determinism" / "seeds.py").read_bytes()

    given, states, said = ran(system, capsys)

    assert (given, states["scaffold"], states["digest"]) == (code, scaffold, digest), said
    assert (system / "determinism" / "seeds.py").read_bytes() == mine
    assert ("determinism/seeds.py (it was changed)" in said) is (scaffold == "left")
    assert {path.name for path, data in tree(system).items() if data != before[path]} <= {
        "seeds.py",
        "99-determinism-and-replay-specification.md",
    }


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("check", [[], ["--check"]])
def test_a_vector_outside_of_the_project_is_refused_and_left(
    project: Path, check: list[str]
) -> None:
    outside = project.parent / "theirs.twice"
    outside.write_bytes(b"somebody's")
    workspace = open_workspace(project)
    sheet = workspace.sheets["01"].with_value("vector", "../theirs.twice")
    save(workspace, replace(workspace, sheets={**workspace.sheets, "01": sheet}))

    with pytest.raises(SheetRefused, match="outside of the project"):
        dispatch(["spec", "refresh", *check, "--project", str(project)])

    assert outside.read_bytes() == b"somebody's"
