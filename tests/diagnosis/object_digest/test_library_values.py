"""Values of Python's own classes and of libraries are read by what they hold, and reading raises nothing."""

from __future__ import annotations

import array
import collections
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import pathlib
import queue
import random
import threading
import types
import uuid
from typing import Any

import numpy as np
import pytest

from twice.diagnosis.object_digest.graphdigest import digest_layers


class Way(enum.Enum):
    NORTH, SOUTH = 1, 2


class Text(str):
    __slots__ = ()


class Blob(bytearray):
    pass


PAIRS: list[tuple[Any, Any]] = [
    (bytearray(b"ab"), bytearray(b"ac")),
    (Blob(b"ab"), Blob(b"ac")),
    (b"ab", b"ac"),
    (memoryview(b"ab"), memoryview(b"ac")),
    (Text("ab"), Text("ac")),
    (array.array("d", [1.0]), array.array("d", [2.0])),
    (collections.deque([1]), collections.deque([2])),
    (collections.Counter("ab"), collections.Counter("abb")),
    (collections.ChainMap({"a": 1}), collections.ChainMap({"a": 2})),
    (dt.date(2024, 5, 1), dt.date(2024, 5, 2)),
    (dt.timedelta(1), dt.timedelta(2)),
    (decimal.Decimal("0.1"), decimal.Decimal("0.10")),
    (fractions.Fraction(1, 3), fractions.Fraction(2, 3)),
    (ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("10.0.0.2")),
    (pathlib.Path("a"), pathlib.Path("b")),
    (random.Random(1), random.Random(2)),
    (types.SimpleNamespace(a=1), types.SimpleNamespace(a=2)),
    (uuid.UUID(int=1), uuid.UUID(int=2)),
    (Way.NORTH, Way.SOUTH),
    (range(3), range(4)),
    (slice(3), slice(4)),
    (np.arange(3), np.arange(4)),
    (np.array(["a", None], dtype=object), np.array(["b", None], dtype=object)),
    (np.float32(1), np.float32(2)),
    (np.datetime64("2024-01-01"), np.datetime64("2024-01-02")),
    (np.random.default_rng(1), np.random.default_rng(2)),
]


def digest(value: object) -> tuple[bytes, ...]:
    """Return the digests of one object, and of the objects that it refers to."""
    graph = digest_layers([{"r": [value]}])
    return tuple(graph.digests.values())


@pytest.mark.parametrize(("one", "two"), PAIRS, ids=[type(one).__name__ for one, _ in PAIRS])
def test_other_values_have_other_digests(one: object, two: object) -> None:
    assert digest(one) == digest(one)
    assert digest(one) != digest(two)


def test_what_cannot_be_read_raises_nothing() -> None:
    for value in (threading.Lock(), queue.Queue(), object(), memoryview(b"a"), NotImplemented):
        assert digest(value) == digest(value)


@pytest.mark.heavy
def test_a_gradient_is_part_of_a_tensor() -> None:
    torch = pytest.importorskip("torch")
    weights = torch.ones(3, requires_grad=True)
    before = digest(weights)
    (weights * 2).sum().backward()
    after = digest(weights)
    assert before != after
    weights.grad += 1
    assert digest(weights) != after


@pytest.mark.heavy
def test_an_array_of_jax_is_read() -> None:
    jnp = pytest.importorskip("jax.numpy")
    assert digest(jnp.arange(3)) != digest(jnp.arange(3) + 1)
    gone = jnp.arange(3)
    gone.delete()
    assert digest(gone) == digest(gone)


def test_tables_of_pandas_are_read() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "s": ["x", "y"]})
    others = [
        frame[["s", "a"]], frame.assign(a=[1, 3]), frame.assign(s=["x", "z"]), frame.set_index("s"),
        frame.rename(columns={"a": "b"}), frame.iloc[:1],
    ]  # fmt: skip
    assert digest(frame) == digest(frame.copy())
    assert len({digest(each) for each in (frame, *others)}) == 1 + len(others)
    series = frame["a"]
    assert (
        len({digest(each) for each in (series, series + 1, series.rename("c"), series[::-1])}) == 4
    )
    index = pandas.MultiIndex.from_tuples([(1, 2), (3, 4)])
    assert digest(index) != digest(index[::-1])
    assert digest(pandas.Categorical(["a", "b"])) != digest(pandas.Categorical(["b", "a"]))


