"""Switches that look thrown and are not, as they stood in programs of others: found, and nothing beside them."""

from __future__ import annotations

import pytest
from files import findings
from files import found as weighed
from projects import Project

from twice.foundation.severity import Severity

RULES = {"inert-flag", "overwritten-flags", "partial-flags", "atomic-scatter"}
INERT = "inert-flag", Severity.CRITICAL
SET = 'import os\nos.environ["{}"] = "1"\n'
TOO_LATE = 'import os\nimport numpy as np\nos.environ["PYTHONHASHSEED"] = "0"\ncells = np.array(np.random.SeedSequence(1).spawn(2))\n'
SCATTER = "import jax.numpy as jnp\ndef add(grid, i, cells, v):\n    return grid.at[{}].add(v)\n"
COUNTED = "import jax.numpy as jnp\n{}\n    grid.at[i].add(1.5)\n"
CPUS = 'import os\ndef use_cpus(count):\n    old = os.getenv("{}", "")\n    os.environ["XLA_FLAGS"] = f"{{old}} --xla_cpus={{count}}"\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SET.format("TF_CUDNN DETERMINISTIC"), INERT),
        ('import os\nos.environ.setdefault("TF_XLA_FLAGS", "--xla_gpu_deterministic_ops=true")\nimport jax\n', INERT),
        ("import torch\ntorch.backends.cudnn.deterministc = True\n", INERT),
        *[(SET.format(name), INERT) for name in
          ("TF_DETERMINISTIC_OP", "CUBLAS_WORKSPACE_CONF", "PYTHON_HASH_SEED", "XLA_FLAG")],
        *[(SET.format(name), None) for name in ("APP_DETERMINISTIC", "TF_CONFIG", "WANDB_MODE", "MY_HASH_SEED")],
        # A variable that is set before or after its reader is imported; an array does not hide that.
        (SET.format("JAX_ENABLE_X64") + "import jax\n", None),
        ("import jax\n" + SET.format("JAX_ENABLE_X64"), INERT),
        (TOO_LATE, INERT),
        (TOO_LATE + 'import subprocess\nsubprocess.run(["python", "run.py"])\n', None),
        (CPUS.format("OTHER"), ("overwritten-flags", Severity.MEDIUM)),
        (CPUS.format("XLA_FLAGS"), None),
        # An index of one letter may repeat, one that counts or is one number does not.
        *[(SCATTER.format(index), ("atomic-scatter", Severity.MEDIUM)) for index in ("i", "cells[i]", "(0, i)")],
        (COUNTED.format("def add(grid, i: int):"), None),
        (COUNTED.format("def add(grid):\n  for i in range(3):"), None),
    ],
)  # fmt: skip
def test_a_switch_that_has_no_effect_is_found(
    text: str, expected: tuple[str, Severity] | None
) -> None:
    said = [(each.found.rule, each.severity) for each in findings(text) if each.found.rule in RULES]
    assert said == ([] if expected is None else [expected])


ADDS = "import torch\ndef add(total, bins, values):\n    return total.index_add_(0, bins, values)\n"
STRICT = "import torch\ntorch.use_deterministic_algorithms(True)\n"
WORKSPACE = 'import os\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\n'


@pytest.mark.parametrize(
    ("rule", "text", "switch"),
    [("atomic-scatter", ADDS, STRICT), ("cublas-workspace", STRICT, WORKSPACE)],
)
def test_what_a_test_sets_holds_for_tests_alone(rule: str, text: str, switch: str) -> None:
    assert rule in weighed({"sim/core.py": text, "tests/conftest.py": switch})
    assert rule not in weighed({"sim/core.py": text, "sim/setup.py": switch})


def test_tests_are_what_the_project_says(project: Project) -> None:
    project.write(core=ADDS, spec__try_it=STRICT, config='zones = {tests = ["spec/"]}\n')
    assert "atomic-scatter" in project.rules()


def test_neither_a_comment_nor_a_switch_that_only_warns_sets_anything() -> None:
    assert "cublas-workspace" in weighed(f"# CUBLAS_WORKSPACE_CONFIG is not needed here\n{STRICT}")
    loose = STRICT.replace("True", "True, warn_only=True")
    assert "atomic-scatter" in weighed({"sim/core.py": ADDS, "sim/setup.py": loose})
