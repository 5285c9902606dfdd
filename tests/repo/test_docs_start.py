"""What the first page shows works as it is shown."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import twice
from programs import cli, environ

pytestmark = pytest.mark.integration

START = Path(__file__).parents[2] / "docs" / "start.md"


def test_the_program_of_the_first_page_records_verifies_and_runs_in_a_block(
    tmp_path: Path,
) -> None:
    program, block = re.findall(r"```python\n(.*?)```", START.read_text("utf-8"), re.DOTALL)
    (tmp_path / "pond.py").write_text(program)
    (tmp_path / "notebook.py").write_text(program + block)

    record = ("record", "pond.py:main", "--seed", 7, "--set", "days=30", "-o", "a.twice")
    recorded = cli(*record, cwd=tmp_path)
    verified = cli("verify", "a.twice", "--restores", cwd=tmp_path)
    ran = subprocess.run(
        [sys.executable, "notebook.py"], cwd=tmp_path, env=environ(), check=False
    )  # fmt: skip

    assert (recorded.returncode, verified.returncode, ran.returncode) == (0, 0, 0)
    with twice.open(tmp_path / "pond.twice") as inline:
        assert (inline.ticks, inline.setup.program.kind) == (30, "inline")
