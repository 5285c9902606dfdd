"""A class that is made without generated source behaves as the standard library's would."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import inspect
import math
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twice
from twice.foundation.dataclass import dataclass

REFUSED = "refused"
ROOT = Path(twice.__file__).parent
ROOMS = ("foundation", "worker", "recorder", "replayer", "diagnosis")
MADE_OFTEN = {
    "diagnosis/localization/moments.py": "a moment for each event",
    "diagnosis/tracing/trace.py": "positions have an order",
    "foundation/encoding/opaque.py": "a stand-in for each object",
    "recorder/record/points.py": "a value for each point",
}
OPTIONS = [
    {"frozen": frozen, "slots": slots, "eq": eq}
    for frozen in (False, True)
    for slots in (False, True)
    for eq in (True, False)
]


def define(decorate: Callable[..., Any], **options: bool) -> type[Any]:
    """Define the same class with any of the decorators."""

    @decorate(**options)
    class Sample:
        """What the decorators are held against each other on."""

        count: ClassVar[int] = 5
        first: Any
        second: Any
        third: Any = "three"
        fourth: Any = dataclasses.field(default_factory=list, repr=False)
        fifth: Any = dataclasses.field(default=5, compare=False)
        sixth: Any = dataclasses.field(default=None, kw_only=True)

    return Sample


def both(**options: bool) -> tuple[type[Any], type[Any]]:
    return define(dataclasses.dataclass, **options), define(dataclass, **options)


def outcome(made: type[Any], act: Callable[[type[Any]], object]) -> object:
    """Return the result, or that it is refused: the kind of refusal differs between versions of Python."""
    try:
        return act(made)
    except (TypeError, AttributeError):
        return REFUSED


NAMES = ("first", "second", "third", "fourth", "fifth", "sixth", "unknown")
VALUES = st.sampled_from([1, 1.0, True, "one", math.nan, (), None])


@given(
    options=st.sampled_from(OPTIONS),
    by_place=st.lists(VALUES, max_size=7),
    named=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4),
)
def test_whatever_is_given_comes_to_the_same(options, by_place, named) -> None:
    theirs, ours = both(**options)
    results = []
    for made in (theirs, ours):
        value = outcome(made, lambda cls: cls(*by_place, **named))
        if value is not REFUSED:
            other = copy.copy(value)
            value = (
                repr(value), dataclasses.asdict(value), value == other, value != other, value == 1,
                outcome(made, lambda _: hash(value) == hash(other)),
            )  # fmt: skip
        results.append(repr(value))
    assert results[0] == results[1]


@pytest.mark.parametrize("options", OPTIONS)
def test_what_can_be_done_with_an_instance_is_the_same(options) -> None:
    def set_first(cls: type[Any]) -> object:
        value = cls(1, 2)
        value.first = 3
        return value.first

    def set_other(cls: type[Any]) -> object:
        value = cls(1, 2)
        value.other = 3
        return value.other

    def delete(cls: type[Any]) -> object:
        value = cls(1, 2)
        del value.first
        return vars(value) if hasattr(value, "__dict__") else dir(value).count("first")

    def match(cls: type[Any]) -> object:
        match cls(1, 2):
            case cls(first, second, "three", fourth, fifth):
                return first, second, fourth, fifth
        return None

    theirs, ours = both(**options)
    for act in (
        set_first, set_other, delete, match,
        lambda cls: dataclasses.replace(cls(1, 2), first=8, sixth=9).sixth,
        lambda cls: dataclasses.replace(cls(1, 2), unknown=8),
        lambda cls: hash(cls(1, 2, fourth=())) == hash(cls(1, 2, fourth=(), fifth=6)),
        lambda cls: cls(1, 2) == cls(1, 2, fifth=6),
        lambda cls: (cls.count, cls.__match_args__, cls.__doc__, cls.__name__, cls.__qualname__),
        lambda cls: [(each.name, each.type, each.kw_only) for each in dataclasses.fields(cls)],
        lambda cls: getattr(cls, "__slots__", None),
        lambda cls: cls.__hash__ is None,
        lambda cls: dataclasses.is_dataclass(cls),
    ):  # fmt: skip
        assert outcome(theirs, act) == outcome(ours, act)
    assert str(inspect.signature(theirs)).replace("<factory>", "<class 'list'>") == str(
        inspect.signature(ours)
    )


def test_a_missing_a_second_and_an_unknown_argument_are_named() -> None:
    cls = both()[1]
    with pytest.raises(TypeError, match="missing required arguments: 'first', 'second'"):
        cls(third=1)
    with pytest.raises(TypeError, match="multiple values for argument 'first'"):
        cls(1, 2, first=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'unknown'"):
        cls(1, unknown=2)
    with pytest.raises(TypeError, match="takes 5 positional arguments but 6 were given"):
        cls(1, 2, 3, 4, 5, 6)


@dataclass(frozen=True)
class Base:
    first: int

    def __post_init__(self) -> None:
        if self.first < 0:
            raise ValueError(self.first)


@dataclass(frozen=True, slots=True)
class Derived(Base):
    second: float = 0.5

    def __repr__(self) -> str:
        return "its own"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Derived)

    __hash__ = Base.__hash__


@dataclass(frozen=True, slots=True)
class Sole:
    value: float


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@pytest.mark.parametrize("value", [Base(1), Sole(2.0), Nothing()])
def test_values_are_pickled_and_copied(value: object) -> None:
    for copied in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert copied == value
        assert hash(copied) == hash(value)
        assert type(copied) is type(value)


def test_a_class_keeps_what_it_wrote_and_inherits_fields() -> None:
    derived = Derived(1)
    assert repr(derived) == "its own"
    assert derived == Derived(2)
    assert hash(derived) == hash(Base(1))
    assert (derived.first, derived.second) == (1, 0.5)
    with pytest.raises(ValueError, match="-1"):
        Derived(-1)


def test_a_nan_is_the_same_value_as_itself_alone() -> None:
    assert Sole(math.nan) == Sole(math.nan)
    assert Sole(math.nan) != Sole(float("nan"))


def test_a_value_within_itself_is_shown_once() -> None:
    cls = both(frozen=False)[1]
    value = cls(1, 2)
    value.first = value
    assert "first=..." in repr(value)


def test_no_method_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    true_exec = exec

    def watch(text: str, *rest: Any) -> None:
        compiled.append(text)
        true_exec(text, *rest)

    monkeypatch.setattr(builtins, "exec", watch)
    define(dataclasses.dataclass)
    assert any("first" in text for text in compiled)
    compiled.clear()
    define(dataclass, frozen=True, slots=True)
    assert not any("first" in text for text in compiled)


def test_rooms_that_every_start_loads_compile_no_class_without_a_reason() -> None:
    compiles = re.compile(r"^from dataclasses import .*\bdataclass\b|@dataclasses\.", re.MULTILINE)
    found = {
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if compiles.search(path.read_text("utf-8"))
    }
    assert found - {"foundation/dataclass.py"} == MADE_OFTEN.keys()
