"""The letters of canonical form: tags, fixed-width packers, limits and the order of keys.

``docs/format/canonical-form.md`` is this module in prose.

Invariant: a letter, once released, keeps its meaning for as long as ``VERSION`` stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any, Final

VERSION: Final = 1

NONE: Final = b"N"
TRUE: Final = b"T"
FALSE: Final = b"F"
INT: Final = b"i"
BIG_INT: Final = b"I"
FLOAT: Final = b"f"
COMPLEX: Final = b"c"
TEXT: Final = b"s"
BYTES: Final = b"b"
BYTEARRAY: Final = b"B"
LIST: Final = b"l"
TUPLE: Final = b"t"
VECTOR: Final = b"v"
DICT: Final = b"d"
SET: Final = b"S"
FROZENSET: Final = b"Z"
ENUM: Final = b"E"
DATACLASS: Final = b"D"
NAMED_TUPLE: Final = b"Y"
REGISTERED: Final = b"R"
DECIMAL: Final = b"X"
FRACTION: Final = b"Q"
UUID: Final = b"U"
RANGE: Final = b"r"
PATH: Final = b"P"
DATE: Final = b"y"
TIME: Final = b"m"
DATETIME: Final = b"M"
TIMEDELTA: Final = b"q"
ARRAY: Final = b"a"
NUMPY_SCALAR: Final = b"n"

PATH_LETTERS: Final = {
    "PurePosixPath": b"p",
    "PosixPath": b"P",
    "PureWindowsPath": b"w",
    "WindowsPath": b"W",
}

VECTOR_LIST_INT: Final = b"vli"
VECTOR_LIST_FLOAT: Final = b"vlf"
VECTOR_TUPLE_INT: Final = b"vti"
VECTOR_TUPLE_FLOAT: Final = b"vtf"

COUNT_MAX: Final = 0xFFFF_FFFF
"""Most items in a container and most bytes in a text: lengths of these are 32 bits wide."""
FRACTION_BYTES_MAX: Final = 1 << 16
"""Widest numerator or denominator: reducing wider ones is slow enough to be an attack."""
KEY_NESTING_MAX: Final = 32
"""How many sets and keys may lie inside one another."""
KEY_DEPTH_MAX: Final = 1000
"""How deep a key or set element may be nested: hashing a deeper tuple can overflow the C stack."""
DTYPE_NESTING_MAX: Final = 32
"""How deep structured dtypes may lie inside one another."""

pack_int: Final = Struct("<cq").pack
pack_float: Final = Struct("<cd").pack
pack_count: Final = Struct("<cI").pack
pack_size: Final = Struct("<cQ").pack
pack_u32: Final = Struct("<I").pack
pack_u64: Final = Struct("<Q").pack

INT_MIN: Final = -(1 << 63)
INT_MAX: Final = (1 << 63) - 1
QUIET_NAN: Final = float("nan")
NAN_BYTES: Final = bytes.fromhex("000000000000f87f")
"""The one NaN: quiet, positive, empty payload."""
NAN: Final = FLOAT + NAN_BYTES


class PackerByCount(dict[int, Callable[..., bytes]]):
    """Packers of ``count`` numbers after a three-letter vector tag, built once per count."""

    def __init__(self, letter: str) -> None:
        super().__init__()
        self._letter = letter

    def __missing__(self, count: int) -> Callable[..., bytes]:
        pack = Struct(f"<3sI{count}{self._letter}").pack
        if len(self) < 4096:
            self[count] = pack
        return pack


pack_ints: Final = PackerByCount("q")
pack_floats: Final = PackerByCount("d")


def encode_int(value: int) -> bytes:
    """Return tag and two's complement, little-endian: 8 bytes, or the fewest for a wider one."""
    if INT_MIN <= value <= INT_MAX:
        return pack_int(INT, value)
    raw = value.to_bytes((value.bit_length() + 8) // 8, "little", signed=True)
    return pack_count(BIG_INT, len(raw)) + raw


def encode_float(value: float) -> bytes:
    """Return tag and the IEEE 754 double, little-endian; every NaN is the one NaN."""
    return pack_float(FLOAT, value) if value == value else NAN  # noqa: PLR0124  # NaN test


def encode_text(value: str) -> bytes:
    """Return tag, length in bytes, and UTF-8 as it is: no normalisation, no lone surrogates."""
    raw = value.encode("utf-8")
    return pack_count(TEXT, len(raw)) + raw


def encode_name(value: str) -> bytes:
    """Return a text without its tag, for names inside heads."""
    raw = value.encode("utf-8")
    return pack_u32(len(raw)) + raw


def encode_path_text(text: str) -> bytes:
    """Return length and bytes of a path; undecodable bytes of a file name stay as they were.

    UTF-8 with surrogateescape is what ``os.fsencode`` does on a UTF-8 system. Its own codec belongs
    to the process, and the bytes must not depend on that.
    """
    raw = text.encode("utf-8", "surrogateescape")
    return pack_u32(len(raw)) + raw


def sort_key(encoded: bytes) -> bytes:
    """Return the sort key of keys and set elements, ascending as unsigned bytes.

    The key is the encoded bytes, with two exceptions: a text goes without its length (so texts sort by code
    point) and a 64-bit integer sorts by value. No two encoded values share a sort key.
    """
    tag = encoded[:1]
    if tag == TEXT:
        return TEXT + encoded[5:]
    if tag == INT:
        shifted = int.from_bytes(encoded[1:9], "little", signed=True) + (1 << 63)
        return INT + shifted.to_bytes(8, "big")
    return encoded


_ROOM, _RECORDED_ROOM = "twice.recorder.", "twice.recording."
_MOVED: Final = {
    **{
        f"{_ROOM}effects.effects_api:{name}": f"{_RECORDED_ROOM}effects.asked:{name}"
        for name in ("Files", "Finished", "Net", "Processes", "Response", "Stdin", "Variables")
    },
    f"{_ROOM}cadence:TickLoop": f"{_RECORDED_ROOM}ticks:TickLoop",
    f"{_ROOM}cadence:Ticks": f"{_RECORDED_ROOM}ticks:Ticks",
    f"{_ROOM}recorder:recording": f"{_RECORDED_ROOM}inline:recording",
    f"{_ROOM}streams.governed:JaxStream": f"{_RECORDED_ROOM}streams.jax_streams:JaxStream",
    f"{_ROOM}streams.governed:PythonStream": f"{_RECORDED_ROOM}streams.python_streams:PythonStream",
    f"{_ROOM}streams.torch_streams:TorchStream": f"{_RECORDED_ROOM}streams.torch_owned:TorchStream",
}
"""Types of twice in states, by their present name: the name that they had when they were first recorded."""
_PRESENT: Final = {recorded: present for present, recorded in _MOVED.items()}


def type_name(cls: type[Any]) -> str:
    """Return ``module:qualified.name``, the name under which a type is written."""
    return recorded_name(f"{cls.__module__}:{cls.__qualname__}")


def recorded_name(name: str) -> str:
    """Return the name under which a type or function is written: of one of twice, the name that it had at first.

    A state may hold a stream, or a function of the run. Its bytes must not change because twice moves its own code.
    """
    return _rename(name, _ROOM, _RECORDED_ROOM, _MOVED)


def present_name(recorded: str) -> str:
    """Return the name that a written type or function has now."""
    return _rename(recorded, _RECORDED_ROOM, _ROOM, _PRESENT)


def _rename(name: str, room: str, other_room: str, moved: Mapping[str, str]) -> str:
    if not name.startswith(room):
        return name
    module, _, qualified = name.partition(":")
    outermost, dot, inner = qualified.partition(".")
    type_moved = moved.get(f"{module}:{outermost}")
    return f"{type_moved}{dot}{inner}" if type_moved else other_room + name.removeprefix(room)
