"""The guide's way from an empty folder, taken literally as far as the code that is laid down and its tests."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from twice.specification.front_matter import parse_front_matter
from twice.specification.workspace import FOLDER, open_workspace, save

pytestmark = pytest.mark.heavy

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "specified-system.md"
BLOCKS = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[tuple[str, str]]:
    """Give the guide's blocks until costs are measured, which takes minutes."""
    text = GUIDE.read_text("utf-8").partition("\n## cost")[0]
    return ((match[1], match[2]) for match in BLOCKS.finditer(text))


def commanded(folder: Path, block: str) -> None:
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line)
        python = [sys.executable, *([] if words[0] == "python" else ["-m", "twice"])]
        done = subprocess.run(
            [*python, *words[1:]], cwd=folder, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        leaves_open = words[:3] == ["twice", "spec", "fill"]
        assert done.returncode == int(leaves_open), (line, done.stdout, done.stderr)


def written(folder: Path, block: str) -> None:
    path, _, said = block.removeprefix("# ").partition("\n")
    before = open_workspace(folder)
    (number,) = [each.number for each in before.sheets.values() if each.path == path]
    sheet = before.sheets[number]
    for key, entry in parse_front_matter(f"---\n{said}---\n", path)[0].entries.items():
        assert '"?"' in re.findall(rf"^{key}:.*(?:\n  .*)*", sheet.source, re.MULTILINE)[0]
        sheet = sheet.with_value(key, entry.value)
    save(before, type(before)(folder, {**before.sheets, number: sheet}))


def test_the_guide_leads_to_code_whose_tests_pass_and_leaves_only_costs_open(
    tmp_path: Path,
) -> None:
    for kind, block in blocks():
        if kind == "python":
            (tmp_path / "ferry.py").write_text(block, encoding="utf-8")
        elif block.startswith(f"# {FOLDER}/"):
            written(tmp_path, block)
        elif block.startswith(("twice ", "python ")):
            commanded(tmp_path, block)

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
