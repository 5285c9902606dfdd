"""A training with a library that is killed at any step ends with the bits of one that was never stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from programs import HANGS_AFTER_S

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
    whole, *endings = run_trainings(kind, steps, (), modules, tmp_path)
    assert endings[:-2] == [str(-signal.SIGKILL)] * len(steps)
    assert endings[-2:] == [whole, whole], "the resumed training, and the same command once more"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("kind", "step", "modules", "expected"),
    [
        (
            "dqn",
            330,
            SB3,
            {
                "agent.replay_buffer": "weights generators",
                "agent.progress": "weights generators",
                "agent.env.0.CartPoleEnv": "weights",
                "agent.env.0.np_random": "weights",
                "agent.env.0.action_space": "weights",
                "generators.numpy": "weights generators",
            },
        ),
        (
            "ppo",
            300,
            SB3,
            {
                "agent.env.VecNormalize": "weights",
                "agent.env.0.CartPoleEnv": "weights",
                "agent.env.0.np_random": "weights",
                "callback.1": "weights generators",
                "generators.numpy": "weights generators",
                "generators.torch": "weights generators",
            },
        ),
        ("sac-sde", 130, SB3, {"agent.exploration_noise": "weights"}),
        (
            "lightning-0",
            29,
            LIGHTNING,
            {
                "loader": "weights logged generators",
                "module": "weights logged",
                "results": "logged",
            },
        ),
        (
            "huggingface-0",
            6,
            HUGGINGFACE,
            {"loader": "weights logged generators", "losses": "logged"},
        ),
    ],
)
def test_without_one_part_the_training_ends_differently(
    kind: str, step: int, modules: tuple[str, ...], expected: dict[str, str], tmp_path: Path
) -> None:
    whole, killed, *endings = run_trainings(kind, (step,), tuple(expected), modules, tmp_path)
    assert killed == str(-signal.SIGKILL)
    found = [list_differences(whole, each) for each in endings]
    assert dict(zip(expected, found[:-2], strict=True)) == expected
    assert found[-2:] == ["", ""], "with all parts"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("kind", "step", "modules", "expected"),
    [
        ("own-dqn", 330, SB3, "weights generators"),
        ("own-lightning-0", 15, LIGHTNING, "weights logged generators"),
        ("own-huggingface-0", 5, HUGGINGFACE, "weights logged generators"),
        ("own-huggingface-fixed-0", 5, HUGGINGFACE, "logged"),
    ],
)
def test_with_the_checkpoint_of_the_library_alone_the_training_ends_differently(
    kind: str, step: int, modules: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    whole, _, resumed, _ = run_trainings(kind, (step,), (), modules, tmp_path)
    assert list_differences(whole, resumed) == expected


def run_trainings(
    kind: str,
    steps: tuple[int, ...],
    parts: tuple[str, ...],
    modules: tuple[str, ...],
    folder: Path,
) -> list[str]:
    """Return how the trainings of the program ended. Processes, because SIGKILL is what is tested."""
    for module in modules:
        pytest.importorskip(module)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAM), kind, str(folder), *map(str, steps), *parts],
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""},
        timeout=HANGS_AFTER_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (line,) = (each for each in done.stdout.splitlines() if each.startswith("endings "))
    return line.split()[1:]


def list_differences(whole: str, other: str) -> str:
    """Return in which of its digests an ending differs."""
    assert "/" in other, f"the training died: {other}"
    names = ("weights", "logged", "generators")
    both = zip(names, whole.split("/"), other.split("/"), strict=True)
    return " ".join(name for name, one, two in both if one != two)
