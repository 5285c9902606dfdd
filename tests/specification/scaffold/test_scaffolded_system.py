"""A small real system with what was laid down for it: everything passes, with no line edited."""

from __future__ import annotations

import ast
import json
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import twice
from small_system import build, lay_sheets, python, sheets, tree
from twice.specification.front_matter import Value
from twice.specification.scaffold.lock import Layer
from twice.specification.scaffold.plan import apply_plan, make_plan


def laid_down(project: Path, **changed: dict[str, Value]) -> Path:
    build(project, **changed)
    apply_plan(make_plan(project, "swarm"))
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return laid_down(tmp_path_factory.mktemp("system") / "project")


@pytest.mark.heavy
def test_its_tests_pass_and_its_vector_is_proved(tmp_path: Path) -> None:
    # One property of the three: each tries 25 examples in processes of their own.
    project = laid_down(tmp_path / "project", s12={"properties": ["replay-equivalence"]})
    before = tree(project)

    recorded = python(project, "scripts/determinism.py", "vector")
    assert recorded.returncode == 0, recorded.stderr
    said = re.findall(r'vector_digest: "(blake3:[0-9a-f]{32})"', recorded.stdout)
    assert len(said) == 1
    sheet = next((project / "determinism-and-replay").glob("01-*.md"))
    text = sheet.read_text(encoding="utf-8")
    sheet.write_text(
        text.replace('vector_digest: "?"', f'vector_digest: "{said[0]}"'), encoding="utf-8"
    )
    apply_plan(make_plan(project, "swarm"))

    tests = python(project, "-m", "pytest", "-q", f"--basetemp={tmp_path / 'base'}")
    assert tests.returncode == 0, tests.stdout
    assert "skipped" not in tests.stdout
    vector = "determinism-and-replay/evidence/vector.twice"
    proved = python(project, "-m", "twice", "verify", vector, "--restores")
    assert proved.returncode == 0, proved.stdout + proved.stderr
    moved = {path for path, data in tree(project).items() if before.get(path) != data}
    assert {each for each in moved if each.endswith(".py")} == {
        "tests/test_determinism_vector.py"  # It holds the digest that 01 says now.
    }


@pytest.mark.integration
def test_it_is_read_without_a_finding(project: Path) -> None:
    checked = python(project, "-m", "twice", "check", ".", "--min", "low", "--fail-on", "low")

    assert checked.returncode == 0, checked.stdout
    for what in ("seeds", "effects"):
        audited = python(project, "-m", "twice", "audit", what, "swarm", "scripts")
        assert audited.returncode == 0, audited.stdout


@pytest.mark.heavy
def test_it_is_clean_for_ruff_and_mypy_with_their_own_settings(project: Path) -> None:
    for command in (
        ("ruff", "check", "--isolated", "--no-cache", "."),
        ("ruff", "format", "--isolated", "--no-cache", "--diff", "."),
        ("mypy", "--config-file=", "--cache-dir", str(project.parent / "mypy"), "."),
    ):
        done = python(project, "-m", *command)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.heavy
def test_other_facts_give_clean_code_too(tmp_path: Path) -> None:
    kinds = {"a": "torch", "b": "jax", "c": "other", "d/e": "python"}
    slots: list[dict[str, object]] = [
        {"stream": each, "owner": each, "kind": kind} for each, kind in kinds.items()
    ]
    sources = ("entropy", "environment", "filesystem", "network", "process", "stdin")
    inventory: list[dict[str, object]] = [
        {
            "source": each, "what": f"{each}: {'x' * 40}",
            "pattern": "record-and-replay", "substitutable": True,
        }
        for each in sources
    ]  # fmt: skip
    claim: dict[str, object] = {"kind": "read-only", "operation": "verify", "workload": "CI"}
    project = laid_down(
        tmp_path / "project",
        s00={"config": ["a.b=1", "a.c=true", "text=it's", "long=[1, 2]"], "sources": ["swarm", "a b"]},
        s01={
            "class": "statistical", "summary": "energy", "test": "ks", "epsilon": "0.5", "seeds": 9,
            "power": "0.8",
        },
        s02={"names": [{"stream": each, "component": each} for each in kinds]},
        s03={"slots": slots, "vectors": [{"master": 1, "stream": "a", "draws": ["00"]}]},
        s04={"cadence": "none"},
        s06={"operations": [claim]},
        s08={"pins": [{"library": f"library-{at}", "version": "1.2.3"} for at in range(5)], "epsilon": "0"},
        s10={"inventory": inventory},
        s12={"stateful": True, "generators": "small ones"},
    )  # fmt: skip

    test_it_is_clean_for_ruff_and_mypy_with_their_own_settings(project)
    test_it_is_read_without_a_finding(project)
    seeds = (project / "swarm/determinism/seeds.py").read_text(encoding="utf-8")
    assert all(f"def {door}(" in seeds for door in ("python", "torch", "jax", "adopt"))


