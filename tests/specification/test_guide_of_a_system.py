"""The guide's way from an empty folder, at tier M."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from guidewalk import walk

from twice.specification.location import FOLDER
from twice.specification.workspace import open_workspace

pytestmark = pytest.mark.heavy


def test_at_tier_m_at_most_fifteen_commands_lead_to_a_gate_that_passes(tmp_path: Path) -> None:
    commands = walk(tmp_path, effort=80_000)

    report = json.loads((tmp_path / FOLDER / "evidence" / "gate.json").read_bytes())
    assert (report["result"], report["tier"]) == ("PASS", "M")
    assert commands <= 15
    assert open_workspace(tmp_path).text("99", "status") == "accepted"
