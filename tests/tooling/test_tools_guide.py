"""What the guide to tools shows works as it is shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from programs import cli
from twice.tooling.envelope import CODES

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "tools.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=["declaring", "macros", "cases"])
def test_a_block_of_the_guide_runs(block: str) -> None:
    shown: dict[str, Any] = {"__name__": "guide"}
    exec(compile(block, "guide", "exec"), shown)

    assert shown["session"].calls > 0


@pytest.mark.integration
def test_the_commands_of_the_guide_work(tmp_path: Path) -> None:
    (tmp_path / "points.py").write_text(BLOCKS[0])
    listed = cli("tools", "list", "points.py:registry", cwd=tmp_path)
    called = cli(
        "tools", "call", "points.py:registry", "scatter.points", "--args", '{"n": 3}',
        "--seed", "42", "--json", cwd=tmp_path,
    )  # fmt: skip

    assert (listed.returncode, called.returncode) == (0, 0)


def test_the_guide_names_every_code() -> None:
    assert re.findall(r"^\| `([a-z_]+)` \|", GUIDE, re.MULTILINE)[-len(CODES) :] == list(CODES)
