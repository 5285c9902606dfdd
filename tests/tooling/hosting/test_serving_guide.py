"""What the guide to tool sessions shows is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from programs import cli

pytestmark = pytest.mark.integration

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "serving-tools.md"


def test_its_program_runs_and_its_commands_hold(tmp_path: Path) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "program.py").write_text(block, "utf-8")

    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert cli("verify", "session.twice", cwd=tmp_path).stdout.startswith("PASS")
    call = 'call={tool="table.list", arguments={}}'
    branched = cli(
        "branch", "session.twice", "--at", "0", "--input", call, "-o", "other.twice", cwd=tmp_path
    )
    assert branched.returncode == 0, branched.stderr
