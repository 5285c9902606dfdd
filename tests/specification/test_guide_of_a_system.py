"""The guide's way from an empty folder: taken literally as far as code and its tests, and whole at tier M."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from guidewalk import blocks, lines_of, run_line, walk, write_sheet

from twice.specification.workspace import FOLDER, open_workspace

pytestmark = pytest.mark.heavy


def test_the_guide_leads_to_code_whose_tests_pass_and_leaves_only_costs_open(
    tmp_path: Path,
) -> None:
    for kind, block in blocks(until="cost"):  # which takes minutes
        if kind == "python":
            (tmp_path / "ferry.py").write_text(block, encoding="utf-8")
        elif block.startswith(f"# {FOLDER}/"):
            write_sheet(tmp_path, block, {})
        for line in lines_of(block):
            run_line(tmp_path, line)

    told = subprocess.run(
        [sys.executable, "-m", "twice", "spec", "status", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    status = json.loads(told.stdout)
    opened = [(each["sheet"], one["key"]) for each in status["sheets"] for one in each["open"]]
    assert opened == [("13", "rules"), ("13", "measured")]
    assert status["next"] == ["twice cost --write"]
    judged = subprocess.run(
        [sys.executable, "-m", "twice", "gate", "--only", "5,7"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert judged.returncode == 0, judged.stdout


def test_at_tier_m_at_most_fifteen_commands_lead_to_a_gate_that_passes(tmp_path: Path) -> None:
    commands = walk(tmp_path, effort=400)

    report = json.loads((tmp_path / FOLDER / "evidence" / "gate.json").read_bytes())
    assert (report["result"], report["tier"]) == ("PASS", "M")
    assert commands <= 15
    assert open_workspace(tmp_path).text("99", "status") == "accepted"
