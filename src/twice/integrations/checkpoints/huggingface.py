"""Training with the Trainer of Hugging Face that a kill at any moment does not change.

``train`` is ``trainer.train`` with checkpoints: the same command, started again, continues from the last whole one. The
Trainer's own folder has weights, optimiser, schedule, generators and the number of steps. It does not have the state of
the workers and the seed they got, the numbers that fetching a batch draws before the generators are put back, the
generator of a collator with a seed, losses that wait to be logged; and a kill while it is written leaves a part of it
that ``resume_from_checkpoint=True`` takes for the last one. ``twice.checkpoint`` in the folder has these; it is
written last, and a folder without it is no checkpoint.

A checkpoint is written, and put back, before the first batch of a step is fetched. Batches are not fetched one ahead, as
accelerate does: a dataset that draws from the global generators without workers gets other numbers than under
``trainer.train``. Not kept: callbacks that are no ``ExportableState``. Their ``on_epoch_begin`` runs again after a resume.

Invariant: the folder that a training resumes from has a whole ``twice.checkpoint``, which was written after all else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
import transformers.trainer
from transformers import Trainer, TrainerState
from transformers.trainer_utils import TrainOutput, rotate_checkpoints

from twice.integrations.checkpoints.checkpoint import Checkpoint
from twice.integrations.checkpoints.file import read_part
from twice.integrations.checkpoints.parts import Part, TargetPart
from twice.integrations.checkpoints.parts import find_parts as find_generator_parts
from twice.integrations.checkpoints.trees import from_tree, to_tree
from twice.integrations.checkpoints.watched_loader import (
    ModuleRestPart,
    WatchedLoader,
    check_interval,
    refuse_setting,
)

FILE_NAME: Final = "twice.checkpoint"
_FOLDER: Final = re.compile(r"checkpoint-(\d{1,12})")


def train(trainer: Trainer, *, every: int) -> TrainOutput:
    """Train, or continue from the last whole checkpoint in ``output_dir``.

    Args:
        trainer: newly built, with ``save_strategy="no"``: the checkpoints are those of this function.
        every: optimiser steps between two checkpoints, 1 or more; one more is written at the end.

    Returns:
        What ``trainer.train`` returns: steps and mean loss of the whole training. Times are those of this call; a
        training that was done already has none.

    Raises:
        CheckpointUnfit: E-CHECKPOINT-003: a setting under which part of the state is out of reach.
        LoaderUnfit: E-CHECKPOINT-006: the loader changed, or gives other batches than before.
    """
    _check_settings(trainer)
    return _ResumableTraining(trainer, every).run()


def find_parts(name: str, target: object) -> dict[str, Part]:  # noqa: ARG001  # as in each adapter
    """Return nothing: a model is a plain module of torch, and a Trainer is continued by ``train``."""
    return {}


def find_last_checkpoint(folder: Path) -> Path | None:
    """Return the newest folder ``checkpoint-N`` that was written to its end; None without one."""
    found: dict[int, Path] = {}
    for path in folder.glob(f"checkpoint-*/{FILE_NAME}"):
        match = _FOLDER.fullmatch(path.parent.name)
        if match:
            found[int(match[1])] = path.parent
    return found[max(found)] if found else None


class _ResumableTraining:
    """One call of ``train``."""

    def __init__(self, trainer: Trainer, every: int) -> None:
        self._trainer, self._every = trainer, check_interval(every)
        self._ending = _EndingPart()
        self._loader: WatchedLoader | None = None
        self._resumed: Path | None = None
        """Where the state is that has to be put back before the first batch."""
        self._saved_at = 0

    def run(self) -> TrainOutput:
        trainer = self._trainer
        last = find_last_checkpoint(Path(trainer.args.output_dir))
        if last is None:
            with self._hooks():
                output = trainer.train()
        else:
            self._resumed = last
            self._ending.write(read_part(last / FILE_NAME, "ending"))
            if self._ending.is_finished:
                return self._load_finished(last)
            with self._hooks():
                output = trainer.train(resume_from_checkpoint=str(last))
        self._ending.is_finished, self._ending.loss = True, output.training_loss
        self._save()
        return output

    def _load_finished(self, last: Path) -> TrainOutput:
        # The Trainer itself would train on, if max_steps is inside of an epoch.
        trainer = self._trainer
        self._loader = self._watch(trainer.get_train_dataloader())
        trainer._load_from_checkpoint(str(last))
        trainer.state = TrainerState.load_from_json(str(last / "trainer_state.json"))
        trainer._tr_loss = torch.tensor(0.0)
        self._make_checkpoint(last).resume()
        return TrainOutput(trainer.state.global_step, self._ending.loss, {})

    @contextmanager
    def _hooks(self) -> Iterator[None]:
        """Put the training's loader under this object, and keep the Trainer from its own way to continue.

        The Trainer has no public place for either: a loader of another class is taken apart by ``skip_first_batches``,
        and ``_load_rng_state`` restores generators after the first batch was fetched. All three are undone.
        """
        trainer, module = self._trainer, transformers.trainer
        get_loader, skip = trainer.get_train_dataloader, module.skip_first_batches

        def get_train_dataloader() -> Any:
            self._loader = self._watch(get_loader())
            return self._loader

        def skip_first_batches(loader: Any, num_batches: int = 0) -> Any:
            # Its own part knows how many batches it has to skip.
            return loader if loader is self._loader else skip(loader, num_batches)

        vars(trainer).update(
            get_train_dataloader=get_train_dataloader, _load_rng_state=lambda _: None
        )
        module.skip_first_batches = skip_first_batches
        try:
            yield
        finally:
            module.skip_first_batches = skip
            del trainer.get_train_dataloader, trainer._load_rng_state

    def _watch(self, shard: Any) -> WatchedLoader:
        base = getattr(shard, "base_dataloader", shard)
        sampler: Any = getattr(base.batch_sampler, "sampler", None)
        # accelerate makes this generator when the first epoch begins: a loader has to hold the same before and after.
        if getattr(sampler, "generator", True) is None and hasattr(sampler, "initial_seed"):
            sampler.generator = torch.Generator()
            sampler.generator.manual_seed(sampler.initial_seed)
        return WatchedLoader(base, self._before_fetch, shard)

    def _before_fetch(self) -> None:
        trainer = self._trainer
        step = trainer.state.global_step
        if self._resumed is not None:
            self._make_checkpoint(self._resumed).resume()
            self._resumed, self._saved_at = None, step
        elif step - self._saved_at >= self._every:
            self._save()

    def _save(self) -> None:
        trainer = self._trainer
        args, state = trainer.args, trainer.state
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        (folder / FILE_NAME).unlink(missing_ok=True)
        # Older checkpoints go when this one is whole, and not before.
        limit, args.save_total_limit = args.save_total_limit, None
        try:
            trainer._save_checkpoint(trainer.model, trial=None)
        finally:
            args.save_total_limit = limit
        self._make_checkpoint(folder).save(state.global_step)
        self._saved_at = state.global_step
        rotate_checkpoints(output_dir=args.output_dir, save_total_limit=limit, use_mtime=True)

    def _make_checkpoint(self, folder: Path) -> Checkpoint:
        assert self._loader is not None, "a training has asked for its loader"
        parts: dict[str, Any] = {
            "ending": self._ending,
            "loader": self._loader.part,
            "model": ModuleRestPart("model", self._trainer.model),
            "losses": _LossesPart("losses", self._trainer),
            "collator": _CollatorPart("collator", self._trainer.data_collator),
        }
        return Checkpoint(folder / FILE_NAME, **parts)


class _EndingPart:
    """Whether a training is done, and its mean loss then."""

    def __init__(self) -> None:
        self.is_finished, self.loss = False, 0.0

    def read(self) -> object:
        return {"is_finished": self.is_finished, "loss": self.loss}

    def write(self, state: object) -> None:
        plain: Any = state
        self.is_finished, self.loss = bool(plain["is_finished"]), float(plain["loss"])


class _LossesPart(TargetPart):
    """What a Trainer has added up for its next line of the log."""

    _FIELDS = ("_tr_loss", "_total_loss_scalar", "_globalstep_last_logged", "_initial_global_step")

    def read(self) -> object:
        return {name: to_tree(getattr(self.target, name), self.name) for name in self._FIELDS}

    def write(self, state: object) -> None:
        if not isinstance(state, dict) or set(state) != set(self._FIELDS):
            raise self.refuse("has other fields", ", ".join(self._FIELDS))
        for name, value in state.items():
            kept = from_tree(value)
            if isinstance(kept, torch.Tensor):
                # The loop has its own name for the tensor, and adds in place.
                getattr(self.target, name).copy_(kept)
            else:
                setattr(self.target, name, kept)


class _CollatorPart(TargetPart):
    """The generator of a collator with a seed, which makes it for its first batch."""

    def read(self) -> object:
        generator = getattr(self.target, "generator", None)
        if not isinstance(generator, torch.Generator | np.random.Generator):
            return None
        (part,) = find_generator_parts(self.name, generator).values()
        return {"is_torch": isinstance(generator, torch.Generator), "state": part.read()}

    def write(self, state: object) -> None:
        plain: Any = state
        if plain is None:
            return
        generator: Any = torch.Generator() if plain["is_torch"] else np.random.default_rng(0)
        (part,) = find_generator_parts(self.name, generator).values()
        part.write(plain["state"])
        self.target.generator = generator
        # Collators of transformers make a new one in a process that is not this one.
        self.target._generator_pid = os.getpid()


def _check_settings(trainer: Trainer) -> None:
    args = trainer.args
    if args.save_strategy != "no":
        raise refuse_setting(
            f"save_strategy={str(args.save_strategy.value)!r}",
            'save_strategy="no": checkpoints are written by train(trainer, every=...)',
        )
    if args.world_size != 1 or args.n_gpu > 1:
        raise refuse_setting("several devices", "one: each would hold part of the state")
    if trainer.is_deepspeed_enabled or trainer.is_fsdp_enabled:
        raise refuse_setting("DeepSpeed or FSDP", "a model that is whole in one process")
    if args.auto_find_batch_size:
        raise refuse_setting("auto_find_batch_size=True", "a batch size that no failure changes")
    if args.ignore_data_skip:
        raise refuse_setting("ignore_data_skip=True", "ignore_data_skip=False")
