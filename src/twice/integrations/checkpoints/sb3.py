"""Training with Stable-Baselines3 that a kill at any moment does not change.

``learn`` is ``model.learn`` with a checkpoint file: the same command, started again, continues from the file and ends
with the same bits as a run that was never stopped. Checkpoints are written, and put back, where a rollout starts.
There everything is stored; inside of a rollout the last transition is not.

Invariant: what is put back stands before the first line of user code that ran after it was saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from twice.errors import CheckpointUnfit
from twice.integrations.checkpoints.checkpoint import Checkpoint
from twice.integrations.checkpoints.file import read_part
from twice.integrations.checkpoints.sb3_parts import find_parts
from twice.integrations.checkpoints.watched_loader import check_interval

Model = TypeVar("Model", bound=BaseAlgorithm)


def learn(
    model: Model,
    total_timesteps: int,
    path: str | Path,
    *,
    every: int,
    callback: BaseCallback | Sequence[BaseCallback] | None = None,
    opaque: Sequence[str] = (),
    **options: Any,
) -> Model:
    """Train a model, or continue from the checkpoint of the same command.

    Args:
        model: PPO, DQN, SAC or another algorithm, newly built, its environments in a ``DummyVecEnv``.
        total_timesteps: steps of all environments together; 1 or more.
        path: where the checkpoint is, or will be.
        every: steps between two checkpoints, 1 or more; each is written at the next start of a rollout.
        callback: callbacks of the library. Their attributes are part of the checkpoint.
        opaque: attributes of environments and callbacks that are left out; nothing computed may depend on them.
        options: ``log_interval``, ``tb_log_name``, ``progress_bar``, as for ``model.learn``.

    Returns:
        The model, trained to the end.

    Raises:
        CheckpointUnfit: E-CHECKPOINT-003: part of the state is out of reach (environments in other processes, objects
            without a plain form), or the checkpoint is of another training.
    """
    callbacks = [callback] if isinstance(callback, BaseCallback) else list(callback or ())
    parts: dict[str, Any] = find_parts("agent", model, opaque)
    for index, each in enumerate(callbacks):
        parts |= find_parts(f"callback.{index}", each, opaque)
    training = _TrainingPart(total_timesteps)
    checkpoint = Checkpoint(path, training=training, **parts)
    is_there = checkpoint.path.exists()
    if is_there:
        training.write(read_part(checkpoint.path, "training"))
        if training.is_finished:
            checkpoint.resume()
            return model
    # First in the list: what is put back stands before other callbacks see the rollout, as it did when it was saved.
    saver = _Saver(checkpoint, training, every, is_there)
    model.learn(total_timesteps, callback=[saver, *callbacks], **options)
    return model


class _TrainingPart:
    """What a training was asked for, and whether it is done."""

    def __init__(self, total_timesteps: int) -> None:
        self._total_timesteps = total_timesteps
        self.is_finished = False

    def read(self) -> object:
        """Return both."""
        return {"total_timesteps": self._total_timesteps, "is_finished": self.is_finished}

    def write(self, state: object) -> None:
        """Take over whether it is done."""
        if not isinstance(state, dict) or state.get("total_timesteps") != self._total_timesteps:
            before = state.get("total_timesteps") if isinstance(state, dict) else state
            raise CheckpointUnfit(
                f"The checkpoint is of a training of {before} steps, and this one has {self._total_timesteps}.",
                "Expected the same number: schedules of exploration and learning rate are computed from it.",
                "Train with the same total_timesteps, or begin anew with another path.",
                part="training",
            )
        self.is_finished = bool(state["is_finished"])


class _Saver(BaseCallback):  # type: ignore[misc]
    """Puts a checkpoint back at the start of the first rollout, and writes one at the start of later ones."""

    def __init__(
        self, checkpoint: Checkpoint, training: _TrainingPart, every: int, is_resuming: bool
    ) -> None:
        super().__init__()
        self._checkpoint, self._training = checkpoint, training
        self._every = check_interval(every)
        self._is_resuming = is_resuming
        self._saved_at = 0

    def _on_rollout_start(self) -> None:
        if self._is_resuming:
            # Not before learn(): that resets the environments and empties what the logs average over.
            self._is_resuming = False
            self._saved_at = self._checkpoint.resume()
        elif self.model.num_timesteps - self._saved_at >= self._every:
            self._save()

    def _on_training_end(self) -> None:
        self._training.is_finished = True
        self._save()

    def _save(self) -> None:
        self._saved_at = self.model.num_timesteps
        self._checkpoint.save(self._saved_at)

    def _on_step(self) -> bool:
        return True
