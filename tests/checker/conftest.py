"""What the tests of the checker share."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import Project


@pytest.fixture
def project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Project:
    """Create an empty project, with a pyproject.toml of its own so that none above counts."""
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)
