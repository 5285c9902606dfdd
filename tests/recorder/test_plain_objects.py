"""Objects of ordinary classes are state by their attributes, and are put back in place."""

from __future__ import annotations

import enum
import functools
import random
import threading
import uuid
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import ComponentRefused, RestoreRefused
from twice.foundation.encoding import decode, encode, loaded_types
from twice.recorder import object_writer
from twice.recorder.components import Component, component_of
from twice.recorder.object_reader import is_of_twice


class Item:
    def __init__(self, size: int) -> None:
        self.size = size

    def act(self) -> None: ...


class Slotted:
    __slots__ = ("__hidden", "shown", "unset")

    def __init__(self) -> None:
        self.shown, self.__hidden = 1, [2]

    def hide(self, value: int) -> None:
        self.__hidden.append(value)


@dataclass
class Bag:
    label: str
    items: list[Item] = field(default_factory=list)


class Counting:
    """Says itself what its state is."""

    def __init__(self) -> None:
        self.n, self.cache = 0, object()

    def state(self) -> int:
        return self.n

    def restore(self, state: int) -> None:
        self.n = state


class Player:
    def __init__(self, game: Game) -> None:
        self.game = game
        self.items = [Item(1), Item(2)]
        self.best = self.items[1]
        self.act = self.walk

    def walk(self) -> None: ...

    def run(self) -> None: ...


class Game:
    def __init__(self) -> None:
        self.player = Player(self)
        self.grid = np.zeros(3)
        self.view = self.grid[:2]
        self.slotted = Slotted()
        self.seen: defaultdict[str, int] = defaultdict(lambda: 0, {"k": 3})
        self.votes = Counter("aab")
        self.turns = deque([1, 2], maxlen=3)
        self.bag = Bag("b", [Item(7)])
        self.counting = Counting()
        self.pair: Any = (Item(3), {"in": Item(4)})


def change(game: Game) -> None:
    """Change every part of a game."""
    items = game.player.items
    items.append(Item(9))
    items[0], items[1] = items[1], items[0]
    game.player.best = items[2]
    game.grid[:] = 5
    game.slotted.shown = 8
    game.slotted.hide(4)
    game.seen["z"] += 2
    game.votes["c"] += 1
    game.turns.append(5)
    game.bag.items[0].size = 1
    game.bag.label = "c"
    game.counting.n = 4
    game.pair[1]["in"].size = 0
    game.late = Item(0)  # type: ignore[attr-defined]


def move(component: Component, form: bytes) -> None:
    """Put a state back as a replay does: decoded from its canonical form."""
    assert component.put is not None
    component.put(decode(form, resolve=loaded_types))


def test_all_that_an_object_reaches_is_put_back_in_place() -> None:
    game = Game()
    component = component_of("game", game)
    player, grid, turns = game.player, game.grid, game.turns
    before = encode(component.read())
    change(game)
    after = encode(component.read())

    move(component, before)
    assert encode(component.read()) == before != after
    assert game.player is player
    assert game.grid is grid
    assert game.turns is turns
    assert not hasattr(game, "late")
    assert game.player.best is game.player.items[1]
    move(component, after)
    assert encode(component.read()) == after
    assert game.player.best is game.player.items[2]
    assert game.view.base is grid
    assert game.seen["new"] == 0, "its own factory is kept"


def test_a_fresh_object_takes_a_state_with_objects_that_it_has_not_made() -> None:
    old, fresh = Game(), Game()
    change(old)
    state = encode(component_of("game", old).read())
    component = component_of("game", fresh)
    move(component, state)
    assert encode(component.read()) == state
    assert fresh.player.game is fresh
    assert fresh.player.best is fresh.player.items[2]


def test_paths_are_those_of_the_program() -> None:
    state: Any = component_of("game", Game()).read()
    player = dict(state["player"].fields)
    assert state["player"].name.endswith(":Player")
    assert player["game"].value == ""
    assert player["items"][1].value == "player.best", "met first by the name that sorts first"
    assert player["act"].value.endswith(":Player.walk")


def test_another_function_in_an_attribute_is_another_state() -> None:
    game = Game()
    component = component_of("game", game)
    before = encode(component.read())
    game.player.act = game.player.run
    assert encode(component.read()) != before
    with pytest.raises(RestoreRefused, match=r"player\.act"):
        move(component, before.replace(b"Player.walk", b"Player.wulk"))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.random.default_rng(1), r"run\.rng"),
        (random.Random(1), r"run\.python"),
        (np.random.RandomState(1), r"run\.rng"),
    ],
)
def test_generators_of_its_own_are_refused_with_their_path(value: object, told: str) -> None:
    game = Game()
    game.player.extra = value  # type: ignore[attr-defined]
    with pytest.raises(ComponentRefused, match=r"player\.extra") as caught:
        component_of("game", game)
    assert told.replace("\\", "") in caught.value.remedy


