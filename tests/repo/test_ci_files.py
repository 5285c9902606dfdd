"""What other projects use in CI works: the action's own steps are run, hooks and guide name real commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from programs import cli, environ
from twice.cli.group import COMMANDS

REPOSITORY = Path(__file__).parents[2]
ACTION: Any = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
HOOKS: Any = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
GUIDE = (REPOSITORY / "docs" / "guides" / "ci.md").read_text(encoding="utf-8")
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
VECTOR = "determinism-and-replay/evidence/vector.twice"
PROGRAM = """
def main(run):
    rng = run.rng("walk")
    total = run.track("total", [])
    for tick in run.ticks(20):
        total.append(int(rng.integers(10)) + 0)
"""
LOST = """
kept = []

def main(run):
    seen = run.track("seen", [])
    for tick in run.ticks(4):
        kept.append(object())
        seen.append(id(kept[-1]))
"""
"""Its state is an address, another one in every process."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project with a program and a test vector."""
    folder = tmp_path / "project"
    (folder / VECTOR).parent.mkdir(parents=True)
    (folder / "walk.py").write_text(PROGRAM, encoding="utf-8")
    made = cli("record", "walk.py:main", "--seed", 3, "-o", VECTOR, cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder


def step(name: str, project: Path, **inputs: str) -> tuple[int, str, str, str]:
    """Run a step's script as a runner does; its exit code, output, outputs and summary."""
    chosen = {key: str(each.get("default", "")) for key, each in ACTION["inputs"].items()}
    chosen |= inputs
    side = project.parent
    names = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
    files = {each: side / each.lower() for each in names}
    for file in files.values():
        file.write_text("", encoding="utf-8")
    binaries = side / "bin"
    binaries.mkdir(exist_ok=True)
    if not (binaries / "python").exists():
        (binaries / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        (binaries / "python").chmod(0o755)
    variables = {key: _filled(str(text), chosen) for key, text in STEPS[name]["env"].items()}
    script = side / "step.sh"
    script.write_text(STEPS[name]["run"], encoding="utf-8")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=project,
        env=environ(
            {
                **variables,
                **{key: str(file) for key, file in files.items()},
                "RUNNER_TEMP": str(side),
                "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
            }
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    told = [file.read_text(encoding="utf-8") for file in files.values()]
    return done.returncode, done.stdout + done.stderr, told[0], told[1]


def _filled(text: str, inputs: Mapping[str, str]) -> str:
    match = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", text)
    assert match is not None, f"{text!r} is one input"
    return inputs[match[1]]


def test_inputs_reach_scripts_as_variables_alone() -> None:
    scripts = [each["run"] for each in STEPS.values() if "run" in each]

    assert scripts
    assert [text for text in scripts if "${{" in text] == []
    assert all(each["shell"] == "bash" for each in STEPS.values() if "run" in each)
    used = set(re.findall(r"inputs\.([a-z-]+)", (REPOSITORY / "action.yml").read_text("utf-8")))
    assert used == set(ACTION["inputs"])


def test_every_output_is_that_of_a_step() -> None:
    ids = {each["id"] for each in STEPS.values() if "id" in each}
    named = [re.findall(r"steps\.(\w+)\.", each["value"]) for each in ACTION["outputs"].values()]

    assert {each for found in named for each in found} == ids == {"verify", "gate"}


def test_actions_of_others_are_named_with_a_version() -> None:
    used = [each["uses"] for each in STEPS.values() if "uses" in each]

    assert [each for each in used if not re.fullmatch(r"actions/[\w-]+@v\d+", each)] == []


@pytest.mark.integration
def test_a_vector_that_verifies_passes(project: Path) -> None:
    code, said, output, summary = step("Verify every test vector", project)

    assert (code, output) == (0, "result=PASS\n"), said
    assert f"| `{VECTOR}` | PASS |" in summary


@pytest.mark.integration
def test_a_vector_of_other_code_is_not_passed(project: Path) -> None:
    path = project / "walk.py"
    path.write_text(path.read_text("utf-8").replace("+ 0", "+ 1"), encoding="utf-8")
    code, said, output, summary = step("Verify every test vector", project)

    assert (code, output) == (2, "result=UNKNOWN\n"), said
    assert "| UNKNOWN |" in summary
    assert f"::error title=twice verify::{VECTOR}" in said


@pytest.mark.heavy
def test_a_failure_counts_more_than_what_could_not_be_told(project: Path) -> None:
    (project / "lost.py").write_text(LOST, encoding="utf-8")
    lost = Path(VECTOR).with_name("alost.twice")
    made = cli("record", "lost.py:main", "--seed", 3, "-o", lost, cwd=project)
    assert made.returncode == 0, made.stderr
    (project / Path(VECTOR).with_name("torn.twice")).write_bytes(b"no record\n")
    code, said, output, summary = step("Verify every test vector", project)

    assert (code, output) == (1, "result=FAIL\n"), said
    results = re.findall(r"`[^`]*/(\w+)\.twice` \| (\w+) \|", summary)
    assert results == [("alost", "FAIL"), ("torn", "UNKNOWN"), ("vector", "PASS")]


@pytest.mark.integration
def test_patterns_are_files_and_no_commands(project: Path) -> None:
    code, _, output, summary = step(
        "Verify every test vector", project, vectors="$(touch gone)\n  \n; touch gone\n*.none"
    )

    assert (code, output) == (2, "result=UNKNOWN\n")
    assert "nothing was verified" in summary
    assert not (project / "gone").exists()


@pytest.mark.integration
@pytest.mark.heavy
def test_names_with_spaces_are_verified(project: Path) -> None:
    (project / VECTOR).rename(project / "a vector.twice")
    code, said, output, _ = step("Verify every test vector", project, vectors="  a *.twice\n")

    assert (code, output) == (0, "result=PASS\n"), said


@pytest.mark.integration
def test_the_install_step_hands_pip_what_was_said(project: Path) -> None:
    pip = project / "pip.py"
    pip.write_text("import sys\nprint(sys.argv[1:])\n", encoding="utf-8")
    code, said, _, _ = step("Install", project, install="-e .[dev]\ntwice")

    assert code == 0, said
    assert "['install', '--disable-pip-version-check', '-e', '.[dev]', 'twice']" in said


@pytest.mark.integration
def test_the_gate_step_says_what_the_gate_says(project: Path) -> None:
    empty = project.parent / "empty"
    empty.mkdir()
    code, said, output, summary = step("Check the specification", empty)
    assert (code, output) == (2, "result=BLOCKED\n"), said
    assert "E-SPEC-002" in said
    assert summary == ""

    begun = cli(
        "spec", "init", "--component", "walk", "--program", "walk.py:main", "--seed", 3,
        "--source", ".", "--goal", "replay", "--owner", "us", "--class", "bit-exact",
        "--scope", "host", "--tier", "S", "--yes", "state,replay", "--no",
        "diverging,existing,checked,consumed,cross-machine,obliged,branching,concurrency,"
        "floating-point,gpu,external-effects,substitutable,hashed-snapshots,audit-log,contested",
        cwd=project,
    )  # fmt: skip
    assert begun.returncode == 0, begun.stderr
    code, said, output, summary = step("Check the specification", project, only="1,2")
    result = output.removeprefix("result=").strip()

    assert {"PASS": 0, "FAIL": 1, "BLOCKED": 2}[result] == code, said
    assert f"gate: **{result}**, tier S" in summary
    assert len(re.findall(r"^\| \d+ ", summary, re.MULTILINE)) == 2


def test_hooks_name_commands_and_those_that_execute_run_in_the_projects_environment() -> None:
    hooks = {each["id"]: each for each in HOOKS}

    assert list(hooks) == ["twice-check", "twice-verify", "twice-gate"]
    for name, hook in hooks.items():
        assert hook["entry"].split()[:2] == name.split("-")
        assert hook["language"] == ("python" if name == "twice-check" else "system")
    for name in ("twice-verify", "twice-gate"):
        assert hooks[name]["pass_filenames"] is False
        assert hooks[name]["always_run"] is True
    assert hooks["twice-verify"]["args"] == [VECTOR]


@pytest.mark.integration
def test_the_verify_hook_verifies_the_vector(project: Path) -> None:
    hook = next(each for each in HOOKS if each["id"] == "twice-verify")
    words = [*shlex.split(hook["entry"])[1:], *hook["args"]]

    assert cli(*words, cwd=project).returncode == 0


def test_the_guide_names_what_there_is() -> None:
    blocks = [yaml.safe_load(each) for each in re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)]
    workflow, hooks, gitlab = blocks
    steps = workflow["jobs"]["twice"]["steps"]
    used = [each for each in steps if "/twice@" in each.get("uses", "")]
    (repo,) = hooks["repos"]

    assert len(used) == 1
    assert set(used[0]["with"]) <= set(ACTION["inputs"])
    assert [each["id"] for each in repo["hooks"]] == [each["id"] for each in HOOKS]
    lines = [line for job in gitlab.values() for line in job.get("script", [])]
    assert lines
    for line in [each for each in lines if "twice " in each and not each.startswith("pip")]:
        found = re.findall(r"twice (\w+)", line)
        assert [each for each in found if each not in {*COMMANDS, "gate"}] == [], line


@pytest.mark.integration
@pytest.mark.heavy
def test_the_lines_for_gitlab_run(project: Path) -> None:
    gitlab = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)[2])
    (line,) = [each for each in gitlab["twice"]["script"] if "verify" in each]
    binaries = project.parent / "bin"
    binaries.mkdir()
    (binaries / "twice").write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m twice "$@"\n', encoding="utf-8"
    )
    (binaries / "twice").chmod(0o755)
    path = {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}

    def run() -> int:
        return subprocess.run(
            ["sh", "-ec", line], cwd=project, env=environ(path), capture_output=True, check=False
        ).returncode

    assert run() == 0
    (project / VECTOR).with_name("torn.twice").write_bytes(b"no record\n")
    assert run() != 0
