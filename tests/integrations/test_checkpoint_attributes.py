"""The attributes of an object are a part: what is read says everything, and comes back in place."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from twice.errors import CheckpointUnfit
from twice.foundation.encoding import encode
from twice.integrations.checkpoints import Checkpoint
from twice.integrations.checkpoints.attribute_parts import AttributesPart, HeldGenerator


class Inner:
    def __init__(self) -> None:
        self.count = 0


class Owner:
    """An object with an attribute of each kind that can be state."""

    def __init__(self) -> None:
        self.number = 1.5
        self.pair: Any = (1, "two")
        self.rows = np.arange(6.0).reshape(2, 3)
        self.row = self.rows[0]
        self.recent: deque[int] = deque([1, 2], maxlen=2)
        self.inner = Inner()
        self.second_name = self.inner
        self.generator = np.random.default_rng(3)
        self.start_time = 12.0
        self.function = len

    def change(self) -> None:
        self.number, self.pair = 2.5, (3, "four", None)
        self.rows[:] = 7
        self.recent.append(9)
        self.inner.count = 5
        self.generator.random(3)
        self.start_time = 99.0


def test_a_new_object_gets_the_state_of_another_one() -> None:
    changed, new = Owner(), Owner()
    changed.change()
    state = AttributesPart("owner", changed).read()
    expected = changed.generator.random(4)
    AttributesPart("owner", new).write(state)
    assert (new.number, new.pair, list(new.recent)) == (2.5, (3, "four", None), [2, 9])
    assert new.recent.maxlen == 2
    assert new.second_name is new.inner
    assert new.inner.count == 5
    assert np.array_equal(new.generator.random(4), expected)
    assert new.start_time == 12.0, "times of the clock are no state"


def test_a_state_is_a_copy_and_comes_back_equal() -> None:
    owner = Owner()
    part = AttributesPart("owner", owner)
    state = part.read()
    before = encode(state)
    owner.change()
    assert encode(state) == before
    part.write(state)
    assert encode(part.read()) == before
    owner.change()
    assert encode(state) == before, "the object goes on with arrays of its own"


def test_unchanged_attributes_are_in_the_state() -> None:
    state: Any = AttributesPart("owner", Owner()).read()
    assert {"number", "pair", "rows", "recent", "inner"} <= state["values"].keys()


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (iter([1]), "list_iterator"),
        ([np.random.default_rng(1)], "generator inside"),
        (np.array([object()]), "dtype object"),
    ],
)
def test_what_has_no_plain_form_is_refused_with_its_path(value: object, what: str) -> None:
    owner: Any = Owner()
    owner.hidden = value
    with pytest.raises(CheckpointUnfit, match=what) as refused:
        AttributesPart("env", owner).read()
    assert "hidden" in str(refused.value)
    assert "opaque=('hidden',)" in str(refused.value)
    assert AttributesPart("env", owner, opaque=["hidden"]).read()


def test_an_object_that_is_not_there_any_more_is_refused() -> None:
    changed, new = Owner(), Owner()
    new.inner = None  # type: ignore[assignment]
    with pytest.raises(CheckpointUnfit, match="not there now"):
        AttributesPart("owner", new).write(AttributesPart("owner", changed).read())


@pytest.mark.parametrize("state", [None, 3, {}, {"values": {}}])
def test_other_states_are_refused(state: object) -> None:
    with pytest.raises(CheckpointUnfit):
        AttributesPart("owner", Owner()).write(state)


def test_the_generator_of_a_space_is_made_and_filled() -> None:
    drawn, fresh = gymnasium.spaces.Discrete(1000), gymnasium.spaces.Discrete(1000)
    assert HeldGenerator("space", fresh).read() is None
    drawn.seed(4)
    drawn.sample()
    HeldGenerator("space", fresh).write(HeldGenerator("space", drawn).read())
    assert [fresh.sample() for _ in range(5)] == [drawn.sample() for _ in range(5)]
    HeldGenerator("space", fresh).write(None)
    assert fresh._np_random is None


def test_a_generator_keeps_its_other_names() -> None:
    holder, other = Owner(), Owner()
    holder.also = holder.generator  # type: ignore[attr-defined]
    other.generator.random(9)
    HeldGenerator("g", holder, "generator").write(HeldGenerator("g", other, "generator").read())
    assert holder.also is holder.generator  # type: ignore[attr-defined]


def test_a_generator_of_another_kind_takes_the_place() -> None:
    holder, other = Owner(), Owner()
    other.generator = np.random.Generator(np.random.Philox(5))
    HeldGenerator("g", holder, "generator").write(HeldGenerator("g", other, "generator").read())
    assert holder.generator.random() == np.random.Generator(np.random.Philox(5)).random()
    with pytest.raises(CheckpointUnfit, match="Unknown"):
        HeldGenerator("g", holder, "generator").write({"bits": "Unknown", "inner": None})


def test_the_parts_go_through_a_file(tmp_path: Path) -> None:
    changed, new = Owner(), Owner()
    changed.change()
    part: Any = AttributesPart("owner", changed)
    Checkpoint(tmp_path / "c", owner=part).save(1)
    again: Any = AttributesPart("owner", new)
    assert Checkpoint(tmp_path / "c", owner=again).resume() == 1
    assert encode(again.read()) == encode(part.read())