def test_a_container_that_contains_itself_is_put_back() -> None:
    holder = _holder([1])
    inner: Any = holder.size
    inner.append(inner)
    component = component_of("x", holder)
    form = encode(component.read())
    inner.clear()
    move(component, form)
    assert holder.size is inner
    assert inner[1] is inner


@pytest.mark.parametrize("value", [threading.Lock(), iter([1]), {Item(1): 2}, {Item(1)}])
def test_what_has_no_form_is_refused_with_its_path_where_it_is_tracked(value: object) -> None:
    game = Game()
    game.player.extra = value  # type: ignore[attr-defined]
    with pytest.raises(ComponentRefused, match=r"player\.extra"):
        component_of("game", game)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level:
    def __init__(self, number: int) -> None:
        self.number = number


LEVELS = [Level(0), Level(1)]
ORIGIN = np.zeros(2)


@dataclass
class Loose:
    x: int = 0


class Looser(Loose):
    pass


class Mind:
    def __init__(self) -> None:
        self.kind, self.id = Colour.RED, uuid.UUID(int=5)
        self.level, self.at = LEVELS[0], ORIGIN
        self.first, self.second = Item(1), Item(2)
        self.act = self.first.act
        self.call = functools.partial(int, "11", base=2)
        self.names = self.others = ["a"]
        self.loose, self.looser = Loose(), Looser()
        self.loose.extra = 1  # type: ignore[attr-defined]
        self.half = lambda by=2: by

    def change(self) -> None:
        self.kind, self.id = Colour.BLUE, uuid.UUID(int=6)
        self.level, self.at = LEVELS[1], self.at + 1
        self.act = self.second.act
        self.call = functools.partial(int, "12", base=3)
        self.others = ["a"]
        self.loose.extra = 2  # type: ignore[attr-defined]
        self.looser.late = deque([1], maxlen=1)  # type: ignore[attr-defined]
        self.counts = Counter("ab")
        self.groups = defaultdict(list, {"a": [1]})
        self.half = lambda by=3: by


def test_each_part_that_changes_is_another_state_and_is_put_back() -> None:
    for name in [*vars(Mind()), "counts", "groups"]:
        if name in {"first", "second", "names"}:
            continue
        before, after = Mind(), Mind()
        after.change()
        one = encode(component_of("x", before).read())
        setattr(before, name, getattr(after, name))
        assert encode(component_of("x", before).read()) != one, name


def test_constants_of_the_program_are_not_changed_by_a_restore() -> None:
    mind = Mind()
    component = component_of("mind", mind)
    mind.change()
    mind.half = Mind().half  # one of another line cannot be made again
    after = encode(component.read())
    fresh = Mind()
    move(component_of("mind", fresh), after)
    assert encode(component_of("mind", fresh).read()) == after
    assert [level.number for level in LEVELS] == [0, 1]
    assert ORIGIN.tolist() == [0, 0]
    assert fresh.act.__self__ is fresh.second
    assert fresh.call() == 5
    assert fresh.groups["new"] == []
    assert fresh.looser.late.maxlen == 1  # type: ignore[attr-defined]
    assert fresh.names is not fresh.others


def test_a_constant_that_an_attribute_still_holds_stays_the_constant() -> None:
    mind = Mind()
    form = encode(component_of("mind", mind).read())
    fresh = Mind()
    move(component_of("mind", fresh), form)
    assert fresh.level is LEVELS[0]
    assert fresh.at is ORIGIN
    assert fresh.names is fresh.others


def test_lists_and_dicts_of_objects_are_components() -> None:
    items: list[Any] = [Item(1), Item(2)]
    component = component_of("items", items)
    form = encode(component.read())
    first = items[0]
    items.reverse()
    items.append({"more": Item(3)})
    items[1].size = 9
    move(component, form)
    assert encode(component.read()) == form
    assert [item.size for item in items] == [1, 2]
    assert first in items


plain = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(lambda value: _holder(value), inner)
    ),
    max_leaves=12,
)


def _holder(value: object) -> Item:
    made = Item(0)
    made.size = value  # type: ignore[assignment]
    return made


@given(plain, plain)
def test_reading_what_was_put_back_gives_the_same(first: object, second: object) -> None:
    target = _holder(first)
    component = component_of("x", target)
    form = encode(component.read())
    target.size = second  # type: ignore[assignment]
    with pytest.MonkeyPatch.context() as patch:
        # What this module holds leads to all that Hypothesis keeps of other tests: half a second each time.
        patch.setattr(object_writer, "is_user_file", lambda _: False)
        move(component, form)
        assert encode(component.read()) == form
        move(component, form)
        assert encode(component.read()) == form


def test_a_class_that_says_nothing_of_itself_stands_in_nobodys_way() -> None:
    class Nameless(type):
        __module__ = property(lambda cls: 1 / 0)  # type: ignore[assignment]

    quiet = Nameless("Quiet", (), {})

    assert not is_of_twice(quiet)
    assert not is_of_twice(Nameless)
