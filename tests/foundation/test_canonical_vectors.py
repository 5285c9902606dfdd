"""Known answers of canonical form, and a codec written from its page that must agree with them.

``write`` and ``read`` below know nothing of twice: they turn the tagged JSON of
``tests/vectors/canonical.json`` into bytes and back by ``docs/format/canonical-form.md`` alone.
"""

from __future__ import annotations

import hashlib
import json
import struct
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from blake3 import blake3

from twice.foundation.encoding import (
    VERSION,
    OpaqueKind,
    OpaqueValue,
    decode,
    encode,
)

FILE = json.loads((Path(__file__).parents[1] / "vectors" / "canonical.json").read_text("utf-8"))
VECTORS = FILE["vectors"]


# The codec of the page: tagged JSON to bytes.


def _name(text):
    raw = text.encode()
    return struct.pack("<I", len(raw)) + raw


def _ascending(encoded):
    if encoded[:1] == b"s":
        return b"s" + encoded[5:]
    if encoded[:1] == b"i":
        return b"i" + struct.pack(">Q", struct.unpack("<q", encoded[1:])[0] + 2**63)
    return encoded


def _integer(text):
    number = int(text)
    if -(2**63) <= number < 2**63:
        return b"i" + struct.pack("<q", number)
    size = 1
    while not -(2 ** (8 * size - 1)) <= number < 2 ** (8 * size - 1):
        size += 1
    return b"I" + struct.pack("<I", size) + number.to_bytes(size, "little", signed=True)


def _clock(hour, minute, second, microsecond, fold, zone):
    kinds = {None: 0, "fixed": 1, "zone": 2, "zone without offset": 3, "labelled": 4}
    out = struct.pack("<BBBIB", hour, minute, second, microsecond, fold)
    kind = zone[0] if zone else None
    out += bytes([kinds[kind]])
    if kind in {"fixed", "zone", "labelled"}:
        out += struct.pack("<q", zone[1])
    return out + (_name(zone[-1]) if kind not in {None, "fixed"} else b"")


def _dtype(dtype):
    if isinstance(dtype, str):
        return b"s" + _name(dtype)
    out = b"t" + struct.pack("<I", len(dtype))
    for name, inner, shape in dtype:
        sides = struct.pack(f"<I{len(shape)}q", len(shape), *shape)
        out += b"t" + struct.pack("<I", 3) + b"s" + _name(name) + _dtype(inner)
        out += (b"vti" if shape else b"t") + sides
    return out


def _sequence(tag, items):
    count = struct.pack("<I", len(items))
    kinds = {item[0] for item in items}
    if kinds == {"float"}:
        return b"v" + tag + b"f" + count + b"".join(bytes.fromhex(i[1]) for i in items)
    forms = [write(item) for item in items]
    if kinds == {"int"} and all(form[:1] == b"i" for form in forms):
        return b"v" + tag + b"i" + count + b"".join(form[1:] for form in forms)
    return tag + count + b"".join(forms)


def write(value):
    tag, *rest = value
    match tag:
        case "none":
            return b"N"
        case "bool":
            return b"T" if rest[0] else b"F"
        case "int":
            return _integer(rest[0])
        case "float" | "complex":
            return {"float": b"f", "complex": b"c"}[tag] + bytes.fromhex("".join(rest))
        case "text":
            return b"s" + _name(rest[0])
        case "bytes" | "bytearray":
            raw = bytes.fromhex(rest[0])
            return {"bytes": b"b", "bytearray": b"B"}[tag] + struct.pack("<Q", len(raw)) + raw
        case "range":
            return b"r" + b"".join(map(_integer, rest))
        case "fraction":
            return b"Q" + b"".join(map(_integer, rest))
        case "decimal":
            return b"X" + _name(rest[0])
        case "uuid":
            return b"U" + bytes.fromhex(rest[0])
        case "path":
            raw = bytes.fromhex(rest[1])
            return b"P" + rest[0].encode() + struct.pack("<I", len(raw)) + raw
        case "date":
            return b"y" + struct.pack("<HBB", *rest)
        case "time":
            return b"m" + _clock(*rest)
        case "datetime":
            return b"M" + struct.pack("<HBB", *rest[:3]) + _clock(*rest[3:])
        case "timedelta":
            return b"q" + struct.pack("<iii", *rest)
        case "enum":
            return b"E" + _name(rest[0]) + _name(rest[1])
        case "list":
            return _sequence(b"l", rest[0])
        case "tuple":
            return _sequence(b"t", rest[0])
        case "dict":
            pairs = sorted(
                ((write(k), write(v)) for k, v in rest[0]), key=lambda p: _ascending(p[0])
            )
            out = b"d" + struct.pack("<I", len(pairs))
            return out + b"".join(k for k, _ in pairs) + b"".join(v for _, v in pairs)
        case "set" | "frozenset":
            items = sorted(map(write, rest[0]), key=_ascending)
            return (
                {"set": b"S", "frozenset": b"Z"}[tag]
                + struct.pack("<I", len(items))
                + b"".join(items)
            )
        case "dataclass" | "namedtuple":
            fields = sorted(rest[1]) if tag == "dataclass" else rest[1]
            out = {"dataclass": b"D", "namedtuple": b"Y"}[tag] + _name(rest[0])
            out += struct.pack("<I", len(fields)) + b"".join(_name(n) for n, _ in fields)
            return out + b"".join(write(v) for _, v in fields)
        case "registered":
            return b"R" + _name(rest[0]) + write(rest[1])
        case "array":
            dtype, shape, raw = rest[0], rest[1], bytes.fromhex(rest[2])
            out = (
                b"a" + _dtype(dtype) + bytes([len(shape)]) + struct.pack(f"<{len(shape)}Q", *shape)
            )
            return out + struct.pack("<Q", len(raw)) + raw
        case "numpy":
            raw = bytes.fromhex(rest[1])
            return b"n" + _dtype(rest[0]) + struct.pack("<Q", len(raw)) + raw
    raise AssertionError(f"no such tag: {tag}")


