"""``twice check`` as a whole: exit codes, streams, and, in a process of its own, what a quick answer imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from programs import call, environ

LISTING = "import os\n\n\ndef names(folder):\n    return [name for name in os.listdir(folder)]\n"
MODULES = """
import json, sys
from twice.cli import dispatch
dispatch(["check", "--quiet"])
print(json.dumps(sorted(sys.modules)))
"""
HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.twice.check]\n")
    (tmp_path / "a.py").write_text(LISTING)
    return tmp_path


def modules(folder: Path) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", MODULES], cwd=folder, env=environ(), capture_output=True, check=True
    )
    return json.loads(ran.stdout)


def test_exit_codes(folder: Path) -> None:
    (folder / "clean.py").write_text("x = 1\n")
    (folder / "broken.py").write_text("def broken(:\n")

    codes = [call("check", *given, cwd=folder).returncode for given in (
        ("clean.py",), ("a.py",), ("a.py", "broken.py"), ("broken.py",), ("nowhere",),
        ("a.py", "--fail-on", "critical"),
    )]  # fmt: skip

    assert codes == [0, 1, 1, 2, 2, 0]


def test_findings_go_to_standard_output_and_errors_elsewhere(folder: Path) -> None:
    found, refused = call("check", "--json", cwd=folder), call("check", "nowhere", cwd=folder)

    assert (json.loads(found.stdout)["format"], found.stderr) == ("twice.findings/1", "")
    assert (refused.stdout, refused.stderr.partition("  ")[0]) == ("", "E-USE-001")


@pytest.mark.integration
def test_a_quick_answer_imports_no_rule_no_catalogue_and_nothing_heavy(folder: Path) -> None:
    first, second = modules(folder), modules(folder)
    heavy = (
        "numpy",
        "concurrent.futures",
        "twice.checker.rules",
        "twice.checker.catalogue",
    )
    above = (
        "twice.recorder",
        "twice.replayer",
        "twice.diagnosis",
        "twice.checker.syntax.module",
        "twice.cli.run_options",
    )

    assert "twice.checker.rules" in first
    assert [name for name in second if name in heavy or name.startswith(above)] == []


def test_the_hook_calls_a_command_that_there_is(folder: Path) -> None:
    import yaml

    hook, *_ = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    program, *arguments = hook["entry"].split()
    done = call(*arguments, "a.py", cwd=folder)

    assert (program, hook["types_or"], done.returncode) == ("twice", ["python"], 1)


def test_where_a_project_lies_says_nothing_of_its_zones(tmp_path: Path) -> None:
    project = tmp_path / "tests" / "project"
    project.mkdir(parents=True)
    (project / "setup.py").write_text("", encoding="utf-8")
    (project / "loading.py").write_text(LISTING, encoding="utf-8")

    said = json.loads(call("check", str(project), "--json", "--no-cache", cwd=tmp_path).stdout)

    assert [each["severity"] for each in said["findings"]] == ["high"]


def test_the_specification_beside_the_code_declares_the_class(tmp_path: Path) -> None:
    sheets = tmp_path / "determinism-and-replay"
    sheets.mkdir()
    (sheets / "01-determinism-class.md").write_text("---\nclass: logical\n---\n", encoding="utf-8")
    (tmp_path / "loading.py").write_text(LISTING, encoding="utf-8")

    said = json.loads(call("check", ".", "--json", "--no-cache", cwd=tmp_path).stdout)

    assert said["findings"] == []
