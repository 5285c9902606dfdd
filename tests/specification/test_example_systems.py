"""Systems with specifications of their own, one at each tier, in ``examples/systems``: their gates pass."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from programs import cli, environ
from tiers import sampled
from twice.specification.changes import compare_sheet
from twice.specification.lock import read_lock
from twice.specification.workspace import open_workspace
from twice.testing import properties

SYSTEMS = Path(__file__).parents[2] / "examples" / "systems"
KEPT = {"life": "XS", "orders": "M"}
GENERATED = {"training": "S", "market": "L", "clearing": "XL"}


@pytest.fixture(params=sampled(KEPT, {"life"}))
def system(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(SYSTEMS / request.param, tmp_path / request.param))


@pytest.mark.integration
def test_its_gate_passes_at_its_tier(system: Path) -> None:
    done = cli("gate", "--json", cwd=system)
    report = json.loads(done.stdout)

    failed = [each for each in report["checks"] if each["outcome"] in {"fail", "blocked", "waived"}]
    assert failed == [], done.stderr
    assert (done.returncode, report["result"], report["tier"]) == (0, "PASS", KEPT[system.name])


@pytest.mark.heavy
@pytest.mark.parametrize("name", GENERATED)
def test_a_system_that_is_generated_passes_its_gate(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SYSTEMS / "generate.py"), name, str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, text=True, env=environ(), check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / name / "determinism-and-replay/evidence/gate.json").read_text())
    assert (report["result"], report["tier"]) == ("PASS", GENERATED[name])


@pytest.mark.integration
def test_its_report_stands_and_its_scaffold_is_as_the_sheets_say(system: Path) -> None:
    before = {path: path.read_bytes() for path in system.rglob("*") if path.is_file()}

    report = cli("gate", "--report", "--json", cwd=system)
    scaffold = cli("scaffold", system.name, "--plan", cwd=system)
    status = cli("spec", "status", cwd=system)

    assert json.loads(report.stdout)["stale"] is False, report.stdout
    assert report.returncode == 0
    assert "nothing to do" in scaffold.stdout
    assert status.returncode == 0, status.stdout
    assert status.stdout.splitlines()[-1].startswith("settled: "), status.stdout
    assert {path: path.read_bytes() for path in system.rglob("*") if path.is_file()} == before


def test_its_sheet_99_names_the_gate_that_passed(system: Path) -> None:
    (sheet,) = (system / "determinism-and-replay").glob("99-*.md")

    assert 'status: "accepted"' in sheet.read_text("utf-8")


@pytest.mark.parametrize("name", [*KEPT, "determinism"])
def test_every_sheet_says_what_it_said_when_it_was_locked(name: str) -> None:
    project = SYSTEMS.parents[1] / name if name == "determinism" else SYSTEMS / name
    workspace = open_workspace(project)
    lock = read_lock(workspace.folder / "spec.lock")
    cited = workspace.require("99", "it cites the others").rows("sheets")
    digests = {number: str(sheet.digest()) for number, sheet in workspace.sheets.items()}

    states = {number: compare_sheet(workspace, lock, number).state for number in workspace.sheets}
    assert states == dict.fromkeys(workspace.sheets, "same")
    assert {str(row["id"]): row["digest"] for row in cited} == {
        number: digest for number, digest in digests.items() if number != "99"
    }


FAULTS_IN = {
    "training": ("train.py:main", {"steps": 6}, {"set order", "permuted rows"}),
    "orders": ("orders.py:main", {"requests": 4}, {"one ulp"}),
    "market": ("market.py:main", {"agents": 3, "rounds": 3}, {"one ulp"}),
}
"""Program, a small configuration, and the kinds of faults that have no place in its state."""


@pytest.mark.heavy
@pytest.mark.parametrize("name", FAULTS_IN)
def test_every_fault_that_has_a_place_in_it_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, config, nowhere = FAULTS_IN[name]
    monkeypatch.chdir(SYSTEMS / name)

    proof = properties.prove(program, config=config)

    outcomes = {row.kind: row.outcome for row in proof.rows}
    assert {kind for kind, outcome in outcomes.items() if outcome == "not applicable"} == nowhere
    assert {outcomes[kind] for kind in set(outcomes) - nowhere} == {"caught"}, proof.to_text()
