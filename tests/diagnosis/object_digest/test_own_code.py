"""No line of the user's code runs while an object is digested, also where its class is made of a library's."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from twice.diagnosis.object_digest import librarystate
from twice.diagnosis.object_digest.graphdigest import digest_layers, digest_roots
from twice.diagnosis.object_digest.mujocostate import is_mjdata
from twice.diagnosis.object_digest.state import in_bytes
from twice.diagnosis.tracing.value_preview import short
from twice.foundation.object_attributes import attributes, class_facts


def _refuse(*_: object) -> Any:
    raise AssertionError("the user's code ran")


class Shy:
    """Its default text would hold its address."""

    def __init__(self, number: int) -> None:
        self.number = number

    __repr__ = __eq__ = __index__ = _refuse
    __hash__ = None  # type: ignore[assignment]


class Step(int):
    __repr__ = _refuse


class Scalar(np.float64):
    dtype = property(_refuse)
    tobytes = _refuse


class Bits(np.random.PCG64):
    state = property(_refuse)


class Seeds(np.random.SeedSequence):
    entropy = spawn_key = property(_refuse)


@pytest.mark.parametrize(
    "make",
    [
        lambda number: itertools.repeat(Shy(number)),
        lambda number: itertools.repeat("x", number),
        lambda number: itertools.count(number),
        lambda number: itertools.count(0, Step(number)),
        lambda number: itertools.count(0.5, number),
        Scalar,
        Bits,
        Seeds,
    ],
)
def test_it_is_read_by_the_librarys_own_means(make: Callable[[int], object]) -> None:
    one, again, other = (digest_roots({"it": make(number)})["it"] for number in (3, 3, 4))

    assert one == again
    assert one != other


def test_how_often_something_is_repeated_still_is_state() -> None:
    begun = itertools.repeat("x", 3)
    next(begun)

    assert digest_roots({"it": begun}) == digest_roots({"it": itertools.repeat("x", 2)})
    assert digest_roots({"it": begun}) != digest_roots({"it": itertools.repeat("x")})


def shy(base: type, *asked: str) -> Any:
    """Make a class derived from another one, of which nothing may be asked that the names say."""
    return type("Mine", (base,), dict.fromkeys(asked, property(_refuse)))


def remade(kind: Any, plain: object) -> Any:
    """Make an instance of a derived class with the same attributes as one of the class itself."""
    mine = object.__new__(kind)
    object.__getattribute__(mine, "__dict__").update(vars(plain))
    return mine


def digest(value: object) -> bytes:
    return digest_roots({"it": value})["it"]


COLUMN = ("array", "dtype", "index", "name", "names", "to_numpy", "values", "_values", "__array__")
CONTAINER = ("__getattr__", "__iter__", "__len__")


def test_tables_of_classes_made_of_pandas_are_read_by_its_own_means() -> None:
    pandas = pytest.importorskip("pandas")
    column = shy(pandas.Series, *COLUMN, *CONTAINER)
    frame = shy(pandas.DataFrame, "columns", "index", "shape", "values", *CONTAINER)
    index = shy(pandas.RangeIndex, *COLUMN, *CONTAINER)
    places = shy(pandas.Index, *COLUMN, *CONTAINER)
    several = shy(pandas.MultiIndex, "codes", "levels", *COLUMN, *CONTAINER)
    makes: list[Callable[[int], object]] = [
        lambda number: remade(column, pandas.Series([1, number])),
        lambda number: remade(frame, pandas.DataFrame({"a": [1, number]})),
        lambda number: remade(index, pandas.RangeIndex(number)),
        lambda number: remade(places, pandas.Index([1, number])),
        lambda number: remade(several, pandas.MultiIndex.from_tuples([(1, 2), (3, number)])),
    ]

    for make in makes:
        one, again, other = (digest(make(number)) for number in (3, 3, 4))
        assert one == again
        assert one != other


def test_arrays_of_classes_made_of_pandas_are_read_by_what_they_hold() -> None:
    pandas = pytest.importorskip("pandas")
    categories = shy(pandas.Categorical, "codes", "categories", "dtype", "__array__", *CONTAINER)
    own = shy(pandas.api.extensions.ExtensionArray, "dtype", "__array__", *CONTAINER)

    def made(word: str) -> tuple[object, object]:
        plain, bare = pandas.Categorical(["a", word]), own()
        bare.__dict__["held"] = [word]
        return type(plain).__mro__[2].__dict__["_simple_new"].__get__(None, categories)(
            plain._ndarray, plain._dtype
        ), bare

    for at in (0, 1):
        assert digest(made("b")[at]) == digest(made("b")[at])
        assert digest(made("b")[at]) != digest(made("c")[at])


def test_an_index_that_is_laid_out_in_an_unknown_way_is_told_of() -> None:
    pandas = pytest.importorskip("pandas")

    caveats = digest_layers([{"it": object.__new__(pandas.Index)}]).caveats

    assert ["laid out in an unknown way" in each for each in caveats] == [True]


def test_a_frame_whose_index_is_the_users_is_shown_without_asking_it() -> None:
    pandas = pytest.importorskip("pandas")
    index = remade(shy(pandas.RangeIndex, *COLUMN, *CONTAINER), pandas.RangeIndex(2))
    frame = pandas.DataFrame({"a": [1, 2]})
    assert short(frame) == "DataFrame(2 rows, columns ['a'])"

    frame._mgr.axes[1] = index

    assert short(frame) == "<pandas.DataFrame>"


@pytest.mark.heavy
def test_tables_of_classes_made_of_polars_are_read_by_its_own_means() -> None:
    polars = pytest.importorskip("polars")
    column = shy(polars.Series, "name", "dtype", "to_numpy", *CONTAINER)
    frame = shy(polars.DataFrame, "columns", "get_columns", "schema", *CONTAINER)

    for kind, plain in ((column, lambda n: polars.Series("a", [1, n])),
                        (frame, lambda n: polars.DataFrame({"a": [1, n]}))):  # fmt: skip
        one, again, other = (digest(remade(kind, plain(number))) for number in (3, 3, 4))
        assert one == again
        assert one != other


class Nameless(type):
    """Classes of it say nothing of themselves."""

    __name__ = __module__ = property(_refuse)  # type: ignore[assignment]


def test_whether_a_value_is_a_simulation_is_asked_of_no_metaclass() -> None:
    assert not is_mjdata(Nameless("MjData", (), {})())


def test_the_result_of_a_future_is_read_past_its_metaclass() -> None:
    mine: Any = Nameless("Future", (asyncio.Future,), {})
    loop = asyncio.new_event_loop()

    def done(number: int) -> object:
        future = mine(loop=loop)
        future.set_result(number)
        return future

    with contextlib.closing(loop):
        assert digest(done(3)) == digest(done(3))
        assert digest(done(3)) != digest(done(4))


@pytest.mark.integration
def test_a_simulation_of_a_class_made_of_mujocos_is_read_by_its_own_means() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint type='hinge'/><geom size='.1'/></body></worldbody></mujoco>"
    )
    mine = shy(mujoco.MjData, "qpos", "time", "xpos", "model")

    def turned(by: float) -> object:
        data = mine(model)
        mujoco.MjData.qpos.__get__(data)[0] = by
        return data

    assert digest(turned(0.5)) == digest(turned(0.5))
    assert digest(turned(0.5)) != digest(turned(0.25))


@pytest.mark.parametrize("kind", [pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.Path])
@pytest.mark.parametrize(
    "text", ["", "a", "/", "/a//b/./c", "//a/b", "../a", "c:/a", "c:a", "\\\\host\\share\\a"]
)
def test_a_path_is_read_by_its_text_and_keeps_nothing_of_that(
    kind: type[pathlib.PurePath], text: str
) -> None:
    path, facts = kind(text), class_facts(type(kind(text)))
    before = attributes(path, facts)

    state = librarystate.read(path, facts)

    assert state is not None
    assert state.chunks == in_bytes(str(kind(text)))
    assert attributes(path, facts) == before


def test_a_path_of_the_users_class_is_not_asked_for_its_text() -> None:
    asked = ("__fspath__", "__str__", "_format_parsed_parts", "_str", "parts")
    mine = shy(pathlib.PurePosixPath, *asked)

    assert digest(mine("a/b")) == digest(mine("a//b"))
    assert digest(mine("a/b")) != digest(mine("a/c"))
