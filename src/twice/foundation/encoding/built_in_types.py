"""Split values by one level into head and inner values: the types of Python itself.

This is the reference that the fast path in ``encoder`` must agree with byte for byte. The types of
the standard library that a program may not have imported (``decimal``, ``uuid``, …) are found
through ``sys.modules``: when the module is not loaded, no value can be of its types.

Invariant: canonical form is the parts of a decomposed value followed by the canonical forms of its
children, in order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import datetime, time, timedelta, timezone, tzinfo
from itertools import pairwise
from struct import Struct
from types import NoneType
from typing import Any, Final, NamedTuple, TypeAlias

from twice.errors import EncodingRefused
from twice.foundation.encoding import format as fmt
from twice.foundation.encoding.opaque import RecordedZone
from twice.foundation.printable import pluralize

Buffer: TypeAlias = bytes | memoryview
EncodeKey: TypeAlias = Callable[[object], bytes]
"""Encodes a key or a set element, whose bytes are needed before the next one's."""


class Refusal(Exception):  # not an error a caller sees
    """A value without a canonical form, before its path is known.

    Only the reference walk knows the path; it turns this into an error of the public tree, and a
    ``Refusal`` never leaves the encoding.

    Args:
        what: the value or type, as the subject of a sentence that the path completes.
        expected: types with a canonical form to use instead.
        remedy: an instruction for the user.
        leaf: the public error it becomes.
    """

    def __init__(
        self, what: str, expected: str, remedy: str, leaf: type[EncodingRefused] = EncodingRefused
    ) -> None:
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.remedy = remedy
        self.leaf = leaf


def refuse_type(cls: type) -> Refusal:
    """Return the refusal of a type that nobody described."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    remedy = f"register {cls.__qualname__} with twice.foundation.encoding.register."
    base = next((b for b in cls.__mro__[1:] if b.__module__ == "builtins"), object)
    if base is not object:
        return Refusal(
            f"a {name}, a subclass of {base.__name__} that is not registered",
            f"Expected {base.__name__} itself: a subclass may hold state that twice cannot see.",
            f"Convert it to {base.__name__}, or {remedy}",
        )
    return Refusal(
        f"a {name}, which has no canonical form",
        "Expected plain values, arrays, enums, dataclasses or a registered type.",
        f"Return plain values instead, or {remedy}",
    )


class Decomposed(NamedTuple):
    """A value taken apart by one level.

    Args:
        parts: the bytes before the children; for a leaf, all bytes.
        children: the values inside, in the order in which they are written.
        label: child index to the text that reaches it: ``[3]``, ``['key']``, ``.field``.
        keys: one per child: its index, key or field name.
        kind: the container's type, as a word.
        key_forms: the canonical forms of ``keys`` if the split computed them; else empty.
    """

    parts: tuple[Buffer, ...]
    children: Sequence[object] = ()
    label: Callable[[int], str] = lambda _index: ""
    keys: Sequence[object] = ()
    kind: str = "leaf"
    key_forms: Sequence[bytes] = ()


Decomposer: TypeAlias = Callable[[Any, EncodeKey], Decomposed]


def format_key(key: object) -> str:
    """Return a key's text in a path: at most 40 characters, or its type if it has no text."""
    try:
        text = repr(key)
    except Exception:  # noqa: BLE001  # a key's repr is the user's, or an int of too many digits
        return f"<{type(key).__qualname__}>"
    return text if len(text) <= 40 else f"{text[:37]}..."


# -- values without parts

LeafEncoder: TypeAlias = Callable[[Any], bytes]

_pack_complex = Struct("<cdd").pack
_pack_date = Struct("<cHBB").pack
_pack_timedelta = Struct("<ciii").pack
_pack_clock = Struct("<BBBIB").pack
_pack_zone = Struct("<Bq").pack

NAIVE, FIXED, NAMED, NAMED_WITHOUT_OFFSET, FIXED_AND_LABELLED = range(5)


def _encode_complex(value: complex) -> bytes:
    real, imag = (fmt.QUIET_NAN if part != part else part for part in (value.real, value.imag))  # noqa: PLR0124  # NaN test
    return _pack_complex(fmt.COMPLEX, real, imag)


def _encode_range(value: range) -> bytes:
    return fmt.RANGE + b"".join(map(fmt.encode_int, (value.start, value.stop, value.step)))


LEAVES: Final[dict[type, LeafEncoder]] = {
    NoneType: lambda _value: fmt.NONE,
    bool: lambda value: fmt.TRUE if value else fmt.FALSE,
    int: fmt.encode_int,
    float: fmt.encode_float,
    complex: _encode_complex,
    str: fmt.encode_text,
    range: _encode_range,
}
"""By exact type; a subclass is never looked up here."""


