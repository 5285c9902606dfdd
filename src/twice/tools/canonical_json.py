"""Plain JSON values: what goes into a tool and what comes out, and their one canonical form.

Finer than what ``json`` writes: no NaN, no infinity, no integer that another reader would round, no
text that is no Unicode, no depth that would break a reader; and ``-0.0`` is ``0.0``.

Invariant: two values that are equal as JSON have one canonical form (RFC 8785), and one fingerprint.
"""

from __future__ import annotations

import math
from typing import Any, Final

import rfc8785

from twice.foundation.digests import Algorithm, digest_bytes

DEPTH_MAX: Final = 64
INTEGER_MAX: Final = 2**53 - 1
"""The largest integer that every reader of JSON reads as it was written."""


class NotPlain(ValueError):
    """A value has no canonical form.

    Args:
        path: where, as ``points[3].x``.
        why: what it is, as a clause after the path.
    """

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path or 'the value'} {why}")
        self.path = path
        self.why = why


def plain(value: Any, path: str = "", depth: int = 0) -> Any:
    """Give a copy in plain JSON types, tuples as lists and ``-0.0`` as ``0.0``.

    Raises:
        NotPlain: at the first place that is none of them.
    """
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind is str:
        return _text(value, path)
    if kind is int:
        if abs(value) > INTEGER_MAX:
            raise NotPlain(path, f"is an integer beyond 2**53 - 1; write it as text: {value!r:.40}")
        return value
    if kind is float:
        if not math.isfinite(value):
            raise NotPlain(path, f"is {value!r}, which JSON cannot hold")
        return value or 0.0
    if depth >= DEPTH_MAX:
        raise NotPlain(path, f"lies deeper than {DEPTH_MAX} levels")
    if kind is list or kind is tuple:
        return [plain(each, f"{path}[{at}]", depth + 1) for at, each in enumerate(value)]
    if kind is dict:
        found = {}
        for key, each in value.items():
            if type(key) is not str:
                raise NotPlain(path, f"has a key of type {type(key).__name__}, and not text")
            found[_text(key, path)] = plain(each, f"{path}.{key}" if path else key, depth + 1)
        return found
    raise NotPlain(path, f"is of type {kind.__name__}, which is no JSON type")


def canonical(value: Any) -> bytes:
    """Return the RFC 8785 form of a plain value."""
    return rfc8785.dumps(value)


def fingerprint(value: Any) -> str:
    """Return the labelled digest of a plain value's canonical form."""
    return str(digest_bytes(canonical(value), Algorithm.SHA256))


def _text(value: Any, path: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise NotPlain(path, "holds a lone surrogate, which is no text") from None
    return str(value)
