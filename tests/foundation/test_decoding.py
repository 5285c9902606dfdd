"""Decoding: anybody's bytes, canonical ones only, and no code of their choosing."""

from __future__ import annotations

import dataclasses
import enum
import re
import struct
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import twice
from twice.errors import DecodingRefused
from twice.foundation.encoding import (
    OpaqueKind,
    OpaqueValue,
    RecordedZone,
    decode,
    encode,
    loaded_types,
    type_name,
)
from twice.foundation.encoding.format import present_name, recorded_name
from twice.foundation.environment import Fingerprint
from twice.recorder.effects.effects_api import Response


class Kind(enum.Enum):
    A = 1
    B = 1  # noqa: PIE796  # an alias


@dataclasses.dataclass
class Pair:
    a: int
    b: int


def u32(number: int) -> bytes:
    return struct.pack("<I", number)


def u64(number: int) -> bytes:
    return struct.pack("<Q", number)


def name(text: str) -> bytes:
    return u32(len(text)) + text.encode()


ONE = encode(1)
HUGE = u32(0xFFFF_FFFF)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"?", b"i", b"i1234567", ONE + b"N", b"s" + HUGE, b"s" + u32(1) + b"\xff", b"l" + HUGE,
        b"d" + HUGE, b"S" + HUGE, b"b" + u64(2**63), b"B" + u64(2**40) + b"abc", b"vli" + HUGE,
        b"vlf" + u32(0), b"vxi" + u32(1) + u64(0), b"vl", b"D" + name("m:C") + HUGE, b"E" + name("m:C"),
        b"I" + u32(1) + b"\x01", b"I" + u32(9) + u64(1) + b"\0", b"I" + HUGE,
        b"f" + struct.pack("<Q", 0x7FF8000000000001), b"f" + struct.pack("<Q", 0xFFF8000000000000),
        b"l" + u32(1) + ONE, b"t" + u32(1) + encode(1.0),
        b"d" + u32(2) + encode("b") + encode("a") + b"NN", b"d" + u32(2) + encode("a") * 2 + b"NN",
        b"S" + u32(2) + encode(2) + ONE, b"S" + u32(2) + b"T" + ONE, b"S" + u32(1) + encode([1]),
        b"d" + u32(1) + encode({}) + b"N", b"d" + u32(1) + encode(bytearray(b"a")) + b"N",
        b"D" + name("m:C") + u32(2) + name("b") + name("a") + ONE + ONE, b"Q" + encode(2) + encode(4),
        b"Q" + ONE + encode(0), b"r" + ONE + ONE + encode(0), b"r" + ONE + ONE + b"N",
        b"X" + name("1"), b"X" + name("1.5"), b"X" + name("01E0"), b"X" + name("1E99999999999999999999"),
        b"X" + name("nan"), b"P" + b"z" + name("a"), b"P" + b"p" + name("a//b"), b"P" + b"p" + name(""),
        b"y" + struct.pack("<HBB", 0, 1, 1), b"y" + struct.pack("<HBB", 2023, 2, 29),
        b"q" + struct.pack("<iii", 0, 86400, 0), b"q" + struct.pack("<iii", 2**31 - 1, 0, 0),
        b"m" + struct.pack("<BBBIB", 24, 0, 0, 0, 0) + b"\0", b"m" + struct.pack("<BBBIB", 1, 0, 0, 0, 2) + b"\0",
        b"m" + struct.pack("<BBBIB", 1, 0, 0, 0, 0) + b"\x09",
        b"m" + struct.pack("<BBBIB", 1, 0, 0, 0, 0) + b"\x01" + struct.pack("<q", 86_400_000_000),
        b"m" + struct.pack("<BBBIB", 1, 0, 0, 0, 0) + b"\x04" + struct.pack("<q", 0) + name("UTC"),
        b"a" + encode("<f8") + b"\x01" + u64(2**60) + u64(2**63), b"a" + encode("<f8") + b"\x01" + u64(1) + u64(4) + b"abcd",
        b"a" + encode("|O") + b"\x00" + u64(8) + u64(0), b"a" + encode("<f16") + b"\x00" + u64(16) + bytes(16),
        b"a" + encode(">f8") + b"\x00" + u64(8) + u64(0), b"a" + encode("f8") + b"\x00" + u64(8) + u64(0),
        b"a" + encode("|S0") + b"\x01" + u64(2**62) + u64(0), b"a" + encode("<f8") + b"\xff" + u64(0) * 255 + u64(0),
        b"a" + encode("<f8") + b"\x40" + u64(1) * 64 + u64(8) + u64(0) + b"N",
        b"a" + encode("|V999999999") + b"\x01" + u64(2**40) + u64(0),
        b"a" + encode((("a", "<f8", ()), ("a", "<f8", ()))) + b"\x00" + u64(16) + bytes(16),
        b"a" + encode((("a", "<f8", (2**40, 2**40)),)) + b"\x00" + u64(8) + bytes(8),
        b"a" + (b"t" + u32(1)) * 5000, b"n" + encode("<f8") + u64(4) + bytes(4), b"n" + encode(("x",)) + u64(0),
        b"R" + name("x"), (b"S" + u32(1)) * 100 + b"N", b"d" + u32(1) + (b"t" + u32(1)) * 5000 + b"N",
    ],
)  # fmt: skip
@pytest.mark.parametrize("resolve", [None, loaded_types])
def test_what_is_not_canonical_is_refused(data: bytes, resolve: object) -> None:
    with pytest.raises(DecodingRefused) as caught:
        decode(data, resolve=resolve)
    assert 0 <= caught.value.fields["at"] <= len(data)


