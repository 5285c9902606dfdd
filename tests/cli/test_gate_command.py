"""``twice gate``, as people and CI run it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "specification" / "gate"))

from gatesystems import build, laid, locked

from programs import cli
from twice.specification.location import FOLDER


def gate(project: Path, *options: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    return twice(project, "gate", *options, hash_seed=hash_seed)


def twice(project: Path, *options: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    return cli(*options, cwd=project, env={"PYTHONHASHSEED": hash_seed})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("command") / "herd", "M").project


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.heavy
def test_a_whole_gate_passes_writes_its_report_and_the_report_stands(project: Path) -> None:
    first = gate(project / "src", hash_seed="1")

    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("PASS: 15 pass, 2 n/a (tier M)\n")
    assert first.stdout.splitlines()[-1] == "settled: sheet 99 names the gate that passed"
    kept = project / FOLDER / "evidence" / "gate.json"
    written = kept.read_bytes()
    assert str(project) not in written.decode()
    assert (project / FOLDER / "evidence" / "gate.md").read_text().startswith("# Gate: PASS")

    again = gate(project, "--json", "--no-write", hash_seed="2")

    assert document(again) == json.loads(written)
    assert kept.read_bytes() == written
    shown = gate(project, "--report")
    assert (shown.returncode, shown.stdout) == (0, first.stdout)
    assert not list(project.rglob("*.partial"))


@pytest.mark.integration
def test_only_some_checks_run_and_nothing_is_written(tmp_path: Path) -> None:
    project = build(tmp_path / "herd", "M").project
    (project / "src" / "herd.py").write_text("raise SystemExit('executed')\n", encoding="utf-8")

    done = gate(project, "--only", "2,9", "--json")

    found = document(done)
    assert done.returncode == 0
    assert [each["id"] for each in found["checks"]] == [2, 9]
    assert {"format", "result", "tier", "checks", "stale"} <= found.keys()
    assert not (project / FOLDER / "evidence" / "gate.json").exists()


@pytest.mark.integration
def test_a_program_that_raises_blocks_what_needs_it(tmp_path: Path) -> None:
    project = build(tmp_path / "herd", "M").project
    (project / "src" / "herd.py").write_text("raise ValueError('no')\n", encoding="utf-8")

    done = gate(project, "--only", "3,5,7", "--json")

    found = document(done)
    assert done.returncode == 2
    assert {each["outcome"] for each in found["checks"]} == {"blocked"}
    assert all("herd.py has no function 'main'" in each["reason"] for each in found["checks"])


@pytest.mark.integration
def test_a_copy_of_a_project_is_judged_by_its_own_code(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project, tmp_path / "copy")
    source = tmp_path / "copy" / "src" / "herd.py"
    source.write_text(source.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")

    done = gate(tmp_path / "copy", "--only", "10")

    assert done.returncode == 1
    assert "recorded from other code: src/herd.py differs" in done.stdout


BAD: list[tuple[str, str, str, str]] = [
    ("05-divergence-protocol.md", "---\nschema", "schema", "E-SPEC-001"),
    ("05-divergence-protocol.md", 'hash: "', 'hush: "', "E-SPEC-001"),
    ("05-divergence-protocol.md", "twice.sheet/1", "twice.sheet/2", "E-SPEC-003"),
    ("05-divergence-protocol.md", 'component: "herd"', 'component: "flock"', "E-SPEC-006"),
    ("02-seed-governance-spec.md", "surface:", 'depends_on: ["03"]\nsurface:', "E-SPEC-002"),
]


@pytest.mark.integration
@pytest.mark.parametrize(("name", "old", "new", "error"), BAD)
@pytest.mark.sample(2)
def test_a_specification_that_cannot_be_read_is_one_error_with_file_and_line(
    tmp_path: Path, name: str, old: str, new: str, error: str
) -> None:
    from gatefacts import good_heads

    laid(tmp_path, good_heads("M"))
    locked(tmp_path)
    sheet = tmp_path / FOLDER / name
    text = sheet.read_text(encoding="utf-8")
    assert old in text
    sheet.write_text(text.replace(old, new, 1), encoding="utf-8")

    done = gate(tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{error}  {FOLDER}/{name}:")
    assert done.stderr.split(f"{name}:")[1].partition(":")[0].isdecimal()
    assert not (tmp_path / FOLDER / "evidence").exists()


@pytest.mark.integration
def test_two_sheets_with_one_number_are_one_error(tmp_path: Path) -> None:
    from gatefacts import good_heads

    laid(tmp_path, good_heads("M"))
    sheet = tmp_path / FOLDER / "05-divergence-protocol.md"
    (tmp_path / FOLDER / "05-another.md").write_bytes(sheet.read_bytes())

    done = gate(tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith("E-SPEC-002  Sheet 05 is there twice")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--only", "18"), "There is no check 18"),
        (("--only", "three"), "no list of checks"),
        (("--only", "3", "--report"), "given together"),
        (("--report",), "E-GATE-001"),
    ],
)
@pytest.mark.sample(2)
def test_wrong_use_exits_2(project: Path, options: tuple[str, ...], words: str) -> None:
    if options == ("--report",):
        project = Path(shutil.copytree(project, project.parent / "bare"))
        (project / FOLDER / "evidence" / "gate.json").unlink(missing_ok=True)

    done = gate(project, *options)

    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.integration
def test_without_a_specification_it_says_how_to_begin(tmp_path: Path) -> None:
    done = gate(tmp_path)

    assert done.returncode == 2
    assert "twice spec init" in done.stderr