def format_decimal(value: Any) -> str:
    """Return ``[-]digitsE±exponent``, ``[-]Infinity``, ``[-]NaN…`` or ``[-]sNaN…``: every bit of it."""
    sign, digits, exponent = value.as_tuple()
    body = "".join(map(str, digits))
    minus = "-" if sign else ""
    if exponent == "F":
        return f"{minus}Infinity"
    if exponent in {"n", "N"}:
        return f"{minus}{'NaN' if exponent == 'n' else 'sNaN'}{body}"
    return f"{minus}{body}E{exponent}"


def encode_fraction(value: Any) -> bytes:
    """Return tag, numerator and denominator."""
    widest = max(value.numerator.bit_length(), value.denominator.bit_length())
    if widest >= fmt.FRACTION_BYTES_MAX * 8:
        raise Refusal(
            f"a Fraction of {widest} bits",
            f"Expected at most {fmt.FRACTION_BYTES_MAX} bytes above and below the line.",
            "Keep the numerator and the denominator as two integers.",
        )
    return fmt.FRACTION + fmt.encode_int(value.numerator) + fmt.encode_int(value.denominator)


def encode_timedelta(value: timedelta) -> bytes:
    """Return tag, days, seconds, microseconds."""
    return _pack_timedelta(fmt.TIMEDELTA, value.days, value.seconds, value.microseconds)


def encode_time(value: time | datetime) -> bytes:
    """Return tag, for a datetime the day, then hour, minute, second, microsecond, fold, zone.

    A zone is a fixed offset (``datetime.timezone``) or a ``ZoneInfo`` by key; both are written with
    the offset in force, so that a change of the zone database is visible in the bytes. Other
    ``tzinfo`` classes are code with hidden tables and are refused.
    """
    clock = _pack_clock(value.hour, value.minute, value.second, value.microsecond, value.fold)
    zone = _encode_zone(value.tzinfo, value.utcoffset())
    if isinstance(value, datetime):
        return _pack_date(fmt.DATETIME, value.year, value.month, value.day) + clock + zone
    return fmt.TIME + clock + zone


def _encode_zone(zone: tzinfo | None, offset: timedelta | None) -> bytes:
    if zone is None:
        return bytes((NAIVE,))
    microseconds = None if offset is None else offset // timedelta(microseconds=1)
    if type(zone) is timezone:
        assert offset is not None, "a fixed offset zone reports its offset"
        label = zone.tzname(None)
        if label == timezone(offset).tzname(None):
            return _pack_zone(FIXED, microseconds)
        return _pack_zone(FIXED_AND_LABELLED, microseconds) + fmt.encode_name(label)
    named = getattr(sys.modules.get("zoneinfo"), "ZoneInfo", None)
    key: str | None = getattr(zone, "key", None) if type(zone) in (named, RecordedZone) else None
    if key is None:
        cls = type(zone)
        raise Refusal(
            f"a time in a {cls.__module__}.{cls.__qualname__} zone without a key",
            "Expected no zone, datetime.timezone, or zoneinfo.ZoneInfo made from a key.",
            "Convert it: value.astimezone(zoneinfo.ZoneInfo('Area/City')).",
        )
    if microseconds is None:
        return bytes((NAMED_WITHOUT_OFFSET,)) + fmt.encode_name(key)
    return _pack_zone(NAMED, microseconds) + fmt.encode_name(key)


def _encode_path(value: Any) -> bytes:
    letter = fmt.PATH_LETTERS[type(value).__name__]
    return fmt.PATH + letter + fmt.encode_path_text(str(value))


_LIBRARY_LEAVES: Final[tuple[tuple[str, str, LeafEncoder], ...]] = (
    ("decimal", "Decimal", lambda value: fmt.DECIMAL + fmt.encode_name(format_decimal(value))),
    ("fractions", "Fraction", encode_fraction),
    ("uuid", "UUID", lambda value: bytes(fmt.UUID + value.bytes)),
    *(("pathlib", name, _encode_path) for name in fmt.PATH_LETTERS),
    ("datetime", "date", lambda day: _pack_date(fmt.DATE, day.year, day.month, day.day)),
    ("datetime", "time", encode_time),
    ("datetime", "datetime", encode_time),
    ("datetime", "timedelta", encode_timedelta),
)


def find_library_leaf(cls: type) -> LeafEncoder | None:
    """Return the encoder of a standard-library type, if ``cls`` is exactly one of those known."""
    for module, name, leaf in _LIBRARY_LEAVES:
        if cls.__name__ == name and getattr(sys.modules.get(module), name, None) is cls:
            return leaf
    return None


