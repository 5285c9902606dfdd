"""Lists, tuples, dicts, sets and byte strings, taken apart by the book.

This is the reference that ``hot.py`` must agree with byte for byte; speed is not its aim.

Invariant: the bytes of a dict or a set do not depend on the order in which it was filled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from twice.foundation.encoding import forms
from twice.foundation.encoding.opened import Opened, Opener, Sub, key_text
from twice.foundation.encoding.refusals import Refusal

_INT_MIN, _INT_MAX = -(1 << 63), (1 << 63) - 1
_NAN = float("nan")


def _counted(tag: bytes, count: int) -> bytes:
    if count > forms.COUNT_MAX:
        raise Refusal(
            f"a container of {count} items",
            f"Expected at most {forms.COUNT_MAX} items in one container.",
            "Keep so many numbers in an array.",
        )
    return forms.pack_count(tag, count)


def _vector(value: Sequence[Any], *, is_list: bool) -> bytes | None:
    """The packed form of a non-empty sequence of nothing but floats or 64-bit integers."""
    kinds = set(map(type, value))
    count = len(value)
    if count > forms.COUNT_MAX:
        return None
    if kinds == {float}:
        tag = forms.VECTOR_LIST_FLOAT if is_list else forms.VECTOR_TUPLE_FLOAT
        one_nan = (item if item == item else _NAN for item in value)  # noqa: PLR0124  # NaN test
        return forms.pack_floats[count](tag, count, *one_nan)
    if kinds == {int} and all(_INT_MIN <= item <= _INT_MAX for item in value):
        tag = forms.VECTOR_LIST_INT if is_list else forms.VECTOR_TUPLE_INT
        return forms.pack_ints[count](tag, count, *value)
    return None


def _index_label(index: int) -> str:
    return f"[{index}]"


def _sequence_opener(tag: bytes, *, is_list: bool) -> Opener:
    def open_sequence(value: Sequence[Any], _sub: Sub) -> Opened:
        packed = _vector(value, is_list=is_list)
        if packed is not None:
            return Opened((packed,))
        head = _counted(tag, len(value))
        kind = "list" if is_list else "tuple"
        return Opened((head,), value, _index_label, range(len(value)), kind)

    return open_sequence


def sorted_by_form(value: Any, sub: Sub) -> list[tuple[bytes, bytes, object]]:
    """``(sort form, encoded, key)`` of every key or element, ascending.

    Raises:
        Refusal: two of them have one canonical form, so their order would be an accident.
    """
    entries = []
    for key in value:
        try:
            encoded = forms.text_form(key) if type(key) is str else sub(key)
        except UnicodeEncodeError:
            encoded = sub(key)  # refuses, and knows the place
        entries.append((forms.sort_form(encoded), encoded, key))
    entries.sort(key=lambda entry: entry[0])
    for earlier, later in pairwise(entries):
        if earlier[0] == later[0]:
            raise Refusal(
                f"a {type(value).__name__} with two keys of one canonical form: "
                f"{key_text(later[2])}",
                "Expected keys and set elements that differ in value, not only in identity.",
                "Key by something that tells them apart.",
            )
    return entries


def _open_dict(value: dict[Any, Any], sub: Sub) -> Opened:
    entries = sorted_by_form(value, sub)
    keys = [key for _, _, key in entries]
    key_forms = [encoded for _, encoded, _ in entries]

    def label(index: int) -> str:
        return f"[{key_text(keys[index])}]"

    head = _counted(forms.DICT, len(entries))
    parts = (head, b"".join(key_forms))
    return Opened(parts, [value[key] for key in keys], label, keys, "dict", key_forms)


def _set_opener(tag: bytes) -> Opener:
    def open_set(value: Any, sub: Sub) -> Opened:
        entries = sorted_by_form(value, sub)
        head = _counted(tag, len(entries))
        return Opened((head, *(encoded for _, encoded, _ in entries)))

    return open_set


def _open_bytes(value: bytes, _sub: Sub) -> Opened:
    return Opened((forms.pack_size(forms.BYTES, len(value)), value))


def _open_bytearray(value: bytearray, _sub: Sub) -> Opened:
    return Opened((forms.pack_size(forms.BYTEARRAY, len(value)), memoryview(value)))


CONTAINERS: dict[type, Opener] = {
    list: _sequence_opener(forms.LIST, is_list=True),
    tuple: _sequence_opener(forms.TUPLE, is_list=False),
    dict: _open_dict,
    set: _set_opener(forms.SET),
    frozenset: _set_opener(forms.FROZENSET),
    bytes: _open_bytes,
    bytearray: _open_bytearray,
}


def leaf_opener(leaf: Callable[[Any], bytes]) -> Opener:
    """An opener for a type that becomes its bytes in one call."""

    def open_leaf(value: object, _sub: Sub) -> Opened:
        return Opened((leaf(value),))

    return open_leaf
