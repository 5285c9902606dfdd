"""A callback that makes Lightning's own checkpoint complete, in the middle of an epoch, too.

Lightning keeps weights, optimisers, schedulers and counters. It does not keep the generators, the place of the loader in
its epoch (a resumed epoch begins again from the first batch, in another order), gradients that are being accumulated,
means that are logged over an epoch, metrics of torchmetrics, and modes of modules. The callback puts these into the same
file, and takes the checkpoint where nothing is half done: before a batch is fetched.

Refused by name: several devices or loaders, loaders without a length (Lightning reads one batch ahead of them), and
``training_step(dataloader_iter)``. Not kept: attributes of a module or a callback that its ``state_dict`` does not have.

Invariant: between the capture of the state and its restoration in the resumed run, no code of the user is left out
and none runs twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import lightning.pytorch as pl
import torch
from lightning.pytorch.trainer.connectors.logger_connector.result import (
    _Metadata,
    _ResultMetric,
    _Sync,
)
from torchmetrics import Metric

from twice.errors import CheckpointDamaged, CheckpointVersion, DecodingRefused
from twice.foundation.encoding import decode, encode
from twice.integrations.checkpoints.generator_parts import find_process_parts
from twice.integrations.checkpoints.parts import Part, TargetPart
from twice.integrations.checkpoints.trees import from_tree, to_tree
from twice.integrations.checkpoints.watched_loader import (
    ModuleRestPart,
    WatchedLoader,
    check_interval,
    refuse_setting,
)

_REDUCTIONS: Final = {name: getattr(torch, name) for name in ("mean", "sum", "min", "max")}
_META_FIELDS: Final = (
    "fx", "name", "prog_bar", "logger", "on_step", "on_epoch", "enable_graph", "add_dataloader_idx",
    "dataloader_idx", "metric_attribute",
)  # fmt: skip

# Without the last two, the first step after a resume empties the sums: it takes itself for the first of its epoch.
_CONNECTOR_FIELDS: Final = (
    "_callback_metrics", "_logged_metrics", "_first_loop_iter", "_current_fx",
)  # fmt: skip


def find_parts(name: str, target: object) -> dict[str, Part]:  # noqa: ARG001  # as in each adapter
    """Return nothing: a LightningModule is a plain module of torch, and a Trainer is continued by the callback."""
    return {}


class CompleteCheckpoint(pl.Callback):  # type: ignore[misc]
    """Write a checkpoint of Lightning with the whole state every few batches, and restore it.

    ::

        complete = CompleteCheckpoint("training.ckpt", every=100)
        trainer = Trainer(callbacks=[complete])
        trainer.fit(model, loader, ckpt_path=complete.resume_path)

    Args:
        path: the checkpoint; it is replaced whole or not at all.
        every: batches between two checkpoints, 1 or more. At the end of training one is written as well.

    Raises:
        CheckpointUnfit: E-CHECKPOINT-003: when training starts: a setting under which a state is out of reach.
        LoaderUnfit: E-CHECKPOINT-006: when training continues: the loader gives other batches than before.
    """

    def __init__(self, path: str | Path, *, every: int) -> None:
        self.path = Path(path)
        self._every = check_interval(every)
        self._parts: dict[str, Part] = {}
        self._captured: bytes | None = None
        """The state for the file that is being written."""
        self._pending: dict[str, Any] | None = None
        """The state from a file, until the first batch is asked for."""
        self._fetched = 0

    @property
    def resume_path(self) -> str | None:
        """The path for ``trainer.fit(ckpt_path=...)``; None where no checkpoint was written yet."""
        return str(self.path) if self.path.exists() else None

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:  # noqa: ARG002
        """Put the loader of the training under the callback."""
        if stage == "fit":
            source = trainer.fit_loop._data_source
            trainer.fit_loop._data_source = _Source(source, self, trainer)

    def wrap_loader(self, trainer: pl.Trainer, loader: Any) -> WatchedLoader:
        """Return the loader that Lightning iterates, and make the parts."""
        if trainer.world_size != 1:
            raise refuse_setting(
                f"{trainer.world_size} processes", "one: each would hold part of the state"
            )
        if trainer.reload_dataloaders_every_n_epochs:
            raise refuse_setting(
                "reload_dataloaders_every_n_epochs set", "one loader for all epochs"
            )
        watched = WatchedLoader(loader, lambda: self.before_fetch(trainer))
        self._parts = {
            "loader": watched.part,
            "module": _MeteredModulePart("module", trainer.lightning_module),
            "results": _ResultsPart("results", trainer),
            **find_process_parts(),
        }
        return watched

    def before_fetch(self, trainer: pl.Trainer) -> None:
        """Restore, or write a checkpoint, while no batch is in work."""
        if self._pending is not None:
            pending, self._pending = self._pending, None
            for name, part in self._parts.items():
                part.write(pending[name])
            self._fetched = pending["fetched"]
            trainer.fit_loop.epoch_loop._batches_that_stepped = pending["batches_that_stepped"]
        elif self._fetched and self._fetched % self._every == 0:
            self._save(trainer)
        self._fetched += 1

    def on_train_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Write the last checkpoint: the same command, started again, finds the training done."""
        self._save(trainer)

    def on_fit_end(self, *_: Any) -> None:
        """Restore what is left to restore after a training that was done already: it asks for no batch."""
        if self._pending is not None:
            pending, self._pending = self._pending, None
            for name, part in self._parts.items():
                if name != "loader":
                    part.write(pending[name])

    # twice: ignore[state-attribute-missing] the count is within the captured state
    def state_dict(self) -> dict[str, Any]:
        """Return the state beside Lightning's own, for files that this callback writes."""
        return {} if self._captured is None else {"complete": self._captured}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Keep the state until the first batch is asked for."""
        try:
            pending: Any = decode(state_dict["complete"])
        except (KeyError, DecodingRefused) as error:
            raise CheckpointDamaged(
                f"{self.path} does not hold the state that CompleteCheckpoint writes.",
                "Expected a checkpoint that this callback wrote.",
                "Resume from its resume_path, or move the file away to begin anew.",
                path=str(self.path),
            ) from error
        for library, now in _list_versions().items():
            then = pending["versions"].get(library, "none")
            if then != now:
                raise CheckpointVersion(
                    f"{self.path} was written under {library} {then}, and this is {library} {now}.",
                    "Expected the same version: another one computes other bits.",
                    f"Install {library} {then}, or move the file away to begin anew.",
                    library=library,
                    then=then,
                    now=now,
                )
        self._pending = pending

    def _save(self, trainer: pl.Trainer) -> None:
        state: dict[str, Any] = {name: part.read() for name, part in self._parts.items()}
        state["versions"] = _list_versions()
        state["fetched"] = self._fetched
        state["batches_that_stepped"] = trainer.fit_loop.epoch_loop._batches_that_stepped
        self._captured = encode(state)
        beside = self.path.with_name(f".{self.path.name}.part")
        trainer.save_checkpoint(beside)
        self._captured = None
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(self.path)


def _list_versions() -> dict[str, str]:
    return {"torch": str(torch.__version__), "lightning": str(pl.__version__)}


class _Source:
    """Where Lightning asks for the loader of a training."""

    def __init__(self, source: Any, callback: CompleteCheckpoint, trainer: pl.Trainer) -> None:
        self._source, self._callback, self._trainer = source, callback, trainer

    def dataloader(self) -> Any:
        return self._callback.wrap_loader(self._trainer, self._source.dataloader())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


class _MeteredModulePart(ModuleRestPart):
    """The rest of a module, and the states of its metrics: they are neither parameters nor buffers."""

    def read(self) -> object:
        """Return the rest, and metrics by name."""
        rest: Any = super().read()
        metrics = {
            name: to_tree(
                {"updates": metric._update_count, **metric.metric_state}, f"{self.name}.{name}"
            )
            for name, metric in _list_metrics(self.target)
        }
        return {**rest, "metrics": metrics}

    def write(self, state: object) -> None:
        """Put both back."""
        plain: Any = state
        super().write({name: value for name, value in plain.items() if name != "metrics"})
        for name, metric in _list_metrics(self.target):
            values = from_tree(plain["metrics"][name])
            metric._update_count = values.pop("updates")
            metric._computed = None
            for attribute, value in values.items():
                setattr(metric, attribute, value)


def _list_metrics(module: torch.nn.Module) -> Iterator[tuple[str, Metric]]:
    return ((name, each) for name, each in module.named_modules() if isinstance(each, Metric))


class _ResultsPart(TargetPart):
    """What ``self.log`` has gathered in this epoch, and the metrics that callbacks and schedulers look at."""

    def read(self) -> object:
        """Return settings and sums of each logged value, and the last metrics by name."""
        trainer = self.target
        results = trainer.fit_loop.epoch_loop._results
        values = {}
        for key, result in results.items():
            meta = {field: getattr(result.meta, field) for field in _META_FIELDS}
            values[key] = {
                "meta": {**meta, "reduce_fx": result.meta.reduce_fx.__name__},
                "sync": {
                    "_should": result.meta.sync.should,
                    "rank_zero_only": result.meta.sync.rank_zero_only,
                },
                "sums": {**result.metric_state} if result.is_tensor else None,
                "updates": result._update_count,
                "has_reset": result.has_reset,
            }
        connector = trainer._logger_connector
        last = {name: getattr(connector, name) for name in _CONNECTOR_FIELDS}
        return to_tree({"values": values, "last": last}, self.name)

    def write(self, state: object) -> None:
        """Put them back, as if they had been logged."""
        trainer = self.target
        kept = from_tree(state)
        results = trainer.fit_loop.epoch_loop._results
        for key, value in kept["values"].items():
            sums, meta = value["sums"], dict(value["meta"])
            made = _Metadata(**{**meta, "reduce_fx": _REDUCTIONS[meta["reduce_fx"]]})
            # log() compares all settings with those of its first call.
            made.sync = _Sync(fn=trainer.strategy.reduce, **value["sync"])
            result = _ResultMetric(made, is_tensor=sums is not None)
            if sums is None:
                result.value = trainer.lightning_module.get_submodule(meta["metric_attribute"])
            for name, one in (sums or {}).items():
                setattr(result, name, one)
            result._update_count, result.has_reset = value["updates"], value["has_reset"]
            results[key] = result
        for name, one in kept["last"].items():
            setattr(trainer._logger_connector, name, one)