# And back: bytes to tagged JSON.


class Reader:
    def __init__(self, data):
        self.data = data

    def take(self, size):
        out, self.data = self.data[:size], self.data[size:]
        assert len(out) == size, "the bytes end early"
        return out

    def unpack(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def name(self):
        return self.take(self.unpack("I")[0]).decode()

    def values(self, count):
        return [self.read() for _ in range(count)]

    def clock(self):
        clock, kind = list(self.unpack("BBBIB")), self.unpack("B")[0]
        label = [None, "fixed", "zone", "zone without offset", "labelled"][kind]
        zone = [label] if label else None
        if kind in {1, 2, 4}:
            zone += self.unpack("q")
        if kind in {2, 3, 4}:
            zone.append(self.name())
        return [*clock, zone]

    def dtype(self):
        value = self.read()
        if value[0] == "text":
            return value[1]
        fields = [field[1] for field in value[1]]
        return [[n[1], self.nested(d), [int(side[1]) for side in s[1]]] for n, d, s in fields]

    def nested(self, value):
        again = Reader(write(value))
        return again.dtype()

    def read(self):
        tag = self.take(1).decode()
        sequences = {"l": "list", "t": "tuple", "S": "set", "Z": "frozenset"}
        match tag:
            case "N":
                return ["none"]
            case "T" | "F":
                return ["bool", tag == "T"]
            case "i":
                return ["int", str(self.unpack("q")[0])]
            case "I":
                return [
                    "int",
                    str(int.from_bytes(self.take(self.unpack("I")[0]), "little", signed=True)),
                ]
            case "f":
                return ["float", self.take(8).hex()]
            case "c":
                return ["complex", self.take(8).hex(), self.take(8).hex()]
            case "s":
                return ["text", self.name()]
            case "b" | "B":
                return [{"b": "bytes", "B": "bytearray"}[tag], self.take(self.unpack("Q")[0]).hex()]
            case "r":
                return ["range", *(value[1] for value in self.values(3))]
            case "Q":
                return ["fraction", *(value[1] for value in self.values(2))]
            case "X":
                return ["decimal", self.name()]
            case "U":
                return ["uuid", self.take(16).hex()]
            case "P":
                return ["path", self.take(1).decode(), self.take(self.unpack("I")[0]).hex()]
            case "y":
                return ["date", *self.unpack("HBB")]
            case "m":
                return ["time", *self.clock()]
            case "M":
                return ["datetime", *self.unpack("HBB"), *self.clock()]
            case "q":
                return ["timedelta", *self.unpack("iii")]
            case "E":
                return ["enum", self.name(), self.name()]
            case "l" | "t" | "S" | "Z":
                return [sequences[tag], self.values(self.unpack("I")[0])]
            case "v":
                outer, inner = self.take(2).decode()
                count = self.unpack("I")[0]
                if inner == "f":
                    items = [["float", self.take(8).hex()] for _ in range(count)]
                else:
                    items = [["int", str(self.unpack("q")[0])] for _ in range(count)]
                return [sequences[outer], items]
            case "d":
                count = self.unpack("I")[0]
                keys, values = self.values(count), self.values(count)
                return ["dict", [list(pair) for pair in zip(keys, values, strict=True)]]
            case "D" | "Y":
                cls, count = self.name(), self.unpack("I")[0]
                names = [self.name() for _ in range(count)]
                fields = [list(pair) for pair in zip(names, self.values(count), strict=True)]
                return [{"D": "dataclass", "Y": "namedtuple"}[tag], cls, fields]
            case "R":
                return ["registered", self.name(), self.read()]
            case "a":
                dtype, ndim = self.dtype(), self.unpack("B")[0]
                return [
                    "array",
                    dtype,
                    list(self.unpack(f"{ndim}Q")),
                    self.take(self.unpack("Q")[0]).hex(),
                ]
            case "n":
                return ["numpy", self.dtype(), self.take(self.unpack("Q")[0]).hex()]
        raise AssertionError(f"no such tag: {tag}")


def read(data):
    reader = Reader(data)
    value = reader.read()
    assert not reader.data, "bytes follow the value"
    return value


# Tagged JSON to Python values, for what twice encodes.


def _numpy_dtype(dtype):
    if isinstance(dtype, str):
        return np.dtype(dtype)
    return np.dtype([(name, _numpy_dtype(inner), tuple(shape)) for name, inner, shape in dtype])


def _zone(zone):
    if zone is None:
        return None
    if zone[0].startswith("zone"):
        return ZoneInfo(zone[-1])
    return timezone(timedelta(microseconds=zone[1]), *zone[2:])


def built(value):
    tag, *rest = value
    match tag:
        case "none":
            return None
        case "bool":
            return rest[0]
        case "int":
            return int(rest[0])
        case "float":
            return struct.unpack("<d", bytes.fromhex(rest[0]))[0]
        case "complex":
            return complex(*struct.unpack("<dd", bytes.fromhex("".join(rest))))
        case "text":
            return rest[0]
        case "bytes":
            return bytes.fromhex(rest[0])
        case "bytearray":
            return bytearray.fromhex(rest[0])
        case "range":
            return range(*map(int, rest))
        case "fraction":
            return Fraction(*map(int, rest))
        case "decimal":
            return Decimal(rest[0])
        case "uuid":
            return UUID(rest[0])
        case "path":
            kind = {"p": PurePosixPath, "w": PureWindowsPath}[rest[0]]
            return kind(bytes.fromhex(rest[1]).decode("utf-8", "surrogateescape"))
        case "date":
            return date(*rest)
        case "time":
            return time(*rest[:4], fold=rest[4], tzinfo=_zone(rest[5]))
        case "datetime":
            return datetime(*rest[:7], fold=rest[7], tzinfo=_zone(rest[8]))
        case "timedelta":
            return timedelta(*rest)
        case "enum":
            return OpaqueValue(OpaqueKind.ENUM, rest[0], (("member", rest[1]),))
        case "list" | "tuple" | "set" | "frozenset":
            kind = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[tag]
            return kind(map(built, rest[0]))
        case "dict":
            return {built(key): built(item) for key, item in rest[0]}
        case "dataclass" | "namedtuple":
            kind = OpaqueKind.DATACLASS if tag == "dataclass" else OpaqueKind.NAMED_TUPLE
            return OpaqueValue(kind, rest[0], tuple((n, built(v)) for n, v in rest[1]))
        case "registered":
            return OpaqueValue(OpaqueKind.REGISTERED, rest[0], (("value", built(rest[1])),))
        case "array":
            raw = bytearray.fromhex(rest[2])
            return np.frombuffer(raw, _numpy_dtype(rest[0])).reshape(rest[1])
        case "numpy":
            return np.frombuffer(bytearray.fromhex(rest[1]), _numpy_dtype(rest[0]))[0]
    raise AssertionError(f"no such tag: {tag}")


def test_the_file_is_of_this_version() -> None:
    assert FILE["version"] == VERSION
    assert len(VECTORS) >= 60
    assert len({vector["hex"] for vector in VECTORS}) == len(VECTORS)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_codec_of_the_page_agrees(vector: dict) -> None:
    data = bytes.fromhex(vector["hex"])
    assert write(vector["value"]).hex() == vector["hex"]
    assert read(data) == vector["value"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_twice_agrees(vector: dict) -> None:
    data = bytes.fromhex(vector["hex"])
    assert encode(built(vector["value"])).hex() == vector["hex"]
    assert encode(decode(data)) == data


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_digests_are_of_these_bytes(vector: dict) -> None:
    data = bytes.fromhex(vector["hex"])
    assert vector["blake3"] == blake3(data).hexdigest()
    assert vector["sha256"] == hashlib.sha256(data).hexdigest()
