"""Switches that look thrown and are not, as they stood in programs of others: found, and nothing beside them."""

from __future__ import annotations

import pytest
from test_rules import findings

from twice.foundation.severity import Severity

RULES = {"inert-flag", "overwritten-flags", "partial-flags", "atomic-scatter"}


def said(text: str) -> list[tuple[str, int, Severity]]:
    """Return the findings of the rules about switches in a file: rule, line, severity."""
    return [
        (each.found.rule, each.found.place.line, each.severity)
        for each in findings(text)
        if each.found.rule in RULES
    ]


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
