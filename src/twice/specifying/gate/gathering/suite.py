"""The property suite, run by pytest in a process of its own.

Invariant: a suite that runs no test has not passed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from twice.foundation.properties import PROPERTIES
from twice.specifying.gate.evidence import Suite
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench

_SECONDS_MAX: Final = 3600
_TOLD_MAX: Final = 300


def gather_suite(bench: Bench) -> Suite | Unavailable:
    """Run the tests that sheet 12 names."""
    tests = bench.plan.tests
    if not tests:
        return Unavailable("sheet 12 names no tests")
    if find_spec("pytest") is None:
        return Unavailable("pytest is not installed: pip install pytest hypothesis")
    bench.doing("running the property suite")
    results = bench.scratch / "suite.xml"
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        f"--junitxml={results}", "--", *tests,
    ]  # fmt: skip
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=bench.project, env=environ, timeout=_SECONDS_MAX, check=False,
            stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Unavailable(f"the property suite ran for more than {_SECONDS_MAX} s")
    passed, failed = _results(results)
    last = done.stdout.decode(errors="replace").strip().rpartition("\n")[2]
    return Suite(
        exit_code=done.returncode,
        passed=passed,
        failed=failed,
        named=_named(bench.project, tests),
        database=_database(bench.project, bench.plan.database),
        told="" if passed or failed else last[:_TOLD_MAX],
    )


def _results(path: Path) -> tuple[int, tuple[str, ...]]:
    """Count what passed, and name what did not."""
    try:
        cases = ET.parse(path).getroot().iter("testcase")  # noqa: S314  (pytest wrote it)
    except (OSError, ET.ParseError):
        return 0, ()
    passed, failed = 0, []
    for case in cases:
        ends = {each.tag for each in case}
        if ends & {"failure", "error"}:
            failed.append(f"{case.get('classname', '')}.{case.get('name', '')}".lstrip("."))
        elif "skipped" not in ends:
            passed += 1
    return passed, tuple(sorted(failed))


def _named(project: Path, tests: tuple[str, ...]) -> tuple[str, ...]:
    """Give the properties that the tests name, as Python or as the sheet writes them."""
    text = "\n".join(
        each.read_text(encoding="utf-8", errors="replace")
        for top in tests
        for each in _files(project / top.partition("::")[0])
    )
    return tuple(name for name in PROPERTIES if name in text or name.replace("-", "_") in text)


def _files(top: Path) -> list[Path]:
    return sorted(top.rglob("*.py")) if top.is_dir() else [top] if top.is_file() else []


def _database(project: Path, folder: str) -> str:
    """Say what is wrong with the folder of counterexamples; "" when nothing is."""
    if not folder:
        return "no folder is named"
    if not (project / folder).is_dir():
        return f"{folder} is not there"
    try:
        asked = subprocess.run(
            ["git", "check-ignore", "-q", "--", folder],  # noqa: S607  (git is where the user has it)
            cwd=project, check=False, stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip
    except OSError:
        return ""  # Without git nothing is checked in, and nothing ignored.
    return f"git ignores {folder}" if asked.returncode == 0 else ""
