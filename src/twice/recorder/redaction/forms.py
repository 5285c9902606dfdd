"""The ways in which one secret value may stand in bytes: as it is, escaped, in base64, as hexadecimal digits.

The same list is blanked while recording and searched for by ``twice show --secrets``, so that the
proof looks for no less than what was to be kept out.

Not for: compressed or encrypted bytes, digests, a value that is spread over several places.

Invariant: a form is found wherever the value stands, whatever stands before and after it.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote_from_bytes, quote_plus

CORE_MIN = 7
"""Fewest characters of base64 that are looked for: fewer stand in innocent text by chance."""

AS_TEXT = frozenset({"as it is", "JSON-escaped", "URL-quoted"})
"""Forms that text takes on its way through headers, queries and documents."""


def forms(value: bytes) -> dict[bytes, str]:
    """Return byte strings that give a value away, each with the name of its form; the value is first."""
    found: dict[bytes, str] = {}
    for form, name in _forms(value):
        if form:
            found.setdefault(form, name)
    return found


def _forms(value: bytes) -> Iterator[tuple[bytes, str]]:
    yield value, "as it is"
    text = _text(value)
    if text is not None:
        for ascii_only in (False, True):
            yield json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode("utf-8"), "JSON-escaped"
        yield repr(text)[1:-1].encode("utf-8", "backslashreplace"), "as Python writes it"
        yield quote_plus(text).encode(), "URL-quoted"
        # Without its last byte the little-endian form stands in the big-endian one as well.
        yield text.encode("utf-16-le")[:-1], "UTF-16"
    quoted = quote_from_bytes(value, safe="").encode()
    yield quoted, "URL-quoted"
    yield _lower_escapes(quoted), "URL-quoted"
    yield repr(value)[2:-1].encode(), "as Python writes it"
    yield value.hex().encode(), "hexadecimal"
    yield value.hex().upper().encode(), "hexadecimal"
    for core in _base64_cores(value):
        yield core, "base64"
        yield core.replace(b"+", b"-").replace(b"/", b"_"), "base64"


def _base64_cores(value: bytes) -> Iterator[bytes]:
    """Yield the characters that the value alone decides, for each of its three possible offsets."""
    for before in range(3):
        bits = 8 * (before + len(value))
        first = -(-8 * before // 6)
        core = b64encode(bytes(before) + value)[first : bits // 6]
        if len(core) >= CORE_MIN:
            yield core


def _text(value: bytes) -> str | None:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _lower_escapes(quoted: bytes) -> bytes:
    parts = quoted.split(b"%")
    return b"%".join([parts[0], *(part[:2].lower() + part[2:] for part in parts[1:])])