@pytest.mark.heavy
def test_tables_of_polars_are_read() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, 2], "s": ["x", "y"]})
    others = [frame.select("s", "a"), frame.with_columns(a=3), frame.rename({"a": "b"}), frame[:1]]
    assert digest(frame) == digest(frame.clone())
    assert len({digest(each) for each in (frame, *others)}) == 1 + len(others)
    assert digest(frame["s"]) != digest(frame["s"].reverse())


@pytest.mark.integration
def test_a_simulation_of_mujoco_is_read() -> None:
    mujoco = pytest.importorskip("mujoco")
    xml = "<mujoco><worldbody><body><joint type='hinge'/><geom size='.1'/></body></worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    before = digest(data), digest(model)
    data.qvel[0] = 1.0
    model.opt.timestep = 0.1
    assert digest(data) != before[0]
    assert digest(model) != before[1]


def test_a_hash_that_a_library_keeps_of_an_object_is_no_state_of_it() -> None:
    symbols = [
        types.new_class("Symbol", (), {}, lambda held: held.update(__module__="lib"))()
        for _ in range(2)
    ]
    for number, symbol in enumerate(symbols):
        symbol.name, symbol._mhash = "x", number
    assert digest(symbols[0]) == digest(symbols[1])
    symbols[1].name = "y"
    assert digest(symbols[0]) != digest(symbols[1])


def test_bytes_between_the_fields_of_an_array_are_no_state() -> None:
    padded = np.dtype([("a", "u1"), ("b", "<f8")], align=True)
    one, two = (np.frombuffer(bytes([fill]) * 32, padded).copy() for fill in (1, 2))
    for each in (one, two):
        each["a"], each["b"] = 3, 0.5

    assert digest(one) == digest(two)
    assert digest(one[0]) == digest(two[0])
    two["b"][1] = 0.25
    assert digest(one) != digest(two)
    assert digest(one[1]) != digest(two[1])


def test_fields_that_overlap_are_read() -> None:
    union = np.dtype({"names": ["whole", "low"], "formats": ["<u4", "<u2"], "offsets": [0, 0]})

    assert digest(np.array([(7, 7)], union)) != digest(np.array([(8, 8)], union))


class _Zone(dt.tzinfo):
    def __init__(self, minutes: int) -> None:
        self.minutes = minutes

    def utcoffset(self, moment: dt.datetime | None) -> dt.timedelta:
        raise AssertionError("looking at a value runs nothing of the user's")

    def __repr__(self) -> str:
        raise AssertionError("looking at a value runs nothing of the user's")


def test_a_zone_of_the_users_own_is_opened_and_not_asked() -> None:
    def moment(minutes: int, fold: int = 0) -> dt.datetime:
        return dt.datetime(2026, 1, 2, 3, tzinfo=_Zone(minutes), fold=fold)

    assert digest(moment(60)) == digest(moment(60))
    assert digest(moment(60)) != digest(moment(90))
    assert digest(moment(60)) != digest(moment(60, fold=1))
    assert digest(dt.time(3, tzinfo=_Zone(1))) != digest(dt.time(3, tzinfo=_Zone(2)))


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "I;16", "F"])
def test_an_image_is_compared_by_its_pixels(mode: str) -> None:
    image = pytest.importorskip("PIL.Image")
    one, two = (image.new(mode, (70, 50), 0) for _ in range(2))
    assert digest(one) == digest(two)
    two.putpixel((69, 49), 1)
    assert digest(one) != digest(two)


def test_an_image_of_no_size_and_a_palette_are_read() -> None:
    image = pytest.importorskip("PIL.Image")
    assert digest(image.new("RGB", (0, 3))) != digest(image.new("RGB", (3, 0)))
    one, two = (image.new("P", (2, 2)) for _ in range(2))
    two.putpalette([1, 2, 3])
    assert digest(one) != digest(two)
