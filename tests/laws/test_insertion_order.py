"""A restored state iterates its dicts like the captured one did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.encoding import decode, encode, loaded_types
from twice.recorder.states import apply_orders, find_orders


@dataclass
class Holder:
    inner: Any


KEYS = st.one_of(st.text(max_size=3), st.integers(-3, 3), st.tuples(st.integers(0, 2)))
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(KEYS, inner, max_size=5),
        st.builds(Holder, inner),
    ),
    max_leaves=20,
)


def listed(value: Any) -> Any:
    """Turn every dict in a value into a list of its items, so that order counts."""
    if isinstance(value, dict):
        return [(listed(key), listed(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(listed, value)]
    return ["holder", listed(value.inner)] if isinstance(value, Holder) else value


@given(VALUES)
def test_a_restored_value_iterates_like_the_captured_one(value: Any) -> None:
    orders = decode(encode(find_orders(value)))

    restored = apply_orders(decode(encode(value), resolve=loaded_types), orders)

    assert listed(restored) == listed(value)


@given(VALUES)
def test_orders_do_not_change_the_canonical_form(value: Any) -> None:
    restored = apply_orders(decode(encode(value), resolve=loaded_types), find_orders(value))

    assert encode(restored) == encode(value)


def test_dicts_in_canonical_order_need_no_orders() -> None:
    assert find_orders({"a": [{"b": 1, "c": 2}]}) is None
