"""This project's own specification: it is held in CI, and what was laid down from it is as it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import cli
from twice.foundation.digests import digest_bytes

REPOSITORY = Path(__file__).parents[2]
PROJECT = REPOSITORY / "determinism"
WORKSPACE = PROJECT / "determinism-and-replay"


def test_ci_runs_the_gate_after_the_checker() -> None:
    lines = (REPOSITORY / ".ci" / "run").read_text("utf-8").splitlines()
    ours = [each.partition(".venv/bin/twice ")[2] for each in lines if ".venv/bin/twice " in each]

    assert ours == ["check src", "gate --no-write determinism"]
    assert "set -euo pipefail" in lines


@pytest.mark.integration
def test_no_sheet_leaves_anything_open_or_moved_without_a_version() -> None:
    done = cli("spec", "status", "--open", cwd=PROJECT)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "open" not in done.stdout, done.stdout
    assert "changed" not in done.stdout, done.stdout


@pytest.mark.integration
def test_what_was_laid_down_is_as_the_sheets_say() -> None:
    done = cli("scaffold", "twice", "--plan", cwd=PROJECT)

    assert "nothing to do" in done.stdout, done.stdout + done.stderr


def test_sheet_99_names_the_gate_that_passed() -> None:
    (sheet,) = WORKSPACE.glob("99-*.md")
    report = digest_bytes((WORKSPACE / "evidence" / "gate.json").read_bytes())

    assert 'status: "accepted"' in sheet.read_text("utf-8")
    assert f'gate_digest: "{report}"' in sheet.read_text("utf-8")
