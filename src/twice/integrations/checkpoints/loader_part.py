"""The position of a ``DataLoader`` in an epoch, with any number of workers.

torch keeps no such position. So the part keeps the generators as they were when the epoch's iterator was made, and the
number of batches that it has handed out. After a resume the iterator is made anew from the same generators, the batches
before the position are skipped, and their digest is compared with the kept one. Then the generators continue from where
the training had left them.

Without workers, a dataset with indices is not read for the skipped batches: the digest is that of the indices. With
workers it is read, because reading moves the generators of the workers: the digest is that of the batches.

Not covered: state of the dataset, such as a generator that it holds (pass that as a target of its own), and state of a
sampler that is neither a generator nor a plain value among its attributes. Workers that outlive an epoch, and batches
that come in the order in which they are ready, are refused.

Invariant: no batch is handed out after a resume before the digest of all batches before it was that of the first time.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from twice.errors import CheckpointUnfit, EncodingRefused, LoaderUnfit
from twice.foundation.digests import Algorithm, Hasher, new_hasher
from twice.foundation.encoding import encode_parts
from twice.integrations.checkpoints import generator_parts
from twice.integrations.checkpoints.parts import Part, TargetPart
from twice.integrations.checkpoints.torch_generators import TorchGeneratorPart
from twice.integrations.checkpoints.trees import to_tree

_PLAIN = (type(None), bool, int, float, str)


@dataclass
class EpochProgress:
    """An epoch in progress: how it began, and what was handed out of it."""

    start: dict[str, Any]
    count: int = 0
    hasher: Hasher = field(default_factory=lambda: new_hasher(Algorithm.XXH3_128))

    def add(self, batch: object) -> None:
        """Take the indices or the content of a batch into the digest."""
        try:
            pieces = list(encode_parts(to_tree(batch, "batch")))
        except (CheckpointUnfit, EncodingRefused):
            pieces = [
                type(batch).__qualname__.encode()
            ]  # only the number of such batches is compared
        for piece in pieces:
            self.hasher.update(piece)


class LoaderPart(TargetPart):
    """A ``torch.utils.data.DataLoader``: the generators at the begin of the epoch, and the batches handed out.

    Raises:
        LoaderUnfit: E-CHECKPOINT-006: its workers outlive an epoch, or its batches come in no fixed order.
    """

    def __init__(self, name: str, target: Any) -> None:
        super().__init__(name, target)
        self._epoch: EpochProgress | None = None
        self._resumed: dict[str, Any] | None = None
        """The epoch of a state that was put back, until its batches are asked for."""
        if target.num_workers and target.persistent_workers:
            raise self._unfit(
                f"{name} has persistent_workers=True",
                "workers of one epoch: the generators in those that outlive it cannot be put back",
                "Pass persistent_workers=False.",
            )
        if target.num_workers and not getattr(target, "in_order", True):
            raise self._unfit(
                f"{name} has in_order=False",
                "batches in a fixed order: with several workers these come as they are ready",
                "Pass in_order=True.",
            )

    def read(self) -> object:
        """Return the settings of the loader, its own generators now, and the epoch in progress."""
        epoch = self._resumed
        if epoch is None and self._epoch is not None:
            one = self._epoch
            epoch = {"start": one.start, "count": one.count, "digest": one.hasher.digest()}
        return {"settings": self._read_settings(), "now": self._read_own(), "epoch": epoch}

    def write(self, state: object) -> None:
        """Put the state back: the next epoch begins where this one was."""
        plain: Any = state
        try:
            self._check_settings(plain["settings"])
            epoch = plain["epoch"]
            if epoch is not None and (
                type(epoch["count"]) is not int
                or not isinstance(epoch["digest"], bytes)
                or epoch["start"].keys() != {"process", "own"}
            ):
                raise TypeError("its epoch has other fields")  # noqa: TRY301  # one error for all misfits
            self._write_own(plain["now"])
        except (TypeError, KeyError, AttributeError) as error:
            if isinstance(error, CheckpointUnfit):
                raise
            raise self.refuse(
                f"is not one of a DataLoader ({error})", "what read() returned"
            ) from error
        self._epoch, self._resumed = None, epoch

    def iterate(self) -> Iterator[Any]:
        """Yield the rest of the epoch that a resume came into; a whole epoch if nothing is left of it."""
        if self._resumed is not None:
            epoch, iterator = self._catch_up(self._resumed)
            self._resumed = None
            if (yield from self._hand_out(epoch, iterator)):
                return
        epoch = EpochProgress({"process": _read_process(), "own": self._read_own()})
        yield from self._hand_out(epoch, self._make_iterator(epoch))

    def _hand_out(self, epoch: EpochProgress, iterator: Any) -> Generator[Any, None, bool]:
        """Yield the batches of an iterator and count them; return whether there was one."""
        self._epoch, before = epoch, epoch.count
        try:
            for batch in iterator:
                epoch.count += 1
                if not self._is_hashed_by_index(iterator):
                    epoch.add(batch)
                yield batch
        finally:
            if self._epoch is epoch:  # and not one that began after a resume in this process
                self._epoch = None
        return epoch.count > before

    def _catch_up(self, resumed: dict[str, Any]) -> tuple[EpochProgress, Any]:
        """Make the epoch's iterator as at its begin, and skip the batches that were handed out."""
        epoch = EpochProgress(resumed["start"])
        process, own = _read_process(), self._read_own()
        _write_process(epoch.start["process"])
        self._write_own(epoch.start["own"])
        iterator = self._make_iterator(epoch)
        while epoch.count < resumed["count"]:
            try:
                if self._is_hashed_by_index(iterator):
                    next(iterator._sampler_iter)
                else:
                    epoch.add(next(iterator))
            except StopIteration:
                break
            epoch.count += 1
        if (epoch.count, epoch.hasher.digest()) != (resumed["count"], resumed["digest"]):
            raise self._unfit(
                f"The first {resumed['count']} batches of {self.name} are other ones than in the training that was "
                "stopped",
                "the same batches from the same generators: a sampler, a dataset or a worker has state that is not kept",
                "Give the sampler its generator as an attribute, pass generators of the dataset as targets, "
                "and seed those of workers from torch.initial_seed().",
            )
        _write_process(process)
        self._write_own(own)
        return epoch, iterator

    def _make_iterator(self, epoch: EpochProgress) -> Any:
        iterator = iter(self.target)
        if self._is_hashed_by_index(iterator):
            iterator._sampler_iter = _hash_indices(iterator._sampler_iter, epoch)
        return iterator

    def _is_hashed_by_index(self, iterator: Any) -> bool:
        # A loader of another library may bring an iterator of its own.
        is_iterable = isinstance(self.target.dataset, torch.utils.data.IterableDataset)
        return (
            not self.target.num_workers and not is_iterable and hasattr(iterator, "_sampler_iter")
        )

    def _read_settings(self) -> dict[str, object]:
        loader = self.target
        is_iterable = isinstance(loader.dataset, torch.utils.data.IterableDataset)
        return {
            "num_workers": loader.num_workers,
            "batch_size": loader.batch_size,
            "drop_last": loader.drop_last,
            "prefetch_factor": loader.prefetch_factor,
            "sampler": type(loader.sampler).__qualname__,
            "batches": None if is_iterable else len(loader),
            "length of the dataset": None if is_iterable else len(loader.dataset),
        }

    def _check_settings(self, kept: dict[str, object]) -> None:
        now = self._read_settings()
        changed = [
            f"{key} was {kept.get(key)!r} and is {now[key]!r}"
            for key in now
            if kept.get(key) != now[key]
        ]
        if changed:
            raise self._unfit(
                f"{self.name} changed since the checkpoint was written: {', '.join(changed)}",
                "the same settings: other ones give other batches",
                "Build the loader as before, or begin anew with another path.",
            )

    def _list_own(self) -> tuple[dict[str, Part], dict[str, tuple[dict[str, Any], str]]]:
        """Return the generators of loader and samplers, and the places of plain values among samplers' attributes."""
        loader = self.target
        generators: dict[str, Part] = {}
        places: dict[str, tuple[dict[str, Any], str]] = {}
        batch_sampler = loader.batch_sampler
        owners = {
            "sampler": loader.sampler,
            "batch_sampler": batch_sampler,
            "batch_sampler.sampler": getattr(batch_sampler, "sampler", None),
        }
        found = {"generator": loader.generator}
        for owner, holder in owners.items():
            for name, value in getattr(holder, "__dict__", {}).items():
                found[f"{owner}.{name}"] = value
                if type(value) in _PLAIN:
                    places[f"{owner}.{name}"] = (vars(holder), name)
        seen: set[int] = set()
        for name, value in found.items():
            if id(value) not in seen:
                seen.add(id(value))
                full = f"{self.name}.{name}"
                if isinstance(value, torch.Generator):
                    generators[name] = TorchGeneratorPart(full, value)
                elif inner := generator_parts.find_parts(full, value):
                    generators[name] = inner[full]
        return generators, places

    def _read_own(self) -> dict[str, Any]:
        generators, places = self._list_own()
        return {
            "generators": {name: part.read() for name, part in generators.items()},
            "values": {name: holder[attribute] for name, (holder, attribute) in places.items()},
        }

    def _write_own(self, kept: dict[str, Any]) -> None:
        generators, places = self._list_own()
        if kept["generators"].keys() != generators.keys() or kept["values"].keys() != places.keys():
            raise self._unfit(
                f"The samplers of {self.name} have other attributes than in the checkpoint",
                ", ".join(sorted([*kept["generators"], *kept["values"]])),
                "Build the loader as before, or begin anew with another path.",
            )
        for name, part in generators.items():
            part.write(kept["generators"][name])
        for name, (holder, attribute) in places.items():
            holder[attribute] = kept["values"][name]

    def _unfit(self, happened: str, expected: str, remedy: str) -> LoaderUnfit:
        return LoaderUnfit(f"{happened}.", f"Expected {expected}.", remedy, part=self.name)


def _hash_indices(indices: Iterator[Any], epoch: EpochProgress) -> Iterator[Any]:
    for one in indices:
        epoch.add(one)
        yield one


def _read_process() -> dict[str, Any]:
    return {name: part.read() for name, part in generator_parts.find_process_parts().items()}


def _write_process(states: dict[str, Any]) -> None:
    parts = generator_parts.find_process_parts(frozenset(states))
    for name, state in states.items():
        parts[name].write(state)
