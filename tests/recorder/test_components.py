"""Which objects are components as they are, how they are read and put back, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pytest

from twice.errors import ComponentRefused
from twice.recorder.components import RESERVED, component_of


class Stateful:
    def __init__(self) -> None:
        self.value = 1

    def state(self) -> dict[str, int]:
        return {"value": self.value}

    def restore(self, state: dict[str, int]) -> None:
        self.value = state["value"]


class ReadOnly:
    def state(self) -> int:
        return 3


@dataclass
class Account:
    owner: str
    entries: list[int] = field(default_factory=list)


class Plain:
    def __init__(self) -> None:
        self.a, self.b, self.unsaid = 1, [2], 3


@pytest.mark.parametrize(
    ("target", "options", "form", "state"),
    [
        (Stateful(), {}, "state/restore", {"value": 1}),
        (ReadOnly(), {}, "state only", 3),
        (Account("ada", [1]), {}, "dataclass", {"owner": "ada", "entries": [1]}),
        (Plain(), {"fields": ["a", "b"]}, "fields", {"a": 1, "b": [2]}),
        (Plain(), {}, "attributes", {"a": 1, "b": [2], "unsaid": 3}),
        ({"k": 1}, {}, "content", {"k": 1}),
        ([1, 2], {}, "content", [1, 2]),
        ({3}, {}, "content", {3}),
        (bytearray(b"x"), {}, "content", bytearray(b"x")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_object_is_understood_by_its_form(
    target: object, options: dict[str, Any], form: str, state: object
) -> None:
    component = component_of("part", target, **options)
    assert (component.form, component.read()) == (form, state)
    assert (component.put is None) == (form == "state only")


def test_every_form_is_put_back_in_place() -> None:
    stateful, account, plain = Stateful(), Account("ada", [1]), Plain()
    items, table, chosen, raw, grid = [1], {"k": 1}, {3}, bytearray(b"x"), np.arange(4.0)
    targets: list[tuple[object, object, dict[str, Any]]] = [
        (stateful, {"value": 9}, {}),
        (account, {"owner": "bob", "entries": [7]}, {}),
        (plain, {"a": 5, "b": [6]}, {"fields": ["a", "b"]}),
        (items, [4, 5], {}),
        (table, {"other": 2}, {}),
        (chosen, {8, 9}, {}),
        (raw, bytearray(b"longer"), {}),
    ]
    for target, state, options in targets:
        component = component_of("part", target, **options)
        assert component.put is not None
        component.put(state)
        assert component.read() == state
    component = component_of("grid", grid)
    assert component.put is not None
    component.put(np.full(4, 2.5))
    assert grid.tolist() == [2.5] * 4
    assert plain.unsaid == 3


@pytest.mark.parametrize("name", ["", *RESERVED])
def test_a_name_that_is_taken_by_the_run_is_refused(name: str) -> None:
    with pytest.raises(ComponentRefused, match="cannot be called"):
        component_of(name, [1])


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (object(), {}, "says nothing about its state"),
        (Plain(), {"fields": ["a", "z"]}, "has no attribute z"),
        (Plain(), {"fields": []}, "no attribute"),
        (3, {}, "says nothing"),
        ("text", {}, "says nothing"),
        (Account, {}, "says nothing"),
        (Stateful(), {"incremental": True}, "has no changed"),
    ],
)
def test_what_is_no_component_is_refused_with_what_to_do(
    target: object, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ComponentRefused, match=message) as caught:
        component_of("part", target, **options)
    assert caught.value.remedy


@pytest.mark.parametrize("generator", [np.random.default_rng(1), Random(1)])
def test_a_generator_is_sent_to_the_streams(generator: object) -> None:
    with pytest.raises(ComponentRefused) as caught:
        component_of("dice", generator)
    assert 'run.rng("dice")' in caught.value.remedy
