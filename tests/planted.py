"""A search for secrets in a record's file that knows nothing of the product: bytes and zstd frames."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

import zstandard

_ZSTD = b"\x28\xb5\x2f\xfd"


def opened(path: Path) -> bytes:
    """Return the raw bytes of the file, and everything in it that was compressed."""
    raw = path.read_bytes()
    pieces = [raw]
    at = raw.find(_ZSTD)
    while at >= 0:
        try:
            pieces.append(zstandard.ZstdDecompressor().decompressobj().decompress(raw[at:]))
        except zstandard.ZstdError:
            pass
        at = raw.find(_ZSTD, at + 1)
    return b"\0".join(pieces)


def stands_in(path: Path, secret: str) -> list[str]:
    """Return the forms in which a record contains a secret."""
    value = secret.encode()
    wanted = {
        "plain": value,
        "hex": value.hex().encode(),
        "quoted": quote(secret, safe="").encode(),
        "json": json.dumps(secret)[1:-1].encode(),
        "utf-16": secret.encode("utf-16-le"),
        **{f"base64 {at}": b64encode(b"x" * at + value)[4:-4] for at in range(3)},
    }
    data = opened(path)
    return [form for form, needle in wanted.items() if needle in data]
