"""A training that is killed at ten moments, each time resumed, ends with the very checkpoint of one that was not.

Processes, because a SIGKILL ends one: forks of this one, in which torch is loaded. Each has two workers of its own.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.heavy

torch = pytest.importorskip("torch", reason="needs the extra twice[torch]")

from torch import nn  # noqa: E402
from torch.utils import data  # noqa: E402

from twice.integrations.checkpoints import Checkpoint  # noqa: E402
from twice.integrations.checkpoints import file as checkpoint_file  # noqa: E402

EPOCHS = 3
IN_EPOCH = 5
STEPS = EPOCHS * IN_EPOCH
Moment = Callable[[str, int], None]


class Augmented(data.Dataset[Any]):
    """Rows with noise that the workers draw."""

    def __len__(self) -> int:
        return 18

    def __getitem__(self, at: int) -> Any:
        return (
            torch.full((4,), at / 18) + 0.1 * torch.randn(4) + random.random() * np.random.random()
        )


def train(path: Path, at_moment: Moment) -> None:
    """Train and save after each step; call ``at_moment`` before and after a step and in the middle of each save."""
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(3)
    torch.set_num_threads(1)  # a fork has no pool of threads
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=STEPS + 1)
    loader = data.DataLoader(Augmented(), batch_size=4, shuffle=True, num_workers=2)
    losses: list[float] = []
    checkpoint = Checkpoint(
        path, model=model, optimizer=optimizer, scheduler=scheduler, loader=loader, losses=losses
    )
    step = checkpoint.resume()
    fsync = os.fsync

    def fsync_then_moment(descriptor: int) -> None:
        fsync(descriptor)
        at_moment("saving", step)

    os.fsync = fsync_then_moment  # in this fork alone
    for _ in range(step // IN_EPOCH, EPOCHS):
        for batch in checkpoint.batches(loader):
            at_moment("before", step + 1)
            loss = model(batch).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
            step += 1
            checkpoint.save(step)
            at_moment("after", step)


def run_in_fork(path: Path, at_moment: Moment) -> int:
    """Return how the fork ended: 0, or minus the signal that killed it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            train(path, at_moment)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_at(moment: str, step: int) -> Moment:
    def at_moment(here: str, now: int) -> None:
        if (here, now) == (moment, step):
            os.kill(os.getpid(), signal.SIGKILL)

    return at_moment


KILLS = [
    ("before", 1),
    ("saving", 1),
    ("after", 2),
    ("saving", 4),
    ("before", 5),
    ("after", 5),
    ("before", 7),
    ("saving", 10),
    ("after", 13),
    ("after", 15),
]


def test_a_training_killed_ten_times_equals_one_that_never_stopped(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run_in_fork(whole, kill_at("never", 0)) == 0

    for moment, step in KILLS:
        assert run_in_fork(killed, kill_at(moment, step)) == -signal.SIGKILL
        if killed.exists():
            assert checkpoint_file.read_header(killed).position == step - (moment != "after")

    # Optimizer, generators, losses, and the place in the epoch are all in there.
    assert run_in_fork(killed, kill_at("never", 0)) == 0
    assert killed.read_bytes() == whole.read_bytes()
    assert [one.name for one in tmp_path.iterdir() if "killed" in one.name] == ["killed"]
