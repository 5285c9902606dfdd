"""A loader continues in the middle of an epoch with the batches that it would have given, or says why it cannot.

Workers of a loader are processes: nothing else draws from the seeds that torch gives to workers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.heavy

torch = pytest.importorskip("torch", reason="needs the extra twice[torch]")

from torch.utils import data  # noqa: E402

from twice.errors import LoaderUnfit  # noqa: E402
from twice.integrations.checkpoints import Checkpoint, find_parts  # noqa: E402

LENGTH = 10
BATCH = 4  # three batches in an epoch, the last one smaller
EPOCHS = 3


@pytest.fixture(autouse=True)
def process_generators() -> Iterator[None]:
    kept = random.getstate(), np.random.get_state(), torch.get_rng_state()
    yield
    random.setstate(kept[0])
    np.random.set_state(kept[1])
    torch.set_rng_state(kept[2])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "c.checkpoint"


class Augmented(data.Dataset[Any]):
    """Values with noise from every global generator."""

    def __len__(self) -> int:
        return LENGTH

    def __getitem__(self, at: int) -> Any:
        return torch.tensor([at, torch.rand(()), random.random(), np.random.random()])


class Stream(data.IterableDataset[Any]):
    """As many values without indices: of two workers, the first has two batches, the second one."""

    def __iter__(self) -> Iterator[Any]:
        worker = data.get_worker_info()
        parts = [range(2 * BATCH), range(2 * BATCH, LENGTH)]
        for at in parts[worker.id] if worker else range(LENGTH):
            yield torch.tensor([at, torch.rand(())])


class OwnGenerator(data.Sampler[int]):
    """A sampler that draws from a generator among its attributes, as it goes."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(3)
        self.epoch = 0

    def __len__(self) -> int:
        return LENGTH

    def __iter__(self) -> Iterator[int]:
        self.epoch += 1
        for _ in range(LENGTH):
            yield (int(self.rng.integers(LENGTH)) + self.epoch) % LENGTH


class Stateless(data.Sampler[int]):
    """A sampler whose order depends on what nobody can see."""

    calls: list[int] = []

    def __len__(self) -> int:
        return LENGTH

    def __iter__(self) -> Iterator[int]:
        self.calls.append(1)
        return iter([(at + len(self.calls)) % LENGTH for at in range(LENGTH)])


def plain(**options: Any) -> Any:
    return data.DataLoader(Augmented(), BATCH, **options)


LOADERS: dict[str, Callable[[], Any]] = {
    "shuffled": lambda: plain(shuffle=True),
    "generator": lambda: plain(shuffle=True, generator=torch.Generator().manual_seed(5)),
    "in order": lambda: plain(drop_last=True),
    "replaced": lambda: plain(
        sampler=data.RandomSampler(
            range(LENGTH), replacement=True, generator=torch.Generator().manual_seed(5)
        )
    ),
    "weighted": lambda: plain(sampler=data.WeightedRandomSampler([1.0, 2.0] * 5, LENGTH)),
    "own generator": lambda: plain(sampler=OwnGenerator()),
    "batch sampler": lambda: data.DataLoader(
        Augmented(), batch_sampler=data.BatchSampler(OwnGenerator(), BATCH, drop_last=False)
    ),
    "no batches": lambda: data.DataLoader(Augmented(), batch_size=None, sampler=OwnGenerator()),
}
WORKING: dict[str, Callable[[], Any]] = {
    "shuffled": lambda: plain(shuffle=True, num_workers=2),
    "generator": lambda: plain(
        shuffle=True, num_workers=2, generator=torch.Generator().manual_seed(5)
    ),
    "replaced": lambda: plain(
        num_workers=2,
        sampler=data.RandomSampler(
            range(LENGTH), replacement=True, generator=torch.Generator().manual_seed(5)
        ),
    ),
    "own generator": lambda: plain(sampler=OwnGenerator(), num_workers=2, prefetch_factor=1),
    "stream": lambda: data.DataLoader(Stream(), BATCH, num_workers=2),
}