@pytest.mark.parametrize(
    "key", [None, True, 2**64, 1.5, "a", 7, b"ab" * 100, (1, "x" * 200), frozenset()]
)
def test_a_key_that_stands_twice_is_refused(key: object) -> None:
    twin = encode(key) * 2
    for data in (b"S" + u32(2) + twin, b"Z" + u32(2) + twin, b"d" + u32(2) + twin + b"NN"):
        with pytest.raises(DecodingRefused, match="ascending"):
            decode(data)


def test_every_cut_of_a_form_is_refused() -> None:
    form = encode({"a": [1, 2.5, "x", {3}], "b": np.arange(3), "c": Kind.A, (1,): datetime.min})
    for end in range(len(form)):
        with pytest.raises(DecodingRefused):
            decode(form[:end])


def test_loaded_types_never_imports_and_takes_classes_of_three_kinds_only() -> None:
    assert loaded_types(f"{__name__}:Kind") is Kind
    assert loaded_types(f"{__name__}:Pair") is Pair
    assert loaded_types("turtle:Turtle") is None
    assert "turtle" not in sys.modules
    for name_ in ("os:system", "builtins:int", "subprocess:Popen", "sys:modules", "", ":", "os:path.join",
                  f"{__name__}:Kind.A", f"{__name__}:Kind.__class__", f"{__name__}:missing"):  # fmt: skip
        assert loaded_types(name_) is None, name_


def test_a_class_that_changed_since_is_refused_by_name() -> None:
    form = encode(OpaqueValue(OpaqueKind.DATACLASS, f"{__name__}:Pair", (("a", 1), ("c", 2))))
    with pytest.raises(DecodingRefused, match="has the fields a, b here and a, c in the bytes"):
        decode(form, resolve=loaded_types)
    member = encode(OpaqueValue(OpaqueKind.ENUM, f"{__name__}:Kind", (("member", "GONE"),)))
    with pytest.raises(DecodingRefused, match="has no member 'GONE'"):
        decode(member, resolve=loaded_types)
    alias = encode(OpaqueValue(OpaqueKind.ENUM, f"{__name__}:Kind", (("member", "B"),)))
    with pytest.raises(DecodingRefused):
        decode(alias, resolve=loaded_types)


def test_a_zone_stays_recorded_until_it_is_resolved() -> None:
    value = datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    form = encode(value)
    opaque = decode(form)
    assert opaque.tzinfo == RecordedZone("Europe/Berlin", timedelta(hours=2))
    assert opaque == value
    assert encode(opaque) == form
    assert decode(form, resolve=loaded_types).tzinfo is value.tzinfo
    wrong = form.replace(struct.pack("<q", 7_200_000_000), struct.pack("<q", 3_600_000_000))
    with pytest.raises(DecodingRefused, match="time zone data"):
        decode(wrong, resolve=loaded_types)


@pytest.mark.parametrize(
    "key", ["../../etc/passwd", "", "Europe", "Europe\0Berlin", "Nowhere/Berlin"]
)
def test_a_zone_that_is_not_known_here_is_refused_and_nothing_is_imported(key: str) -> None:
    form = encode(datetime(2024, 7, 1, tzinfo=RecordedZone(key, timedelta(hours=2))))
    decode(encode(datetime(2024, 7, 1, tzinfo=ZoneInfo("UTC"))), resolve=loaded_types)
    before = set(sys.modules)
    with pytest.raises(DecodingRefused, match="no time zone"):
        decode(form, resolve=loaded_types)
    assert set(sys.modules) == before


def test_utc_comes_back_as_the_one_utc() -> None:
    assert decode(encode(datetime(2024, 1, 1, tzinfo=UTC))).tzinfo is UTC


def test_a_type_of_twice_is_written_under_its_first_name_and_found_again() -> None:
    name = type_name(Response)

    assert name == "twice.recording.effects.asked:Response"
    assert loaded_types(name) is Response
    assert type_name(Fingerprint) == "twice.foundation.environment:Fingerprint"
    assert recorded_name("twice.recorder.recorder:recording") == "twice.recording.inline:recording"


HELD = {
    "Effects": "run", "Files": "effects.asked", "Finished": "effects.asked", "JaxStream": "streams.jax_streams",
    "Net": "effects.asked", "NumpyStream": "streams.numpy_streams", "PCG64": "streams.numpy_streams",
    "Processes": "effects.asked", "PythonStream": "streams.python_streams", "Response": "effects.asked",
    "Run": "run", "Stdin": "effects.asked", "StreamSeedSequence": "streams.numpy_streams", "TickLoop": "ticks", "Ticks": "ticks",
    "TorchStream": "streams.torch_owned", "Variables": "effects.asked",
}  # fmt: skip
"""Classes of twice that a program gets, and the module of the room that first recorded each."""


def test_what_a_program_may_hold_keeps_its_name_wherever_it_lies() -> None:
    places: dict[str, list[str]] = {}
    for file in sorted(Path(twice.__file__).parent.glob("recorder/**/*.py")):
        module = ".".join(file.relative_to(Path(twice.__file__).parents[1]).with_suffix("").parts)
        for name in re.findall(r"^class (\w+)", file.read_text("utf-8"), re.MULTILINE):
            places.setdefault(name, []).append(f"{module}:{name}")

    for name, module in HELD.items():
        recorded = {recorded_name(place): place for place in places[name]}
        first = f"twice.recording.{module}:{name}"
        assert first in recorded, (
            f"{places[name]}: add a row to _MOVED in foundation/encoding/format.py"
        )
        assert present_name(f"{first}.method") == f"{recorded[first]}.method"
