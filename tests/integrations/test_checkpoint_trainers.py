"""A training with a library that is killed at any step ends with the bits of one that was never stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("checkpoint_trainings.py")
SB3 = ("stable_baselines3", "torch")
LIGHTNING = ("lightning.pytorch", "torchmetrics")
HUGGINGFACE = ("transformers", "accelerate")


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("kind", "steps", "modules"),
    [
        # Steps before the first checkpoint, on both sides of a boundary, and shortly before the end.
        ("ppo", (40, 150, 152, 260, 300, 384, 386, 500, 510, 630), SB3),
        ("dqn", (60, 103, 104, 205, 230, 302, 399, 401, 550, 599), SB3),
        ("sac", (39, 45, 79, 81, 120, 121, 160, 200, 219, 239), SB3),
        ("sac-sde", (60, 130, 222), SB3),
        ("sac-mujoco", (60, 130, 222), (*SB3, "mujoco")),
        ("lightning-0", (3, 4, 8, 9, 10, 11, 15, 19, 20, 29), LIGHTNING),
        ("lightning-2", (8, 14, 20, 27), LIGHTNING),
        ("huggingface-0", (1, 3, 4, 5, 6, 8, 10, 11, 13, 14), HUGGINGFACE),
        ("huggingface-2", (3, 5, 8, 13), HUGGINGFACE),
    ],
)  # fmt: skip
def test_a_training_that_was_killed_ends_with_the_same_bits(
    kind: str, steps: tuple[int, ...], modules: tuple[str, ...], tmp_path: Path
) -> None:
    # A process, because SIGKILL is what is tested.
    for module in modules:
        pytest.importorskip(module)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAM), kind, str(tmp_path), *map(str, steps)],
        capture_output=True, text=True, env=environment, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    line = next(line for line in done.stdout.splitlines() if line.startswith("endings "))
    whole, *endings = line.split()[1:]
    assert len(whole) == 50, done.stderr[-2000:]
    assert endings[:-2] == [str(-signal.SIGKILL)] * len(steps)
    assert endings[-2:] == [whole, whole], "the resumed training, and the same command once more"