def run(
    path: Path, make: Callable[[], Any], stop: int | None = None, save_at: int | None = None
) -> list[Any]:
    """Go over the epochs, draw between batches as a dropout does, and return what was seen from the resume on."""
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(7)
    loader = make()
    checkpoint = Checkpoint(path, loader=loader)
    steps = checkpoint.resume()
    in_epoch = len(list(make().sampler)) if loader.batch_sampler is None else 3 - loader.drop_last
    seen: list[Any] = []
    for _ in range(steps // in_epoch, EPOCHS):
        for batch in checkpoint.batches(loader):
            seen.append(
                [batch.tolist(), torch.rand(()).item(), random.random(), np.random.random()]
            )
            steps += 1
            if steps == (save_at or stop):
                checkpoint.save(steps)
            if steps == stop:
                return seen
    return seen


@pytest.mark.parametrize("name", LOADERS)
def test_a_loader_without_workers_continues_anywhere(tmp_path: Path, name: str) -> None:
    whole = run(tmp_path / "whole", LOADERS[name])

    for stop in range(1, len(whole)):
        path = tmp_path / str(stop)
        assert whole == run(path, LOADERS[name], stop) + run(path, LOADERS[name])


@pytest.mark.parametrize("name", WORKING)
def test_a_loader_with_workers_continues(tmp_path: Path, name: str) -> None:
    whole = run(tmp_path / "whole", WORKING[name])

    for stop in (1, 3, 5):
        path = tmp_path / str(stop)
        assert whole == run(path, WORKING[name], stop) + run(path, WORKING[name])


def test_a_second_stop_in_the_same_epoch_continues(path: Path) -> None:
    whole = run(path.with_name("whole"), LOADERS["generator"])

    seen = run(path, LOADERS["generator"], 1) + run(path, LOADERS["generator"], 2)
    assert seen + run(path, LOADERS["generator"]) == whole


def test_a_save_before_the_first_batch_after_a_resume_keeps_the_position(path: Path) -> None:
    whole = run(path.with_name("whole"), LOADERS["shuffled"])
    seen = run(path, LOADERS["shuffled"], 2)
    checkpoint = Checkpoint(path, loader=LOADERS["shuffled"]())
    checkpoint.save(checkpoint.resume())

    assert seen + run(path, LOADERS["shuffled"]) == whole


def test_an_epoch_that_was_left_is_over(path: Path) -> None:
    loader = LOADERS["shuffled"]()
    checkpoint = Checkpoint(path, loader=loader)
    for _ in checkpoint.batches(loader):
        break
    checkpoint.save(1)

    again = LOADERS["shuffled"]()
    resumed = Checkpoint(path, loader=again)
    resumed.resume()
    assert len(list(resumed.batches(again))) == 3


def test_a_sampler_without_state_is_refused_in_the_middle_of_an_epoch(path: Path) -> None:
    def make() -> Any:
        return plain(sampler=Stateless())

    run(path, make, 2)

    with pytest.raises(LoaderUnfit, match="first 2 batches of loader are other ones") as caught:
        run(path, make)
    assert caught.value.id == "E-CHECKPOINT-006"


def test_a_stream_whose_draws_mix_with_the_training_is_refused(path: Path) -> None:
    def make() -> Any:
        return data.DataLoader(Stream(), BATCH)

    run(path, make, 2)

    with pytest.raises(LoaderUnfit, match="other ones"):
        run(path, make)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: plain(num_workers=2), "num_workers was 0 and is 2"),
        (lambda: data.DataLoader(Augmented(), 5), "batch_size was 4 and is 5"),
        (lambda: plain(drop_last=True), "drop_last was False and is True, batches was 3 and is 2"),
        (lambda: plain(shuffle=True), "sampler was 'SequentialSampler' and is 'RandomSampler'"),
        (
            lambda: data.DataLoader(data.Subset(Augmented(), range(9)), BATCH),
            "length of the dataset was 10 and is 9",
        ),
        (lambda: plain(generator=torch.Generator()), "other attributes than in the checkpoint"),
    ],
)
def test_a_loader_that_changed_is_refused(path: Path, make: Callable[[], Any], named: str) -> None:
    Checkpoint(path, loader=plain()).save(1)

    with pytest.raises(LoaderUnfit, match=named):
        Checkpoint(path, loader=make()).resume()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"persistent_workers": True}, "persistent_workers=True"),
        ({"in_order": False}, "in_order=False"),
    ],
)
def test_a_loader_that_cannot_be_continued_is_refused(options: dict[str, bool], named: str) -> None:
    with pytest.raises(LoaderUnfit, match=named):
        find_parts("loader", plain(num_workers=1, **options))


@pytest.mark.parametrize("state", [None, {}, {"settings": {}}, {"settings": 3, "epoch": 1}])
def test_what_is_no_state_of_a_loader_is_refused(state: object) -> None:
    (part,) = find_parts("loader", plain()).values()

    with pytest.raises(Exception, match=r"E-CHECKPOINT-00[36]"):
        part.write(state)
