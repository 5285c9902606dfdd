"""The property suite, run by pytest in a process of its own, with a witness of what was really run.

The settings are the project's own, without ``addopts``; options and plugins of this machine do not count.
pytest would look for settings above the project, too; the gate does not, so that a report means the same
wherever the project lies.

Invariant: a suite that runs no test has not passed.

Source: pytest, "Configuration", initialization: determining rootdir and configfile.
"""

from __future__ import annotations

import ast
import configparser
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from twice.foundation.properties import PROPERTIES
from twice.specification.gate.evidence.context import EvidenceContext, MissingEvidence

_SECONDS_MAX: Final = 3600
_TOLD_MAX: Final = 300
_WITNESS: Final = "twice.testing.witness"  # loaded by name, in pytest's process
_OF_THIS_MACHINE: Final = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
_INSTALLED: Final = frozenset({"site-packages", "dist-packages", ".venv"})
_COUNTEREXAMPLES: Final = "counterexamples.jsonl"
_SETTINGS: Final = {
    "pytest.toml": "", ".pytest.toml": "", "pytest.ini": "", ".pytest.ini": "",
    "pyproject.toml": "pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest",
}  # fmt: skip
"""Files of settings in the order in which pytest looks, and the section that a shared one has them in."""


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """The property suite, run: properties that code of tests which ran ``exercised``, tests ``left_out`` or ``skipped``.

    ``database`` is what is wrong with the folder of counterexamples, whose lines ``passed_over`` no test replayed; ``told``
    the last line of pytest, when nothing ran; ``loaded`` are files of the project.
    """

    exit_code: int
    passed: int
    failed: tuple[str, ...]
    exercised: tuple[str, ...]
    database: str
    told: str
    found: int = 0
    left_out: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()


def gather_suite(context: EvidenceContext) -> SuiteRun:
    """Run the tests that sheet 12 names."""
    project, spec = context.project, context.workspace
    tests, database = sorted({*spec.strings("12", "tests")}), spec.text("12", "database")
    if not tests:
        raise MissingEvidence("sheet 12 names no tests")
    if find_spec("pytest") is None:
        raise MissingEvidence("pytest is not installed: pip install pytest hypothesis")
    context.doing("running the property suite")
    results = context.scratch / "suite.json"
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", _WITNESS,
        f"--twice-witness={results}", f"--rootdir={project}", f"--confcutdir={project}",
        "-c", str(_find_settings(project, tests) or os.devnull), "-o", "addopts=", "--", *tests,
    ]  # fmt: skip
    environ = {key: value for key, value in os.environ.items() if key not in _OF_THIS_MACHINE}
    try:
        done = subprocess.run(
            command, cwd=project, env={**environ, "PYTHONDONTWRITEBYTECODE": "1"},
            timeout=_SECONDS_MAX, check=False, stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        reason = f"the property suite ran for more than {_SECONDS_MAX} s"
        raise MissingEvidence(reason) from None
    seen: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # pytest may not have come to its end
        seen = json.loads(results.read_bytes())
    found, came = seen.get("found", ()), seen.get("outcomes", {})
    last = done.stdout.decode(errors="replace").strip().rpartition("\n")[2]
    passed, failed, skipped, xfailed = (
        tuple(name for name, outcome in came.items() if outcome == wanted)
        for wanted in ("passed", "failed", "skipped", "xfailed")
    )
    loaded = (Path(e) for e in sorted(seen.get("loaded", ())) if e.endswith(".py"))
    own = (each.relative_to(project) for each in loaded if each.is_relative_to(project))
    kept = project / database / _COUNTEREXAMPLES
    lines = kept.read_bytes().splitlines() if database and kept.is_file() else []
    replayed = seen.get("replayed", {}).get(str(kept.parent.resolve()), ())
    left_out = (*seen.get("unfound", ()), *(each for each in found if each not in came))
    return SuiteRun(
        exit_code=done.returncode,
        passed=len(passed),
        failed=(*failed, *seen.get("broken", ())),
        exercised=tuple(_find_exercised(project, tests, {*passed, *failed})),
        database=_find_fault_of_database(project, database),
        told="" if came else last[:_TOLD_MAX],
        found=len(found),
        left_out=tuple(map(context.hide_folders, left_out)),
        skipped=(*skipped, *xfailed),
        passed_over=tuple(
            f"{kept.relative_to(project).as_posix()}:{at}"
            for at in range(1, len(lines) + 1)
            if at not in replayed
        ),
        loaded=tuple(e.as_posix() for e in own if _INSTALLED.isdisjoint(e.parts)),
    )


def _find_exercised(project: Path, tests: Sequence[str], ran: Collection[str]) -> Iterator[str]:
    """Yield the properties that code of the tests which ran uses, as Python or as the sheet writes them."""
    used: set[str] = set()
    for top in tests:
        path = project / top.partition("::")[0]
        for each in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            start = f"{each.relative_to(project).as_posix()}::"
            inside = [name.removeprefix(start) for name in ran if name.startswith(start)]
            if inside:
                names = {name.partition("[")[0].rpartition("::")[2] for name in inside}
                used |= {
                    name.replace("-", "_") for name in read_used_names(each.read_bytes(), names)
                }
    for name in PROPERTIES:
        if any(name.replace("-", "_") in each for each in used):
            yield name


def read_used_names(source: bytes, ran: Collection[str]) -> set[str]:
    """Return the names and texts in code that runs: no comment, docstring, import, nor a test that did not run."""
    used: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        match waiting.pop():
            case ast.Import() | ast.ImportFrom():
                continue
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) as node:
                if name.startswith("test") and name not in ran:
                    continue
                used.add(name)
            case (
                ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)) as node
            ):
                used.add(name)
            case node:
                pass
        # A text that stands alone is a docstring, or as good as a comment.
        waiting += [
            each
            for each in ast.iter_child_nodes(node)
            if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        ]
    return used


def _find_fault_of_database(project: Path, folder: str) -> str:
    """Return what is wrong with the folder of counterexamples; "" when nothing is."""
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


def list_pytest_files(project: Path, tests: Sequence[str]) -> Iterator[str]:
    """Yield every file, from the project on, that settles what pytest runs if it is there."""
    tops = [project / each.partition("::")[0] for each in tests]
    for folder in sorted({each for top in tops for each in _list_folders(top, project)}):
        for name in (*_SETTINGS, "conftest.py"):
            yield (folder / name).relative_to(project).as_posix()


def _list_folders(start: Path, project: Path) -> list[Path]:
    """Return the folders from a place up to the project."""
    every = (start, *start.parents)
    return [each for each in every if each.is_relative_to(project) and not each.is_file()]


def _find_settings(project: Path, tests: Sequence[str]) -> Path | None:
    """Return the file whose settings are in force for some tests of a project; None for none."""
    tops = [str(project / each.partition("::")[0]) for each in tests]
    for folder in _list_folders(Path(os.path.commonpath(tops)), project):
        for name, section in _SETTINGS.items():
            path = folder / name
            if path.is_file() and (not section or _has_section(path, section)):
                return path
    return None


def _has_section(path: Path, section: str) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".toml":
            return section in tomllib.loads(text).get("tool", {})
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read_string(text)
    except (OSError, ValueError, configparser.Error):
        return True  # It is pytest's to refuse.
    return parser.has_section(section)
