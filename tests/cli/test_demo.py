from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from programs import cli
from twice.cli.commands.demo import PLANTED, SHIPPED

pytestmark = pytest.mark.heavy
ROWS = [row.strip() for row in SHIPPED.read_text(encoding="utf-8").splitlines()]


def test_the_demonstration_prints_pass_and_the_planted_line(tmp_path: Path) -> None:
    done = cli("demo", cwd=tmp_path)
    first, second = done.stdout.splitlines()[:2]
    found = re.search(r"at (\S+\.py):(\d+)$", second)

    assert done.returncode == 0, done.stdout + done.stderr
    assert first.startswith("PASS: harbour.py, seed 7")
    assert found is not None
    assert (Path(found[1]), int(found[2])) == (SHIPPED, ROWS.index(PLANTED) + 1)
    assert "for name in self.at_sea:" in done.stdout
    assert "channel: " in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_can_be_looked_at(tmp_path: Path) -> None:
    done = cli("demo", "--keep", "kept", "--json", cwd=tmp_path)
    told = json.loads(done.stdout)
    again = cli("demo", "--keep", "kept", cwd=tmp_path)

    assert told["format"] == "twice.demo/1"
    assert told["as_planted"] is True
    assert told["verification"]["result"] == "PASS"
    assert told["divergence"]["operation"]["line"] == ROWS.index(PLANTED) + 1
    assert Path(told["divergence"]["operation"]["file"]).is_file()
    assert {"harbour.py", "a.twice", "b.twice"} <= {
        path.name for path in (tmp_path / "kept").iterdir()
    }
    assert (again.returncode, again.stderr[:12]) == (2, "E-OUTPUT-001")
