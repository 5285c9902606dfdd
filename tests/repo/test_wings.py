"""The house works without any of its wings: the folder is gone, and so are its commands and nothing else.

A process for each, because what is imported decides: this one has imported every wing already.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from programs import environ
from tiers import sampled

PACKAGE = Path(__file__).parents[2] / "src" / "twice"
WINGS = {
    "checker": {"check", "review", "audit", "agent", "mcp"},
    "specification": {"spec", "gate", "cost", "scaffold", "agent", "mcp"},
    "tools": {"tools", "mcp"},
    "assets": {"asset"},
    "agent": {"agent", "mcp"},
}
SCRIPT = """
import sys
from twice.cli import dispatch

def run(*words):
    try:
        return dispatch([*words])
    except Exception as error:
        print(type(error).__name__, error, file=sys.stderr)
        return 2

print(run("record", "p.py", "--seed", "1", "-o", "a.twice", "--quiet"))
print(run("verify", "a.twice", "--no-statement"))
print(run("record", "p.py", "--seed", "2", "-o", "b.twice", "--quiet"))
print(run("diagnose", "a.twice", "b.twice", "--anyway"))
print(run("show", "a.twice"))
print(run("--help"))
"""


@pytest.mark.integration
@pytest.mark.parametrize("wing", sampled(WINGS, {"checker"}))
def test_what_is_left_works_without_a_wing(wing: str, tmp_path: Path) -> None:
    left = tmp_path / "src" / "twice"
    shutil.copytree(PACKAGE, left, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(left / wing)
    (tmp_path / "p.py").write_text("import random\nprint(random.random())\n", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False,
        env=environ({"PYTHONPATH": str(left.parent)}),
    )  # fmt: skip

    assert "Error" not in done.stderr, done.stderr
    codes = [line for line in done.stdout.splitlines() if line in {"0", "1", "2"}]
    assert codes == ["0", "0", "0", "1", "0", "0"], done.stdout + done.stderr
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")}
    assert not listed & WINGS[wing]
    for other, commands in WINGS.items():
        assert other == wing or commands - WINGS[wing] <= listed
