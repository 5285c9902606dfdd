"""What adapters of trainers cannot restore is refused by name, before the training begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from twice.errors import CheckpointUnfit, CheckpointVersion
from twice.integrations.checkpoints import find_parts

pytestmark = pytest.mark.heavy


def make_model(env: Any = "CartPole-v1", **options: Any) -> Any:
    sb3 = pytest.importorskip("stable_baselines3")
    return sb3.PPO("MlpPolicy", env, n_steps=8, batch_size=8, n_epochs=1, device="cpu", **options)


def test_environments_in_other_processes_are_refused() -> None:
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.vec_env import SubprocVecEnv, VecNormalize

    env = VecNormalize(SubprocVecEnv([lambda: gymnasium.make("CartPole-v1")]))
    try:
        with pytest.raises(CheckpointUnfit, match=r"agent\.env is a SubprocVecEnv"):
            find_parts("agent", make_model(env))
    finally:
        env.close()


def test_a_model_without_an_environment_is_refused() -> None:
    model = make_model()
    model.env = None
    with pytest.raises(CheckpointUnfit, match="without an environment"):
        find_parts("agent", model)


def test_networks_that_an_algorithm_does_not_save_are_refused() -> None:
    torch = pytest.importorskip("torch")
    model = make_model()
    model.curiosity = torch.nn.Linear(2, 2)
    with pytest.raises(CheckpointUnfit, match="Linear in 'curiosity'"):
        find_parts("agent", model)


def test_a_monitor_that_writes_a_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.monitor import Monitor

    from twice.integrations.checkpoints import sb3

    env = Monitor(gymnasium.make("CartPole-v1"), str(tmp_path / "log"))
    model = make_model(env)
    with pytest.raises(CheckpointUnfit, match=r"opaque=\('results_writer',\)"):
        sb3.learn(model, 16, tmp_path / "t", every=8)
    sb3.learn(make_model(env), 16, tmp_path / "t", every=8, opaque=["results_writer"])
    assert (tmp_path / "t").exists()


def test_another_number_of_steps_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    from twice.integrations.checkpoints import sb3

    sb3.learn(make_model(), 16, tmp_path / "t", every=8)
    with pytest.raises(CheckpointUnfit, match="training of 16 steps, and this one has 24"):
        sb3.learn(make_model(), 24, tmp_path / "t", every=8)


@pytest.mark.parametrize("every", [0, -1, 2.5])
def test_a_distance_that_is_no_number_of_steps_is_refused(every: Any, tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    from twice.integrations.checkpoints import sb3

    with pytest.raises(CheckpointUnfit, match="every="):
        sb3.learn(make_model(), 16, tmp_path / "t", every=every)


def fit(tmp_path: Path, loader: Any, **options: Any) -> None:
    pl = pytest.importorskip("lightning.pytorch")
    import torch

    from twice.integrations.checkpoints.lightning import CompleteCheckpoint

    class Net(pl.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Linear(1, 1)

        def training_step(self, batch: Any, index: int) -> Any:
            return self.net(batch.float().reshape(-1, 1)).sum()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    complete = CompleteCheckpoint(tmp_path / "t.ckpt", every=2)
    trainer = pl.Trainer(
        max_epochs=1, callbacks=[complete], logger=False, enable_progress_bar=False,
        enable_model_summary=False, accelerator="cpu", enable_checkpointing=False, **options,
    )  # fmt: skip
    trainer.fit(Net(), loader, ckpt_path=complete.resume_path)


def test_loaders_of_lightning_that_cannot_be_continued_are_refused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    class Endless(torch.utils.data.IterableDataset):  # type: ignore[misc,name-defined]
        def __iter__(self) -> Iterator[int]:
            return iter(range(8))

    plain = torch.utils.data.DataLoader(list(range(8)), 2)
    for loader, what in [
        (torch.utils.data.DataLoader(Endless(), 2), "without a length"),
        ([plain, plain], "a list as its loader"),
        (list(range(8)), "a list as its loader"),
    ]:
        with pytest.raises(CheckpointUnfit, match=what):
            fit(tmp_path, loader)
    with pytest.raises(CheckpointUnfit, match="reload_dataloaders_every_n_epochs"):
        fit(tmp_path, plain, reload_dataloaders_every_n_epochs=1)


def test_a_file_of_another_version_of_lightning_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    pl = pytest.importorskip("lightning.pytorch")
    loader = torch.utils.data.DataLoader(list(range(8)), 2)
    fit(tmp_path, loader)
    monkeypatch.setattr(pl, "__version__", "0.0")
    with pytest.raises(CheckpointVersion, match=r"lightning .* and this is lightning 0\.0"):
        fit(tmp_path, loader)


def make_trainer(folder: Path, **options: Any) -> Any:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    config = transformers.GPT2Config(vocab_size=8, n_positions=4, n_embd=4, n_layer=1, n_head=1)
    arguments = transformers.TrainingArguments(
        str(folder), use_cpu=True, report_to=[], max_steps=3, disable_tqdm=True, **options
    )
    sentences = [{"input_ids": [1, 2, 3], "labels": [1, 2, 3]}] * 8
    return transformers.Trainer(
        transformers.GPT2LMHeadModel(config), arguments, train_dataset=sentences
    )


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({}, 'save_strategy="no"'),
        ({"save_strategy": "no", "ignore_data_skip": True}, "ignore_data_skip"),
        ({"save_strategy": "no", "auto_find_batch_size": True}, "auto_find_batch_size"),
    ],
)
def test_settings_of_a_trainer_that_are_out_of_reach_are_refused(
    options: dict[str, Any], what: str, tmp_path: Path
) -> None:
    trainer = make_trainer(tmp_path, **options)
    from twice.integrations.checkpoints import huggingface

    with pytest.raises(CheckpointUnfit, match=what):
        huggingface.train(trainer, every=1)


def test_a_folder_that_was_not_written_to_its_end_is_passed_over(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, save_strategy="no", per_device_train_batch_size=2)
    from twice.integrations.checkpoints import huggingface

    huggingface.train(trainer, every=1)
    assert sorted(path.name for path in tmp_path.glob("checkpoint-*")) == [
        "checkpoint-1",
        "checkpoint-2",
        "checkpoint-3",
    ]
    (tmp_path / "checkpoint-3" / huggingface.FILE_NAME).unlink()
    assert huggingface.find_last_checkpoint(tmp_path) == tmp_path / "checkpoint-2"
    # max_steps is in the middle of an epoch: the Trainer itself would take a fourth step.
    again = make_trainer(tmp_path, save_strategy="no", per_device_train_batch_size=2)
    huggingface.train(again, every=1)
    done = make_trainer(tmp_path, save_strategy="no", per_device_train_batch_size=2)
    output = huggingface.train(done, every=1)
    assert (again.state.global_step, output.global_step) == (3, 3)
