"""A project in a folder, and ``twice check`` called in it without a new process."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from twice.cli import dispatch
from twice.errors import TwiceError

LISTING = """
import os


def names(folder):
    return [name for name in os.listdir(folder)]
"""
"""One finding: unsorted-listing, high, with a safe fix."""

CLOCK = """
import time


class World:
    def step(self):
        self.now = time.time()
        return self.now
"""
"""One finding: clock, medium."""


@dataclass
class Said:
    """What one call came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def rules(self) -> list[str]:
        return [each["rule"] for each in self.document["findings"]]


class Project:
    """A folder that is the working folder while the test runs."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def write(self, **files: str) -> None:
        """Write files: ``a="..."`` is a.py, and ``config`` the table in pyproject.toml."""
        for name, text in files.items():
            if name == "config":
                path = self.folder / "pyproject.toml"
                text = f"[tool.twice.check]\n{textwrap.dedent(text)}"
            else:
                path = self.folder / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def check(self, *arguments: object) -> Said:
        """Call ``twice check``."""
        self._capsys.readouterr()
        try:
            code = dispatch(["check", *map(str, arguments)])
        except TwiceError as error:
            return Said(2, self._capsys.readouterr().out, str(error))
        captured = self._capsys.readouterr()
        return Said(code, captured.out, captured.err)

    def rules(self, *arguments: object) -> list[str]:
        """Return the rules that found something, in order."""
        return self.check("--json", *arguments).rules

    def findings(self, *arguments: object) -> list[dict[str, Any]]:
        """Return the findings of the document."""
        return list(self.check("--json", *arguments).document["findings"])

    def summary(self, *arguments: object) -> dict[str, Any]:
        """Return the numbers of the document."""
        return dict(self.check("--json", *arguments).document["summary"])
