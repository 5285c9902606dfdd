"""Short texts for values."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
from pathlib import Path

import numpy as np
import pytest

from twice.diagnosis.localization.description import find_first_cell
from twice.diagnosis.tracing.value_preview import short, show


class Thing:
    def __init__(self):
        self.a, self.b = 1, "text"

    def __repr__(self):
        raise AssertionError("user code ran")


class Shy(np.float64):
    """A number of numpy's whose class answers nothing."""

    def refuse(self, *_: object) -> None:
        raise AssertionError("user code ran")

    item = __float__ = __repr__ = __str__ = refuse
    dtype = property(refuse)


class Way(enum.Enum):
    NORTH = "n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "1.5"),
        ((1,), "(1,)"),
        ([1, "a"], "[1, 'a']"),
        ({"b", "a"}, "{'a', 'b'}"),
        (set(), "set()"),
        ({"k": [1]}, "{'k': [1]}"),
        (list(range(12)), "[0, 1, 2, 3, 4, 5, 6, 7, ... (12)]"),
        (np.arange(6.0), "array(float64, shape (6,)) [0.0, 1.0, 2.0, 3.0]..."),
        (np.float32(1.5), "float32(1.5)"),
        (np.longdouble(1.5), "longdouble(np.longdouble('1.5'))"),
        (ValueError(1), "ValueError(1,)"),
        (Way.NORTH, "Way.NORTH"),
        (dt.date(2024, 5, 1), "datetime.date(2024, 5, 1)"),
        (decimal.Decimal("0.10"), "Decimal('0.10')"),
        (range(3), "range(0, 3)"),
        (len, "<builtins.builtin_function_or_method len>"),
        (int, "<builtins.type <class 'int'>>"),
    ],
)
def test_plain_data_is_written_out(value, text):
    assert short(value) == text


def test_an_instance_shows_its_plain_attributes_and_runs_none_of_its_code():
    assert short(Thing()) == f"<{Thing.__module__}.Thing a=1 b='text'>"


def test_a_number_whose_class_is_the_users_is_shown_by_numpys_own_means():
    assert short(Shy(1.5)) == "Shy(1.5)"


def test_an_object_in_a_scalar_of_numpys_is_shown_without_its_own_text():
    scalar = np.array([(1, Thing())], dtype="i4,O")[0]

    assert short(scalar) == f"void((1, <{Thing.__module__}.Thing a=1 b='text'>))"


@pytest.mark.parametrize("path", ["held@4", "held@7", "held@host", "held@", "held@-5"])
@pytest.mark.parametrize(
    "held", [np.zeros((2, 2)), [0, 1, 2, 3], (0, 1, 2, 3), dict.fromkeys("abcd")]
)
def test_an_item_that_is_not_there_is_left_out(path, held):
    assert show([path], {"held": held}) == {}


def test_an_item_of_an_array_that_is_not_contiguous_is_counted_in_its_order():
    held = np.arange(6).reshape(2, 3).T

    assert show(["held@1"], {"held": held})["held@1"].text == "int64(3)"


def test_a_generator_of_random_numbers_shows_a_position_that_moves():
    rng = np.random.default_rng(1)
    before = short(rng)
    rng.random()
    assert before != short(rng)
    assert before.startswith("numpy.random._generator.Generator in state ")


def test_text_is_never_longer_than_asked():
    assert len(short("x" * 1000, width=40)) == 40


def test_the_first_item_that_differs_is_found_and_can_be_shown():
    one, two = [list(range(20)) for _ in range(2)]
    two[17] = -1
    shown = [show(["r", "r@17"], {"r": each}) for each in (one, two)]
    assert find_first_cell(shown[0]["r"], shown[1]["r"]) == (17, 1, 20)
    assert (shown[0]["r@17"].text, shown[1]["r@17"].text) == ("17", "-1")


def test_lists_that_differ_in_order_alone_say_so():
    shown = [show(["r"], {"r": each})["r"] for each in ([1, 2, 2], [2, 1, 2], [2, 1, 1])]
    assert shown[0].unordered == shown[1].unordered != shown[2].unordered


def test_a_path_is_shown_by_its_text_and_caches_nothing() -> None:
    path = Path("lake", "shore.csv")

    assert short(path) == f"{type(path).__name__}('lake/shore.csv')"
    assert not hasattr(path, "_str")
    assert short(Path.__new__(Path)).startswith(type(path).__name__)