def make_leaf_decomposer(leaf: LeafEncoder) -> Decomposer:
    """Return the decomposer of a type that becomes its bytes in one call."""
    return lambda value, _encode_key: Decomposed((leaf(value),))


# -- containers


def _encode_count(tag: bytes, count: int) -> bytes:
    if count > fmt.COUNT_MAX:
        raise Refusal(
            f"a container of {pluralize(count, 'item')}",
            f"Expected at most {fmt.COUNT_MAX} items in one container.",
            "Keep so many numbers in an array.",
        )
    return fmt.pack_count(tag, count)


def is_vector(items: Sequence[Any]) -> bool:
    """Return whether a sequence is nothing but floats, or nothing but 64-bit integers."""
    kinds = set(map(type, items))
    return kinds == {float} or (
        kinds == {int} and all(fmt.INT_MIN <= item <= fmt.INT_MAX for item in items)
    )


def _make_sequence_decomposer(kind: str, tag: bytes, ints: bytes, floats: bytes) -> Decomposer:
    def decompose_sequence(value: Sequence[Any], _encode_key: EncodeKey) -> Decomposed:
        count = len(value)
        if count <= fmt.COUNT_MAX and is_vector(value):
            if type(value[0]) is int:
                return Decomposed((fmt.pack_ints[count](ints, count, *value),))
            one_nan = (item if item == item else fmt.QUIET_NAN for item in value)  # noqa: PLR0124  # NaN test
            return Decomposed((fmt.pack_floats[count](floats, count, *one_nan),))
        head = _encode_count(tag, count)
        return Decomposed((head,), value, lambda index: f"[{index}]", range(count), kind)

    return decompose_sequence


def _sort_keys(value: Any, encode_key: EncodeKey) -> list[tuple[bytes, bytes, object]]:
    """Return ``(sort key, encoded, key)`` of every key or element, ascending."""
    entries = []
    for key in value:
        try:
            encoded = fmt.encode_text(key) if type(key) is str else encode_key(key)
        except UnicodeEncodeError:
            encoded = encode_key(key)  # refuses, and knows the place
        entries.append((fmt.sort_key(encoded), encoded, key))
    entries.sort(key=lambda entry: entry[0])
    for earlier, later in pairwise(entries):
        if earlier[0] == later[0]:  # their order would be an accident
            raise Refusal(
                f"a {type(value).__name__} with two keys of one canonical form: "
                f"{format_key(later[2])}",
                "Expected keys and set elements that differ in value, not only in identity.",
                "Key by something that tells them apart.",
            )
    return entries


def decompose_dict(value: dict[Any, Any], encode_key: EncodeKey) -> Decomposed:
    """Take a dict apart: count and keys in canonical order, then the values in that order."""
    entries = _sort_keys(value, encode_key)
    keys = [key for _, _, key in entries]
    key_forms = [encoded for _, encoded, _ in entries]
    parts = (_encode_count(fmt.DICT, len(entries)), b"".join(key_forms))
    children = [value[key] for key in keys]

    def label(index: int) -> str:
        return f"[{format_key(keys[index])}]"

    return Decomposed(parts, children, label, keys, "dict", key_forms)


def _make_set_decomposer(tag: bytes) -> Decomposer:
    def decompose_set(value: Any, encode_key: EncodeKey) -> Decomposed:
        entries = _sort_keys(value, encode_key)
        head = _encode_count(tag, len(entries))
        return Decomposed((head, *(encoded for _, encoded, _ in entries)))

    return decompose_set


CONTAINERS: Final[dict[type, Decomposer]] = {
    list: _make_sequence_decomposer("list", fmt.LIST, fmt.VECTOR_LIST_INT, fmt.VECTOR_LIST_FLOAT),
    tuple: _make_sequence_decomposer(
        "tuple", fmt.TUPLE, fmt.VECTOR_TUPLE_INT, fmt.VECTOR_TUPLE_FLOAT
    ),
    dict: decompose_dict,
    set: _make_set_decomposer(fmt.SET),
    frozenset: _make_set_decomposer(fmt.FROZENSET),
    bytes: lambda value, _encode_key: Decomposed((fmt.pack_size(fmt.BYTES, len(value)), value)),
    bytearray: lambda value, _encode_key: Decomposed(
        (fmt.pack_size(fmt.BYTEARRAY, len(value)), memoryview(value))
    ),
}
"""By exact type. The bytes of a dict or a set do not depend on the order in which it was filled."""
