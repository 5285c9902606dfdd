"""A program continues from a checkpoint as if it had never stopped: generators, plain values, bad input."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import (
    CheckpointUnfit,
    CheckpointVersion,
    LoaderUnfit,
    OutputUnwritable,
    StateNotANumber,
)
from twice.foundation.encoding import encode
from twice.integrations.checkpoints import Checkpoint, Part, find_parts
from twice.integrations.checkpoints import file as checkpoint_file
from twice.integrations.checkpoints.file import PartState
from twice.integrations.checkpoints.trees import from_tree, to_tree

MAKERS: list[Callable[[], Any]] = [
    lambda: random.Random(3),
    lambda: np.random.default_rng(3),
    lambda: np.random.Generator(np.random.MT19937(3)),
    lambda: np.random.Generator(np.random.Philox(3)),
    lambda: np.random.Generator(np.random.SFC64(3)),
    lambda: np.random.Generator(np.random.PCG64DXSM(3)),
    lambda: np.random.RandomState(3),
]


@pytest.fixture(autouse=True)
def process_generators() -> Iterator[None]:
    kept = random.getstate(), np.random.get_state()
    yield
    random.setstate(kept[0])
    np.random.set_state(kept[1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "c.checkpoint"


class Counted:
    """A part of a program's own."""

    def __init__(self) -> None:
        self.value: object = 0

    def read(self) -> object:
        return self.value

    def write(self, state: object) -> None:
        self.value = state


def draw(generator: Any) -> list[Any]:
    """Draw in ways that leave half a word or half a pair in the generator."""
    if isinstance(generator, random.Random):
        return [generator.gauss(0, 1), generator.random()]
    normal = generator.standard_normal(3).tolist()
    if isinstance(generator, np.random.RandomState):
        return [normal, generator.randint(0, 9), generator.standard_normal()]
    return [normal, int(generator.integers(0, 9, dtype=np.uint32))]


@pytest.mark.parametrize("make", MAKERS)
def test_a_generator_continues(path: Path, make: Callable[[], Any]) -> None:
    generator = make()
    draw(generator)
    Checkpoint(path, generator=generator).save(4)
    expected = [draw(generator), draw(generator)]

    again = make()
    assert Checkpoint(path, generator=again).resume() == 4
    assert [draw(again), draw(again)] == expected


def test_the_children_of_a_generator_continue(path: Path) -> None:
    generator = np.random.default_rng(3)
    generator.spawn(2)
    Checkpoint(path, generator=generator).save(1)
    expected = generator.spawn(1)[0].random()

    again = np.random.default_rng(3)
    Checkpoint(path, generator=again).resume()
    assert again.spawn(1)[0].random() == expected

    with pytest.raises(CheckpointUnfit, match="spawned"):
        Checkpoint(path, generator=again).resume()


def test_the_generators_of_the_process_continue(path: Path) -> None:
    random.gauss(0, 1)
    np.random.standard_normal()
    Checkpoint(path).save(2)
    expected = random.gauss(0, 1), np.random.standard_normal()

    random.seed(9)
    np.random.seed(9)
    assert Checkpoint(path).resume() == 2
    assert (random.gauss(0, 1), np.random.standard_normal()) == expected


def test_nothing_at_the_path_is_a_begin(path: Path) -> None:
    assert Checkpoint(path).resume() == 0


def test_dicts_and_lists_come_back_in_place(path: Path) -> None:
    progress: dict[str, Any] = {"best": 0.5, "shape": (1, 2), 3: deque([1], maxlen=2)}
    losses = [0.25, np.float32(0.5), np.arange(3)]
    Checkpoint(path, progress=progress, losses=losses).save(1)

    fresh: dict[str, Any] = {"other": 1}
    listed: list[Any] = []
    Checkpoint(path, progress=fresh, losses=listed).resume()

    assert fresh == progress
    assert fresh[3].maxlen == 2
    assert type(listed[1]) is np.float32
    assert listed[2].tolist() == [0, 1, 2]


def test_a_part_of_the_program_and_a_state_dict_are_taken(path: Path) -> None:
    class Averaged:
        mean = 1.5

        def state_dict(self) -> dict[str, object]:
            return {"mean": self.mean}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            self.mean = state["mean"]

    part, averaged = Counted(), Averaged()
    part.value, averaged.mean = 7, 2.5
    Checkpoint(path, part=part, averaged=averaged).save(1)

    part_again, averaged_again = Counted(), Averaged()
    Checkpoint(path, part=part_again, averaged=averaged_again).resume()

    assert isinstance(part, Part)
    assert (part_again.value, averaged_again.mean) == (7, 2.5)


def test_a_later_save_takes_the_place_of_the_first(path: Path) -> None:
    part = Counted()
    checkpoint = Checkpoint(path, part=part)
    for position in (1, 2):
        part.value = position * 10
        checkpoint.save(position)

    assert (checkpoint.resume(), part.value) == (2, 20)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_save_that_was_killed_leaves_nothing_after_the_resume(path: Path) -> None:
    Checkpoint(path).save(3)
    half = path.with_name(f".{path.name}.{'a1' * 8}.new")
    half.write_bytes(path.read_bytes()[:20])
    other = path.with_name(f".{path.name}.mine.new")
    other.write_bytes(b"")

    assert Checkpoint(path).resume() == 3
    assert sorted(path.parent.iterdir()) == sorted([path, other])


def test_an_unknown_type_is_named() -> None:
    with pytest.raises(CheckpointUnfit, match=r"builtins\.object, whose state is not known"):
        find_parts("thing", object())


