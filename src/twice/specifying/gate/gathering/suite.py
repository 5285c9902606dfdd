"""The property suite, run by pytest in a process of its own, with a witness of what was really run.

The settings are the project's own, without ``addopts``; options and plugins of this machine do not count.

Invariant: a suite that runs no test has not passed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from twice.foundation.properties import PROPERTIES
from twice.specifying.gate.evidence import Suite
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench
from twice.specifying.gate.settings import settings_of

_SECONDS_MAX: Final = 3600
_TOLD_MAX: Final = 300
_WITNESS: Final = "twice.testing.witness"  # loaded by name, in pytest's process
_OF_THIS_MACHINE: Final = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
_INSTALLED: Final = frozenset({"site-packages", "dist-packages", ".venv"})
COUNTEREXAMPLES: Final = "counterexamples.jsonl"


def gather_suite(bench: Bench) -> Suite | Unavailable:
    """Run the tests that sheet 12 names."""
    tests = bench.plan.tests
    if not tests:
        return Unavailable("sheet 12 names no tests")
    if find_spec("pytest") is None:
        return Unavailable("pytest is not installed: pip install pytest hypothesis")
    bench.doing("running the property suite")
    results = bench.scratch / "suite.json"
    try:
        done = subprocess.run(
            _command(bench, results), cwd=bench.project, env=_environ(), timeout=_SECONDS_MAX,
            check=False, stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Unavailable(f"the property suite ran for more than {_SECONDS_MAX} s")
    seen = _seen(results)
    came: Mapping[str, str] = seen.get("outcomes", {})
    last = done.stdout.decode(errors="replace").strip().rpartition("\n")[2]
    project, database = bench.project, bench.plan.database
    return Suite(
        exit_code=done.returncode,
        passed=sum(each == "passed" for each in came.values()),
        failed=(*_of(came, "failed"), *seen.get("broken", ())),
        named=_named(project, tests),
        database=_database(project, database),
        told="" if came else last[:_TOLD_MAX],
        found=len(seen.get("found", ())),
        left_out=tuple(
            _shown(each, project)
            for each in (*seen.get("unfound", ()), *_not_run(seen.get("found", ()), came))
        ),
        skipped=(*_of(came, "skipped"), *_of(came, "xfailed")),
        passed_over=_passed_over(project, database, seen.get("replayed", {})),
        loaded=_within(project, seen.get("loaded", ())),
    )


def _command(bench: Bench, results: Path) -> list[str]:
    project, tests = bench.project, bench.plan.tests
    settings = settings_of(project, tests)
    return [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", _WITNESS,
        f"--twice-witness={results}", f"--rootdir={project}", f"--confcutdir={project}",
        "-c", str(settings or os.devnull), "-o", "addopts=", "--", *tests,
    ]  # fmt: skip


def _environ() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in _OF_THIS_MACHINE}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}


def _seen(path: Path) -> dict[str, Any]:
    """Read what the witness wrote; nothing where pytest did not come to its end."""
    try:
        document: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document


def _of(came: Mapping[str, str], what: str) -> tuple[str, ...]:
    return tuple(name for name, each in came.items() if each == what)


def _not_run(found: list[str], came: Mapping[str, str]) -> list[str]:
    return [each for each in found if each not in came]


def _shown(place: str, project: Path) -> str:
    return place.removeprefix(f"{project}/")


def _within(project: Path, files: list[str]) -> tuple[str, ...]:
    """Give the source files that lie in the project, from there on; installed ones may lie there and are none."""
    inside = [Path(each) for each in sorted(files) if Path(each).is_relative_to(project)]
    own = [each.relative_to(project) for each in inside if each.suffix == ".py"]
    return tuple(each.as_posix() for each in own if _INSTALLED.isdisjoint(each.parts))


def _passed_over(project: Path, folder: str, replayed: Mapping[str, list[int]]) -> tuple[str, ...]:
    """Give the lines of the counterexamples that no test replayed."""
    path = project / folder / COUNTEREXAMPLES
    if not folder or not path.is_file():
        return ()
    lines = path.read_bytes().splitlines()
    done = set(replayed.get(str(path.parent.resolve()), ()))
    shown = path.relative_to(project).as_posix()
    return tuple(f"{shown}:{at}" for at in range(1, len(lines) + 1) if at not in done)


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
