"""Switches that look thrown and are not, as they stood in programs of others: found, and nothing beside them."""

from __future__ import annotations

import re

import pytest
from files import found as weighed
from projects import Project
from test_rules import findings

from twice.checker.catalogue import shipped
from twice.checker.rules.engine import every_rule
from twice.foundation.severity import Severity

RULES = {"inert-flag", "overwritten-flags", "partial-flags", "atomic-scatter"}


def said(text: str) -> list[tuple[str, int, Severity]]:
    """Return the findings of the rules about switches in a file: rule, line, severity."""
    return [
        (each.found.rule, each.found.place.line, each.severity)
        for each in findings(text)
        if each.found.rule in RULES
    ]


def test_variables_that_a_rule_tells_to_set_are_variables_that_are_read() -> None:
    known = {*shipped().names("switches"), *shipped().names("deciding-switches")}
    named = {
        (rule.name, each)
        for rule in every_rule()
        for each in re.findall(r"\b[A-Z]+[A-Z0-9]*_[A-Z0-9_]+\b", rule.facts.remedy)
    }

    assert len(named) > 5
    assert {(rule, each) for rule, each in named if each not in known} == set()


def test_a_variable_with_a_space_in_its_name_is_inert() -> None:
    text = 'import os\n\nos.environ["TF_CUDNN DETERMINISTIC"] = "1"\n'
    assert said(text) == [("inert-flag", 3, Severity.CRITICAL)]


def test_options_of_xla_in_the_variable_of_tensorflow_are_inert() -> None:
    text = 'import os\nimport jax\n\nos.environ.setdefault("TF_XLA_FLAGS", "--xla_gpu_deterministic_ops=true")\n'
    assert said(text) == [("inert-flag", 4, Severity.CRITICAL)]


@pytest.mark.parametrize(
    "name", ["TF_DETERMINISTIC_OP", "CUBLAS_WORKSPACE_CONF", "PYTHON_HASH_SEED", "XLA_FLAG"]
)
def test_a_slip_in_a_name_is_inert(name: str) -> None:
    found = said(f'import os\n\nos.environ["{name}"] = "1"\n')
    assert [each[0] for each in found] == ["inert-flag"]


@pytest.mark.parametrize("name", ["APP_DETERMINISTIC", "TF_CONFIG", "WANDB_MODE", "MY_HASH_SEED"])
def test_a_name_of_ones_own_is_left_alone(name: str) -> None:
    assert said(f'import os\n\nos.environ["{name}"] = "1"\n') == []


def test_a_variable_that_is_set_before_its_reader_is_imported_is_left_alone() -> None:
    assert said('import os\n\nos.environ["JAX_ENABLE_X64"] = "1"\nimport jax\n') == []


def test_a_variable_that_is_set_after_its_reader_was_imported_is_inert() -> None:
    found = said('import os\nimport jax\n\nos.environ["JAX_ENABLE_X64"] = "1"\n')
    assert [each[0] for each in found] == ["inert-flag"]


def test_a_users_options_are_overwritten() -> None:
    text = (
        "import os\n\n\ndef use_cpus(count):\n"
        '    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={count}"\n'
    )
    assert said(text) == [("overwritten-flags", 5, Severity.MEDIUM)]


def test_options_that_are_added_to_others_are_left_alone() -> None:
    text = (
        "import os\n\n\ndef use_cpus(count):\n"
        '    old = os.getenv("XLA_FLAGS", "")\n'
        '    os.environ["XLA_FLAGS"] = f"{old} --xla_force_host_platform_device_count={count}"\n'
    )
    assert said(text) == []


def test_a_misspelt_attribute_of_cudnn_is_inert() -> None:
    text = "import torch\n\ntorch.backends.cudnn.deterministc = True\n"
    assert said(text) == [("inert-flag", 3, Severity.CRITICAL)]


def test_an_array_does_not_hide_a_hash_seed_that_is_set_too_late() -> None:
    text = (
        "import os\n\nimport numpy as np\n\n"
        'os.environ["PYTHONHASHSEED"] = "0"\n'
        "cells = np.array(np.random.SeedSequence(1).spawn(2))\n"
    )
    assert said(text) == [("inert-flag", 5, Severity.CRITICAL)]
    started = text + 'import subprocess\n\nsubprocess.run(["python", "run.py"])\n'
    assert said(started) == []


@pytest.mark.parametrize("index", ["i", "cells[i]", "(0, i)"])
def test_an_index_of_one_letter_may_repeat(index: str) -> None:
    text = f"import jax.numpy as jnp\n\n\ndef add(grid, i, cells, v):\n    return grid.at[{index}].add(v)\n"
    assert said(text) == [("atomic-scatter", 5, Severity.MEDIUM)]


@pytest.mark.parametrize("head", ["def add(grid, i: int):", "def add(grid):\n  for i in range(3):"])
def test_an_index_that_is_one_number_does_not_repeat(head: str) -> None:
    assert said(f"import jax.numpy as jnp\n\n{head}\n    grid.at[i].add(1.5)\n") == []


ADDS = (
    "import torch\n\ndef add(total, bins, values):\n    return total.index_add_(0, bins, values)\n"
)
STRICT = "import torch\n\ntorch.use_deterministic_algorithms(True)\n"
WORKSPACE = 'import os\n\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\n'


@pytest.mark.parametrize(
    ("rule", "text", "switch"),
    [("atomic-scatter", ADDS, STRICT), ("cublas-workspace", STRICT, WORKSPACE)],
)
def test_what_a_test_sets_holds_for_tests_alone(rule: str, text: str, switch: str) -> None:
    assert rule in weighed({"sim/core.py": text, "tests/conftest.py": switch})
    assert rule not in weighed({"sim/core.py": text, "sim/setup.py": switch})


def test_tests_are_what_the_project_says(project: Project) -> None:
    project.write(core=ADDS, spec__try_it=STRICT, config='zones = {tests = ["spec/"]}\n')
    found = project.check("--json").document["findings"]
    assert "atomic-scatter" in [each["rule"] for each in found]


def test_a_comment_about_the_workspace_sets_nothing() -> None:
    assert "cublas-workspace" in weighed(f"# CUBLAS_WORKSPACE_CONFIG is not needed here\n{STRICT}")


def test_a_switch_that_only_warns_orders_no_addition() -> None:
    loose = STRICT.replace("True", "True, warn_only=True")
    assert "atomic-scatter" in weighed({"sim/core.py": ADDS, "sim/setup.py": loose})
