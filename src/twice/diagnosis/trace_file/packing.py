"""The bytes of a trace file: a header, a checksum over everything, one compressed canonical value.

For: a file that travels between machines. See ``docs/format/trace.md`` for the layout.

Not for: what the value means (``document``).

Invariant: a file that was cut, changed or made by something else is refused before anything in it is
read; opening one executes nothing.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

from twice.errors import DecodingRefused, TraceRefused
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import decode, encode

MAGIC = b"\x89twtrace\r\n\x1a\n\x00\x00\x00\x00"
VERSION = 1
_HEAD = struct.Struct("<16sIIQQ")  # magic, version, zero, stored bytes, raw bytes
_CHECK = 32
_LEVEL = 6
_RAW_MAX = 1 << 32  # bytes; what a reader is ready to expand


def seal(value: object) -> bytes:
    """The bytes of a file that holds a value.

    Raises:
        EncodingRefused: E-ENCODE-001, the value is not canonical data.
    """
    import zstandard

    raw = encode(value)
    stored = zstandard.ZstdCompressor(level=_LEVEL).compress(raw)
    head = _HEAD.pack(MAGIC, VERSION, 0, len(stored), len(raw))
    return head + _check(head + stored) + stored


def unseal(path: str | os.PathLike[str]) -> Any:
    """The value that a file holds.

    Raises:
        TraceRefused: E-TRACE-001, it cannot be read, is foreign, torn, changed or of another version.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise refused(path, f"cannot be read: {error.strerror or error}") from error
    if len(data) < _HEAD.size + _CHECK or not data.startswith(MAGIC):
        raise refused(path, "does not begin as a trace file does")
    _, version, zero, size, raw_size = _HEAD.unpack_from(data)
    if version != VERSION:
        raise refused(path, f"is of version {version}; this version of twice reads {VERSION}")
    stored = data[_HEAD.size + _CHECK :]
    if len(stored) != size:
        raise refused(path, f"is torn: {len(stored)} bytes of {size} are there")
    check = _check(data[: _HEAD.size] + stored)
    if zero or check != data[_HEAD.size : _HEAD.size + _CHECK]:
        raise refused(path, "was changed: its checksum does not hold")
    return _opened(path, stored, raw_size)


def _check(data: bytes) -> bytes:
    return digest_bytes(data, Algorithm.SHA256).raw


def _opened(path: str | os.PathLike[str], stored: bytes, raw_size: int) -> Any:
    """Expand and decode; a forger can compute a checksum too."""
    import zstandard

    try:
        if raw_size > _RAW_MAX or zstandard.frame_content_size(stored) != raw_size:
            raise refused(path, f"does not expand to {raw_size} bytes")
        raw = zstandard.ZstdDecompressor().decompress(stored, allow_extra_data=False)
        return decode(raw)
    except (zstandard.ZstdError, DecodingRefused) as error:
        raise refused(path, f"holds no canonical value: {error}") from error


def refused(path: str | os.PathLike[str], why: str) -> TraceRefused:
    """The one refusal of a trace file, with its reason."""
    return TraceRefused(
        f"{os.fspath(path)} {why}.",
        "Expected a file that `twice trace` wrote, whole.",
        "Trace the run again: twice trace RECORD --tick T -o FILE",
        path=os.fspath(path),
    )
