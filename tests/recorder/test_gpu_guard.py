"""A run under a policy of its GPU is stopped where a variable moves; switches are set when a module was imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import twice
from twice.errors import NumericPolicyBroken
from twice.recorder.environment.gpu_policy import apply_gpu_policy
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.numeric_guard import NumericGuard

POLICY = "deterministic"


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Put a stub of a library on the path: what stands here needs no library that computes."""
    libraries = ("torch", "torch._inductor.config", "jax", "tensorflow")
    for name in libraries:
        # By the patch, which is undone last: it puts back whatever a test has put in its place.
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")

    yield write
    for name in libraries:
        sys.modules.pop(name, None)


@pytest.fixture
def held(
    monkeypatch: pytest.MonkeyPatch, stub: Callable[[str, str], None]
) -> Iterator[NumericGuard]:
    """A guard that began in a process with the policy's variables, and without any library."""
    del stub
    for name, variable in apply_gpu_policy(Surroundings({}), POLICY).variables.items():
        monkeypatch.setenv(name, variable.value or "")
    guard = NumericGuard("", POLICY)
    guard.begin(is_recording=True)
    yield guard
    guard.end()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "NCCL_ALGO",
            "Tree",
            "NCCL_ALGO is Tree at tick 3, and the policy deterministic wants Ring",
        ),
        ("CUBLAS_WORKSPACE_CONFIG", "4096:8", "did you mean :4096:8?"),
        ("NVIDIA_TF32_OVERRIDE", "1", "NVIDIA_TF32_OVERRIDE is 1 at tick 3"),
        ("XLA_FLAGS", "--xla_gpu_autotune_level=4", "XLA_FLAGS is unset at tick 3"),
    ],
)
def test_a_variable_that_the_program_moves_stops_the_run_and_is_named(
    held: NumericGuard, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    held.at_point(2, "tick")
    monkeypatch.setenv(name, value)

    with pytest.raises(NumericPolicyBroken) as broken:
        held.at_point(3, "tick")

    assert said in broken.value.happened
    assert "--gpu-policy" in broken.value.remedy


def test_a_value_that_keeps_the_policy_stops_nothing(
    held: NumericGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=there --xla_gpu_deterministic_ops=1")

    held.at_point(0, "tick")

    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"


def test_a_run_begins_only_where_its_variables_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)

    guard = NumericGuard("", POLICY)

    with pytest.raises(NumericPolicyBroken, match="when the run begins"):
        guard.begin(is_recording=True)

    guard.end()


def test_switches_are_set_after_the_import_and_held_and_put_back(
    held: NumericGuard, stub: Callable[[str, str], None]
) -> None:
    # Stubs of TensorFlow's and JAX's switches: neither library is among the tests' own.
    stub(
        "tensorflow",
        "class config:\n"
        " class experimental:\n"
        "  tf32 = True\n"
        "  @classmethod\n"
        "  def enable_tensor_float_32_execution(cls, on): cls.tf32 = on\n"
        "  @classmethod\n"
        "  def tensor_float_32_execution_enabled(cls): return cls.tf32\n",
    )
    stub(
        "jax",
        "class config:\n"
        " jax_default_matmul_precision = None\n"
        " jax_threefry_partitionable = True\n"
        " @classmethod\n"
        " def update(cls, name, value): setattr(cls, name, value)\n",
    )

    import jax
    import tensorflow as tf

    held.at_point(0, "tick")
    assert tf.config.experimental.tf32 is False
    assert jax.config.jax_default_matmul_precision == "highest"
    jax.config.jax_threefry_partitionable = False
    with pytest.raises(NumericPolicyBroken, match="jax_threefry_partitionable is false"):
        held.at_point(1, "tick")
    held.end()
    assert tf.config.experimental.tf32 is True
    assert jax.config.jax_default_matmul_precision is None


def test_a_version_of_a_library_that_lacks_a_switch_is_left_alone(
    held: NumericGuard, stub: Callable[[str, str], None]
) -> None:
    stub("tensorflow", "")

    import tensorflow as tf

    held.at_point(0, "tick")
    assert isinstance(tf, ModuleType)
    assert not [row for row in held.describe()["knobs"] if row["holds"] is False]  # type: ignore[attr-defined]


def test_a_card_that_tells_no_name_stops_the_run(
    held: NumericGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A stub: a card that tells nothing of itself is not to be had.
    card = SimpleNamespace(name="", major=9, minor=0, multi_processor_count=132)
    cuda = SimpleNamespace(
        is_initialized=lambda: True, device_count=lambda: 1, get_device_properties=lambda _: card
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))

    with pytest.raises(NumericPolicyBroken, match="GPU 0 is without a name or a capability"):
        held.at_point(1, "end")


def test_a_recorded_block_stops_where_its_policy_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, variable in apply_gpu_policy(Surroundings({}), POLICY).variables.items():
        monkeypatch.setenv(name, variable.value or "")

    def leave_policy() -> None:
        with twice.recording(tmp_path / "a.twice", seed=1, gpu_policy=POLICY) as run:
            for tick in run.ticks(4):
                if tick == 2:
                    monkeypatch.setenv("NCCL_ALGO", "Tree")

    with pytest.raises(NumericPolicyBroken, match="NCCL_ALGO is Tree at tick 2"):
        leave_policy()
