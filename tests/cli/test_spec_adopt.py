"""``twice spec adopt``: workspaces of prose sheets, what goes on from there, and every wrong folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from twice.cli import main
from twice.specification.location import FOLDER
from twice.specification.schema import SHEETS
from twice.specification.workspace import open_component, open_workspace

SET = Path(__file__).parents[1] / "corpora" / "prose_sheets"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for each in ("tidepool", "ferries", "workshop"):
        shutil.copytree(SET / each, tmp_path / each)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def read_bytes(folder: Path) -> dict[str, bytes]:
    return {
        each.relative_to(folder).as_posix(): each.read_bytes()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert run(["spec", "adopt", *words]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.count("E-") == 1, said
    return said


def test_sheets_are_adopted_with_their_text_and_the_files_stay(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = read_bytes(project / "tidepool")
    assert run(["spec", "adopt", "tidepool"]) == 1
    said = capsys.readouterr().out
    assert '  class: "bit-exact" (tidepool/01-determinism-class.md:3)' in said
    assert "  vector: ?" in said
    assert read_bytes(project / "tidepool") == before
    for sheet in open_workspace(project).sheets.values():
        assert sheet.body == before[sheet.schema.file_name].decode()


def test_a_dry_run_says_the_same_and_writes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["spec", "adopt", "tidepool", "--dry-run", "--json"]) == 1
    dry = json.loads(capsys.readouterr().out)["components"][0]
    assert not (project / FOLDER).exists()
    assert run(["spec", "adopt", "tidepool", "--json"]) == 1
    wet = json.loads(capsys.readouterr().out)["components"][0]
    assert {key for key in wet if wet[key] != dry[key]} == {"wrote"}
    assert len(wet["wrote"]) == 13


def test_adopting_again_changes_no_byte_and_a_half_adopted_workspace_is_completed(
    project: Path,
) -> None:
    run(["spec", "adopt", "tidepool"])
    whole = read_bytes(project / FOLDER)
    (project / FOLDER / "03-rng-isolation-spec.md").unlink()
    assert run(["spec", "adopt", "tidepool"]) == 1
    assert read_bytes(project / FOLDER) == whole


def test_a_half_adopted_workspace_with_a_changed_sheet_is_refused_by_name(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["spec", "adopt", "tidepool"])
    (project / FOLDER / "03-rng-isolation-spec.md").unlink()
    sheet = project / FOLDER / "02-seed-governance-spec.md"
    sheet.write_text(sheet.read_text("utf-8") + "\nMore.\n", encoding="utf-8")
    before = read_bytes(project / FOLDER)
    said = refused(capsys, "tidepool")
    assert f"E-OUTPUT-001  1 sheet of the workspace would be replaced: {FOLDER}/02-" in said
    assert "; 03 is not" in said
    assert read_bytes(project / FOLDER) == before


def test_status_and_init_go_on_with_what_is_open(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["spec", "adopt", "workshop", "--component", "belt"])
    capsys.readouterr()
    assert run(["spec", "status", "--json"]) == 1
    status = json.loads(capsys.readouterr().out)
    opened = {each["sheet"]: {gap["key"] for gap in each["open"]} for each in status["sheets"]}
    assert opened["00"] == {"owner", "seed", "sources", "goals", "traits"}

    no = "branching,concurrency,floating-point,gpu,external-effects,hashed-snapshots,audit-log,contested"
    words = [
        "--component",
        "belt",
        "--program",
        "other.py:main",
        "--seed",
        "7",
        "--goal",
        "no jams",
    ]
    assert run(["spec", "init", *words, "--no", no, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    answered = {(each["sheet"], each["key"]) for each in told["answered"]}
    assert answered == {
        ("00", "seed"), ("00", "goals"), ("00", "traits"), ("01", "contested"), ("01", "closed_world"),
    }  # fmt: skip
    workspace = open_component(project, "belt")
    assert workspace.text("00", "program") == "belt/line.py:main"
    assert (workspace.text("01", "class"), "02" in workspace.sheets) == ("statistical", True)
    assert run(["spec", "init", *words]) == 2
    assert "has 5 sheets already" in capsys.readouterr().err


def test_init_asks_only_for_what_sheets_leave_open(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["spec", "adopt", "ferries"])
    capsys.readouterr()
    assert run(["spec", "init", "--component", "ferries"]) == 2
    said = capsys.readouterr().err
    assert "replay, branching, concurrency" in said
    for settled in ("state", "diverging", "contested"):
        assert settled not in said.partition("Expected answers to:")[2].partition("\n")[0]


def test_each_component_gets_a_workspace_of_its_own(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["spec", "adopt", "workshop"]) == 1
    assert "twice spec add --component kiln" in capsys.readouterr().out
    names = [open_component(project, each).component() for each in ("belt", "kiln")]
    assert names == ["belt", "kiln"]
    assert run(["spec", "status"]) == 2
    assert "has sheets of belt, kiln, and none was named" in capsys.readouterr().err
    assert run(["spec", "status", "--component", "kiln"]) == 1
    assert capsys.readouterr().out.startswith("kiln: tier M")
    assert run(["gate", "--component", "belt", "--only", "1", "--no-write"]) == 1
    assert "sheet 02 (Seed governance) is not there" in capsys.readouterr().out


def test_a_component_beside_others_begins_in_a_folder_of_its_own(project: Path) -> None:
    run(["spec", "adopt", "workshop", "--component", "kiln"])
    assert run(["spec", "adopt", "tidepool", "--component", "tidepool"]) == 1
    assert open_component(project, "tidepool").base == f"{FOLDER}/tidepool"


def test_a_sheet_with_a_head_of_its_own_is_taken_as_it_is(project: Path) -> None:
    run(["spec", "adopt", "tidepool"])
    (project / FOLDER).rename(project / "headed")
    shutil.rmtree(project / "headed" / "evidence")
    assert run(["spec", "adopt", "headed"]) == 1
    assert read_bytes(project / FOLDER) == read_bytes(project / "headed")


def test_a_sentence_where_a_head_has_a_value_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = project / "tidepool" / SHEETS["01"].file_name
    sheet.write_text(
        '---\nid: "01"\nclass: "as exact as we can"\nscope: the labs\n---\n', encoding="utf-8"
    )
    said = refused(capsys, "tidepool")
    assert "tidepool/01-determinism-class.md:3" in said
    assert "as exact as we can" in said
    assert "01-determinism-class.md:4" in said
    assert not (project / FOLDER).exists()


def test_the_specification_of_another_component_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["spec", "adopt", "tidepool"])
    before = read_bytes(project / FOLDER)
    said = refused(capsys, "ferries", "--component", "ferries")
    assert said.startswith("E-SPEC-006")
    assert "'tidepool'" in said
    assert "'ferries'" in said
    assert read_bytes(project / FOLDER) == before
    assert "E-SPEC-006" in refused(capsys, "tidepool", "--component", "rockpool")
    assert run(["spec", "status", "--component", "rockpool"]) == 2
    assert "E-SPEC-006" in capsys.readouterr().err


def test_wrong_folders_are_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "empty").mkdir()
    (project / "empty" / "01-our-class.md").write_text("Class: bit-exact\n", encoding="utf-8")
    assert "empty has no sheet in it" in refused(capsys, "empty")
    assert "nowhere is not a folder that can be read" in refused(capsys, "nowhere")
    assert "has no folder with sheets of 'oven'" in refused(
        capsys, "workshop", "--component", "oven"
    )
    (project / "ferries").rename(project / FOLDER)
    assert f"git mv {FOLDER} prose-sheets" in refused(capsys, FOLDER)


def test_a_link_out_of_the_folder_and_bytes_that_are_no_text_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = project / "ferries" / SHEETS["03"].file_name
    sheet.unlink()
    sheet.symlink_to(project / "tidepool" / SHEETS["03"].file_name)
    assert "it is a link to" in refused(capsys, "ferries")
    (project / "workshop" / "pool").symlink_to(project / "tidepool")
    assert "workshop/pool:1: it is a link to" in refused(capsys, "workshop")
    sheet.unlink()
    sheet.write_bytes(b"# Generators\n\nLibrary: caf\xe9\n")
    said = refused(capsys, "ferries")
    assert "ferries/03-rng-isolation-spec.md:3: byte" in said
    assert "not UTF-8" in said
    assert not (project / FOLDER).exists()