def test_switches_of_a_gpu_are_set_and_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = build(tmp_path / "project")
    knobs: list[dict[str, object]] = [
        {"name": "CUBLAS_WORKSPACE_CONFIG", "value": ":4096:8"},
        {"name": "torch.use_deterministic_algorithms", "value": "true"},
        {"name": "torch.backends.cudnn.benchmark", "value": "false"},
        {"name": "persistence mode", "value": "on"},
    ]
    said: dict[str, Value] = {
        "knobs": knobs, "driver": "550", "sku": "one", "atomics": "none", "multi_gpu": "one",
    }  # fmt: skip
    lay_sheets(project, {**sheets(), "09": said})
    apply_plan(make_plan(project, "swarm", [Layer.POLICIES]))
    laid = runpy.run_path(str(project / "swarm/determinism/policies.py"))
    cudnn = SimpleNamespace(benchmark=True)
    torch = SimpleNamespace(backends=SimpleNamespace(cudnn=cudnn), algorithms=False)
    torch.use_deterministic_algorithms = lambda value: setattr(torch, "algorithms", value)
    torch.are_deterministic_algorithms_enabled = lambda: torch.algorithms

    with twice.recording(tmp_path / "a.twice", seed=0) as run, monkeypatch.context() as patched:
        patched.setitem(sys.modules, "torch", torch)  # type: ignore[arg-type]
        before = [each for each in laid["drift"](run) if each.split()[0] in laid["SWITCHES"]]
        with pytest.raises(RuntimeError, match="CUBLAS_WORKSPACE_CONFIG is None, not :4096:8"):
            laid["hold"](run)
        after = [each for each in laid["drift"](run) if each.split()[0] in laid["SWITCHES"]]

    algorithms = "use_deterministic_algorithms"
    assert laid["SWITCHES"] == {algorithms: True, "cudnn.benchmark": False}
    assert before == [f"{algorithms} is False, not True", "cudnn.benchmark is True, not False"]
    assert after == []
    assert (torch.algorithms, cudnn.benchmark) == (True, False)
    assert laid["NOT_HELD"] == ("persistence mode",)
    recorded = (project / "swarm/determinism/specified.py").read_text(encoding="utf-8")
    assert '    "CUBLAS_WORKSPACE_CONFIG=:4096:8",\n' in recorded


def test_a_component_with_any_name_gives_python(tmp_path: Path) -> None:
    name = 'a "system" \\ of """ours\'s: #1'
    project = build(tmp_path / "project")
    for each in (project / "determinism-and-replay").iterdir():
        text = each.read_text(encoding="utf-8")
        each.write_text(text.replace('"swarm"\n', f"{json.dumps(name)}\n", 1), encoding="utf-8")

    apply_plan(make_plan(project, name))

    read = {each: ast.parse(each.read_text(encoding="utf-8")) for each in project.rglob("*.py")}
    constants = [
        node.value
        for node in ast.walk(read[project / "swarm/determinism/specified.py"])
        if isinstance(node, ast.Constant)
    ]
    assert name in constants


def test_nothing_of_the_moment_or_the_machine_stands_in_it(project: Path) -> None:
    for path, data in tree(project).items():
        text = data.decode("utf-8", "replace")
        assert str(project) not in text, path
        assert sys.prefix not in text, path


def test_each_file_says_where_it_came_from_and_whose_it_is(project: Path) -> None:
    files = json.loads((project / "determinism-and-replay/scaffold.lock").read_bytes())["files"]
    assert len(files) == 21
    for path, entry in files.items():
        lines = (project / path).read_text(encoding="utf-8").splitlines()
        (said,) = [line for line in lines if "Laid down by twice scaffold" in line]
        assert ("yours from here on" if entry["once"] else "owned by it") in said
