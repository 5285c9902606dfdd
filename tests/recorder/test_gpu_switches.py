"""Switches of torch under a policy of its GPU: set, read back, held; each planted difference is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from twice.errors import NumericPolicyBroken
from twice.recorder.environment.gpu_policy import apply_gpu_policy
from twice.recorder.environment.knobs import judge_knobs
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.numeric_guard import NumericGuard

pytestmark = pytest.mark.heavy

torch = pytest.importorskip("torch", reason="needs the extra twice[torch]")

POLICY = "deterministic"
SWITCHES = ("torch.", "torch._inductor.")


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[NumericGuard]:
    """A guard that began in a process with the policy's variables, where torch is loaded."""
    for name, variable in apply_gpu_policy(Surroundings({}), POLICY).variables.items():
        monkeypatch.setenv(name, variable.value or "")
    guard = NumericGuard("", POLICY)
    guard.begin(is_recording=True)
    yield guard
    guard.end()


def allow_tf32() -> None:
    torch.backends.cuda.matmul.allow_tf32 = True


def allow_tf32_in_convolutions() -> None:
    torch.backends.cudnn.conv.fp32_precision = "tf32"


def allow_tf32_by_the_newer_switch() -> None:
    torch.backends.cuda.matmul.fp32_precision = "tf32"


def lower_precision() -> None:
    torch.set_float32_matmul_precision("medium")


def only_warn() -> None:
    torch.use_deterministic_algorithms(True, warn_only=True)


def benchmark() -> None:
    torch.backends.cudnn.benchmark = True


def autotune() -> None:
    torch._inductor.config.max_autotune = True


def leave_memory() -> None:
    torch.utils.deterministic.fill_uninitialized_memory = False


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (allow_tf32, "torch.backends.cuda.matmul.allow_tf32 is true"),
        (lower_precision, "torch.float32_matmul_precision is medium"),
        (only_warn, "torch.use_deterministic_algorithms is warn_only, which only warns"),
        (benchmark, "torch.backends.cudnn.benchmark is true"),
        (autotune, "torch._inductor.config.max_autotune is true"),
        (leave_memory, "torch.utils.deterministic.fill_uninitialized_memory is false"),
        # torch refuses to tell of an older switch once a newer one disagrees with it.
        (allow_tf32_in_convolutions, "torch.backends.cudnn.allow_tf32 is not told"),
        (allow_tf32_by_the_newer_switch, "torch.backends.cuda.matmul.allow_tf32 is not told"),
    ],
)
def test_a_planted_difference_is_named_at_the_next_point(
    held: NumericGuard, plant: Callable[[], None], said: str
) -> None:
    held.at_point(6, "tick")
    try:
        plant()
        with pytest.raises(NumericPolicyBroken) as broken:
            held.at_point(7, "tick")
    finally:
        torch.backends.cudnn.conv.fp32_precision = "none"
        torch.backends.cuda.matmul.fp32_precision = "none"

    assert said in broken.value.happened
    assert "at tick 7" in broken.value.happened


def test_every_switch_holds_after_the_import_and_is_put_back(held: NumericGuard) -> None:
    def read() -> dict[str, tuple[str | None, bool | None]]:
        rows = judge_knobs({}, POLICY, "gpu")
        return {
            row.name: (row.read_back, row.holds) for row in rows if row.name.startswith(SWITCHES)
        }

    under = read()
    held.end()
    after = read()

    assert {name for name, (_, holds) in under.items() if not holds} == {
        f"torch.backends.cuda.{name}_sdp" for name in ("flash", "mem_efficient", "math")
    }
    assert after["torch.use_deterministic_algorithms"] == ("false", False)
    assert after["torch.backends.cudnn.allow_tf32"] == ("true", False)
    assert after["torch.backends.cuda.cudnn_sdp"] == ("true", False)


def test_a_run_goes_on_where_the_program_sets_what_the_policy_sets(held: NumericGuard) -> None:
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    torch.backends.fp32_precision = "ieee"

    try:
        held.at_point(0, "tick")
        knobs: Any = held.describe()["knobs"]
    finally:
        torch.backends.fp32_precision = "none"

    assert not [row["name"] for row in knobs if row["holds"] is False]
