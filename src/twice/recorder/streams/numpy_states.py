"""numpy's state dictionaries as plain values, and back, without trusting what comes back.

numpy copies a state into C memory unchecked: a position past the end of a table makes the next
draw read foreign memory. A record may come from a stranger, so shape and range are checked here.

Invariant: ``lifted(plain(s), like=s)`` equals ``s``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twice.recorder.streams.refusals import state_refused

_TABLE_LENGTHS = {"pos": 624, "buffer_pos": 4}
_WORD_LIMIT = 2**128


def plain(value: Any) -> Any:
    """Convert a state dictionary: arrays become ``{"dtype", "bytes"}``, little-endian."""
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        little = value.astype(value.dtype.newbyteorder("<"))
        return {"dtype": little.dtype.str, "bytes": little.tobytes()}
    return value.item() if isinstance(value, np.generic) else value


def lifted(state: Mapping[str, object], *, like: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Convert a plain state to numpy's form, checked against a state of the same generator.

    Raises:
        StreamStateRefused: E-RNG-004, when kind, algorithm, shape or range differ.
    """
    if state.get("kind") != kind:
        raise state_refused(f"is of kind {state.get('kind')!r}", kind)
    if state.get("bit_generator") != like["bit_generator"]:
        raise state_refused(f"is of algorithm {state.get('bit_generator')!r}", kind)
    inner = {key: value for key, value in state.items() if key != "kind"}
    lift: dict[str, Any] = _lift(inner, like, "state", kind)
    return lift


def bytes_of(state: Mapping[str, Any]) -> bytes:
    """Pack a plain state of any generator, sorted by key: the slow way to a position."""
    return b"".join(_laid(key, state[key]) for key in sorted(state))


def _laid(key: str, value: Any) -> bytes:
    if isinstance(value, Mapping):
        raw = bytes_of(value)
    else:
        raw = value if isinstance(value, bytes) else repr(value).encode()
    return f"{key}:{len(raw)}:".encode() + raw


def _lift(value: Any, like: Any, key: str, kind: str) -> Any:
    if isinstance(like, Mapping):
        if not isinstance(value, Mapping) or sorted(value) != sorted(like):
            raise state_refused(f"has other fields under {key!r}", kind)
        return {inner: _lift(value[inner], like[inner], inner, kind) for inner in like}
    if isinstance(like, np.ndarray):
        return _lift_array(value, like, key, kind)
    if isinstance(like, str):
        return value
    if isinstance(like, float):
        if type(value) is not float:
            raise state_refused(f"holds {value!r} under {key!r}", kind)
        return value
    if type(value) is not int or not 0 <= value <= _TABLE_LENGTHS.get(key, _WORD_LIMIT - 1):
        raise state_refused(f"holds {value!r} under {key!r}", kind)
    if key in {"has_uint32", "has_gauss"} and value > 1:
        raise state_refused(f"holds {value!r} under {key!r}", kind)
    if key == "uinteger" and value >= 2**32:
        raise state_refused(f"holds {value!r} under {key!r}", kind)
    return value


def _lift_array(value: Any, like: np.ndarray[Any, Any], key: str, kind: str) -> Any:
    dtype = like.dtype.newbyteorder("<")
    match value:
        case {"dtype": dtype.str, "bytes": bytes(raw)} if len(raw) == like.nbytes:
            return np.frombuffer(raw, dtype).astype(like.dtype).reshape(like.shape)
    raise state_refused(f"has another table under {key!r}", kind)
