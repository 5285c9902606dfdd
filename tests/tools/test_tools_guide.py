"""The guide to tools lists every error code."""

from __future__ import annotations

import re
from pathlib import Path

from twice.tools.envelope import CODES

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "tools.md").read_text("utf-8")


def test_the_guide_names_every_code() -> None:
    assert re.findall(r"^\| `([a-z_]+)` \|", GUIDE, re.MULTILINE)[-len(CODES) :] == list(CODES)
