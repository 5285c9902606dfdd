"""Small trainings with libraries, and a loop of them that are killed and started again.

    python checkpoint_trainings.py KIND FOLDER STEP... [PART...]

trains once without a stop; then, in another folder, once for each STEP, at which the process dies of SIGKILL; then to
the end, and once more. Prints how each of these ended: digests of the trained state, or the signal. With PARTs it
goes on to the end from the killed state once for each of them, and that part is not put back. Each is a process of its
own, forked when the libraries are loaded, because to load them takes longer than to train.

A KIND that begins with ``own-`` has nothing but the library's own checkpoint.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import random
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

torch.set_num_threads(1)


def digest(weights: dict[str, Any], logged: dict[str, Any] | None = None) -> str:
    """Return digests of the weights, of what was logged, and of the generators of the process."""
    found = []
    for tensors in (weights, logged or {}):
        content = hashlib.sha256()
        for name, value in tensors.items():
            content.update(name.encode())
            content.update(value.detach().cpu().contiguous().numpy().tobytes())
        found.append(content.hexdigest()[:16])
    numbers = repr((random.getstate(), np.random.get_state()[1].tobytes())).encode()
    numbers += torch.get_rng_state().numpy().tobytes()
    return "/".join([*found, hashlib.sha256(numbers).hexdigest()[:16]])


def die_at(step: int, position: int) -> None:
    """Kill the process if the position is the step; 0 is never."""
    if step and position == step:
        os.kill(os.getpid(), signal.SIGKILL)


def train_sb3(kind: str, folder: Path, kill_at: int) -> str:
    """Train PPO, DQN or SAC."""
    import gymnasium
    from stable_baselines3 import DQN, PPO, SAC
    from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    from twice.integrations.checkpoints import sb3

    class Killer(BaseCallback):
        def _on_step(self) -> bool:
            die_at(kill_at, self.num_timesteps)
            return True

    class Saver(BaseCallback):
        def _on_rollout_start(self) -> None:
            if self.num_timesteps % 100 == 0 and self.num_timesteps:
                self.model.save(file)

        def _on_step(self) -> bool:
            return True

    file = folder / "model.zip"
    name, _, variant = kind.removeprefix("own-").partition("-")
    if name == "ppo":
        env = DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * 2)
        model: Any = PPO(
            "MlpPolicy", VecNormalize(env), n_steps=32, batch_size=32, n_epochs=2, seed=3,
            learning_rate=lambda left: 1e-3 * left, device="cpu",
        )  # fmt: skip
        total = 640
    elif name == "dqn":
        model = DQN(
            "MlpPolicy", gymnasium.make("CartPole-v1"), seed=3, learning_starts=50, buffer_size=300,
            target_update_interval=50, train_freq=4, device="cpu",
        )  # fmt: skip
        total = 600
    else:
        task = "Hopper-v5" if variant == "mujoco" else "Pendulum-v1"
        model = SAC(
            "MlpPolicy", gymnasium.make(task), seed=3, learning_starts=40, buffer_size=150,
            batch_size=16, use_sde=variant == "sde", device="cpu",
            policy_kwargs={"net_arch": [16, 16]},
        )  # fmt: skip
        total = 240
    callbacks: list[BaseCallback] = [Killer()]
    if name == "ppo":
        evaluated = VecNormalize(
            DummyVecEnv([lambda: gymnasium.make("CartPole-v1")]), training=False
        )
        evaluated.seed(5)
        callbacks.append(
            EvalCallback(evaluated, eval_freq=90, n_eval_episodes=1, deterministic=False, verbose=0)
        )
    if kind.startswith("own-"):
        left = total
        if file.exists():
            model = type(model).load(file, env=model.get_env())
            left = total - model.num_timesteps
        model.learn(left, [Saver(), *callbacks], reset_num_timesteps=left == total)
        return digest(model.policy.state_dict())
    model = sb3.learn(
        model,
        total,
        folder / "training.twice",
        every=total // 6,
        callback=callbacks,
        log_interval=10**6,
    )
    return digest(model.policy.state_dict())


class Samples(torch.utils.data.Dataset[Any]):
    """Forty samples of six numbers, each disturbed anew by the global generator whenever it is read."""

    def __len__(self) -> int:
        return 40

    def __getitem__(self, index: int) -> Any:
        fixed = torch.sin(torch.arange(6) * (index + 1.0))
        return fixed + 0.1 * torch.randn(6), fixed.sum()


def train_lightning(kind: str, folder: Path, kill_at: int) -> str:
    """Train a small module; the kind says the workers, as in ``lightning-2``."""
    import lightning.pytorch as pl
    import torchmetrics

    from twice.integrations.checkpoints.lightning import CompleteCheckpoint

    class Net(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Sequential(
                torch.nn.Linear(6, 8), torch.nn.Dropout(0.2), torch.nn.ReLU(), torch.nn.Linear(8, 1)
            )
            self.error = torchmetrics.MeanSquaredError()

        def training_step(self, batch: Any, index: int) -> Any:
            die_at(kill_at, 10 * self.current_epoch + index)
            found = self.net(batch[0]).squeeze(-1)
            loss = ((found - batch[1]) ** 2).mean()
            self.error(found.detach(), batch[1])
            self.log("error", self.error, on_step=False, on_epoch=True)
            self.log("loss", loss, on_step=True, on_epoch=True)
            return loss

        def validation_step(self, batch: Any, index: int) -> None:
            self.log("validated", ((self.net(batch[0]).squeeze(-1) - batch[1]) ** 2).mean())

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.Adam(self.parameters(), 1e-2)
            # Its decisions depend on the mean of a whole epoch, the first half of which is before the kill.
            scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
            return {
                "optimizer": optimizer,
                "lr_scheduler": {"scheduler": scheduler, "monitor": "loss_epoch"},
            }

    pl.seed_everything(1, verbose=False)
    model = Net()
    workers = int(kind[-1])
    loader = torch.utils.data.DataLoader(Samples(), 4, shuffle=True, num_workers=workers)
    validation = torch.utils.data.DataLoader(Samples(), 8)
    complete: Any = CompleteCheckpoint(folder / "training.ckpt", every=3)
    resume_path = complete.resume_path
    if kind.startswith("own-"):
        complete = pl.callbacks.ModelCheckpoint(folder, every_n_train_steps=2, save_last=True)
        last = folder / "last.ckpt"
        resume_path = str(last) if last.exists() else None
    trainer = pl.Trainer(
        max_epochs=3, callbacks=[complete], logger=False, enable_progress_bar=False, accelerator="cpu",
        enable_model_summary=False, accumulate_grad_batches=2, val_check_interval=5,
    )  # fmt: skip
    trainer.fit(model, loader, validation, ckpt_path=resume_path)
    # The last means of the training are as much a result as the weights.
    means = {name: trainer.callback_metrics[name] for name in ("error", "loss_epoch", "validated")}
    return digest(model.state_dict(), means)


class Sentences(torch.utils.data.Dataset[Any]):
    """Thirty sentences of eight words, one of which the global generator chooses anew whenever it is read."""

    def __init__(self, is_random: bool) -> None:
        self.is_random = is_random

    def __len__(self) -> int:
        return 30

    def __getitem__(self, index: int) -> Any:
        words = (torch.arange(8) * (index + 3)) % 40
        if self.is_random:
            words[int(torch.randint(8, ()))] = 40
        return {"input_ids": words, "labels": words}


def train_huggingface(kind: str, folder: Path, kill_at: int) -> str:
    """Train a tiny transformer; the kind says the workers, as in ``huggingface-2`` or ``huggingface-fixed-0``."""
    import transformers

    from twice.integrations.checkpoints import huggingface

    class Killer(transformers.TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
            die_at(kill_at, state.global_step)

    own = kind.startswith("own-")
    transformers.set_seed(1)
    config = transformers.GPT2Config(
        vocab_size=41, n_positions=8, n_embd=8, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
    )
    arguments = transformers.TrainingArguments(
        str(folder), num_train_epochs=3, per_device_train_batch_size=3, gradient_accumulation_steps=2,
        dataloader_num_workers=int(kind[-1]), save_strategy="steps" if own else "no", save_steps=2, report_to=[],
        eval_strategy="epoch", learning_rate=1e-2, lr_scheduler_type="cosine", save_total_limit=2, use_cpu=True,
        disable_tqdm=True, logging_steps=3,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config)
    sentences = Sentences("fixed" not in kind)
    trainer = transformers.Trainer(
        model, arguments, train_dataset=sentences, eval_dataset=sentences, callbacks=[Killer()]
    )
    if own:
        trainer.train(resume_from_checkpoint=any(folder.glob("checkpoint-*")))
    else:
        huggingface.train(trainer, every=2)
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return digest(model.state_dict(), {"losses": torch.tensor(losses)})


TRAININGS = {
    "ppo": train_sb3,
    "dqn": train_sb3,
    "sac": train_sb3,
    "lightning": train_lightning,
    "huggingface": train_huggingface,
}
MODULES = {
    train_sb3: ["stable_baselines3", "gymnasium", "twice.integrations.checkpoints.sb3"],
    train_lightning: [
        "lightning.pytorch", "torchmetrics", "twice.integrations.checkpoints.lightning",
    ],
    train_huggingface: [
        "transformers.models.gpt2.modeling_gpt2", "twice.integrations.checkpoints.huggingface",
    ],
}  # fmt: skip


def leave_out(name: str) -> None:
    """Let the part of a name stay as it is when a checkpoint is put back."""
    from twice.integrations.checkpoints.parts import TargetPart

    kinds = [TargetPart]
    for kind in kinds:
        kinds += kind.__subclasses__()
        write = vars(kind).get("write")
        if write is not None:
            kind.write = lambda self, state, write=write: (  # type: ignore[attr-defined]
                None if self.name == name else write(self, state)
            )


def run_apart(kind: str, folder: Path, kill_at: int = 0, without: str = "") -> str:
    """Train in a process of its own; return its digests, or the number of the signal that it died of."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(readable)
        folder.mkdir(exist_ok=True)
        train = TRAININGS[kind.removeprefix("own-").partition("-")[0]]
        if without:
            leave_out(without)
        os.write(writable, train(kind, folder, kill_at).encode())
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as output:
        found = output.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return found if status == 0 else str(status)


def main() -> None:
    """Run the loop."""
    kind, folder = sys.argv[1], Path(sys.argv[2])
    steps = [int(each) for each in sys.argv[3:] if each.isdigit()]
    parts = [each for each in sys.argv[3:] if not each.isdigit()]
    for module in MODULES[TRAININGS[kind.removeprefix("own-").partition("-")[0]]]:
        importlib.import_module(module)
    whole, killed = folder / "whole", folder / "killed"
    endings = [run_apart(kind, whole), *(run_apart(kind, killed, step) for step in steps)]
    for part in parts:
        shutil.copytree(killed, folder / part)
        endings.append(run_apart(kind, folder / part, without=part))
    endings += [run_apart(kind, killed), run_apart(kind, killed)]
    print("endings", *endings)


if __name__ == "__main__":
    main()