@pytest.mark.parametrize("position", [-1, 1.0, True, "3"])
def test_a_position_is_a_number_of_steps(path: Path, position: Any) -> None:
    with pytest.raises(CheckpointUnfit, match="position"):
        Checkpoint(path).save(position)
    assert not path.exists()


def test_the_name_of_the_generators_is_taken(path: Path) -> None:
    with pytest.raises(CheckpointUnfit, match="generators="):
        Checkpoint(path, generators=[])


def test_missing_and_superfluous_parts_are_named(path: Path) -> None:
    Checkpoint(path, a=[], b=[]).save(1)

    with pytest.raises(CheckpointUnfit, match="has no state of c and has a state of b,") as caught:
        Checkpoint(path, a=[], c=[]).resume()
    assert caught.value.fields["missing"] == ["c"]
    assert caught.value.fields["more"] == ["b"]


def test_another_class_is_named(path: Path) -> None:
    Checkpoint(path, a=np.random.default_rng(1)).save(1)

    with pytest.raises(CheckpointUnfit, match=r"a Generator of PCG64, and .* a Generator of SFC64"):
        Checkpoint(path, a=np.random.Generator(np.random.SFC64(1))).resume()


def test_another_version_of_a_library_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Checkpoint(path).save(1)
    monkeypatch.setattr(np, "__version__", "0.1")

    with pytest.raises(CheckpointVersion, match=r"under numpy .*, and this is numpy 0\.1"):
        Checkpoint(path).resume()


def test_a_nan_is_not_written(path: Path) -> None:
    progress = {"losses": [0.5, float("nan")]}
    Checkpoint(path, progress={"losses": [1.0]}).save(1)

    with pytest.raises(
        StateNotANumber, match=r"progress\.items\.losses\[1\] holds a NaN at position 2"
    ):
        Checkpoint(path, progress=progress).save(2)
    kept: dict[str, Any] = {}
    assert Checkpoint(path, progress=kept).resume() == 1
    assert kept == {"losses": [1.0]}

    Checkpoint(path, allow_nan=True, progress=progress).save(2)
    assert Checkpoint(path, progress=kept).resume() == 2
    assert np.isnan(kept["losses"][1])


def test_a_folder_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(OutputUnwritable):
        Checkpoint(path / "none" / "c.checkpoint").save(1)


def test_batches_of_a_loader_that_is_no_target_are_refused(path: Path) -> None:
    with pytest.raises(LoaderUnfit, match="list that is not a target"):
        Checkpoint(path).batches([1, 2])


NO_STATES: list[object] = [
    None,
    {},
    {"version": 3, "words": np.arange(2), "gauss": None},
    {"version": 3, "words": np.array([0] * 624 + [700]), "gauss": None},
    {"version": 3, "words": np.array([0] * 624 + [1]), "gauss": "x"},
    {"state": {}, "spawned": 0},
    {"state": {"bit_generator": "PCG64", "state": 1, "has_uint32": 0, "uinteger": 0}, "spawned": 0},
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("state", NO_STATES)
def test_what_is_no_state_changes_no_generator(make: Callable[[], Any], state: object) -> None:
    (part,) = find_parts("g", make()).values()
    before = encode(part.read())

    with pytest.raises(CheckpointUnfit, match="The state of g"):
        part.write(state)
    assert encode(part.read()) == before


@pytest.mark.parametrize(
    ("make", "field"),
    [(MAKERS[2], ("state", "pos")), (MAKERS[6], ("state", "pos")), (MAKERS[3], ("buffer_pos",))],
)
def test_no_place_outside_of_a_buffer_is_put_into_numpy(
    make: Callable[[], Any], field: tuple[str, ...]
) -> None:
    (part,) = find_parts("g", make()).values()
    state: Any = part.read()
    inner = state["state"]
    for key in field[:-1]:
        inner = inner[key]
    inner[field[-1]] = 10_000

    with pytest.raises(CheckpointUnfit, match="outside of its buffer"):
        part.write(state)


def test_a_state_that_fits_no_part_is_refused_on_resume(path: Path) -> None:
    checkpoint = Checkpoint(path, a=[1])
    checkpoint.save(1)
    header, states = checkpoint_file.read_states(path)
    states["a"] = {"items": {"type": "unknown"}}
    parts = [PartState(one.name, one.kind, one.device, states[one.name]) for one in header.entries]
    pieces = checkpoint_file.encode_checkpoint(1, header.versions, parts)
    path.write_bytes(b"".join(pieces))

    with pytest.raises(CheckpointUnfit, match="'unknown' is not a type of a tree"):
        checkpoint.resume()


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(lambda items: deque(items, maxlen=5))
        | st.dictionaries(st.sampled_from(["type", "a", "b"]) | st.integers(), inner, max_size=3)
        | st.dictionaries(st.integers(), st.integers(), max_size=3).map(Counter)
    ),
    max_leaves=10,
)


@given(value=values)
def test_a_value_comes_back_from_its_tree(value: object) -> None:
    again = from_tree(to_tree(value, "value"))

    assert again == value
    assert type(again) is type(value)


def test_an_array_keeps_its_order_of_memory() -> None:
    columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))

    again = from_tree(to_tree(columns, "array"))

    assert again.flags.f_contiguous
    assert again.tolist() == columns.tolist()


def test_a_value_without_a_tree_is_named() -> None:
    with pytest.raises(CheckpointUnfit, match=r"state\.a\[0\] is of the type builtins\.set"):
        to_tree({"a": [{1}]}, "state")
