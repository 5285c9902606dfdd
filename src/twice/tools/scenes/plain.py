"""A state as plain data, and back: what a record keeps, a file holds and a host is told.

Arrays become ``{"array": dtype, "shape": […], "bytes": …}``; a summary names digests in their
place, so that it is short. Reading checks everything, because a state may come from a stranger.

Invariant: ``from_plain(to_plain(state))`` has the fingerprints of ``state``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from twice.foundation.digests import digest_bytes
from twice.foundation.printable import pluralize
from twice.tools.errors import SceneStateForeign
from twice.tools.scenes.state import ALGORITHM, FORMAT, Block, SceneState, scene_state
from twice.tools.scenes.values import DTYPES, Value, array

_DEPTH_MAX: Final = 64


def to_plain(state: SceneState) -> dict[str, Any]:
    """Convert the state to dicts with text keys, lists, text, bytes, booleans, numbers and None."""
    return {
        "format": FORMAT,
        "profile": dict(state.profile),
        "sections": {
            name: [[*block.key, _plain(block.value)] for block in section]
            for name, section in state.sections.items()
        },
    }


def from_plain(document: object) -> SceneState:
    """Read a document that ``to_plain`` made.

    Raises:
        SceneStateForeign: E-SCENE-007, anything else.
        SceneValueRefused: E-SCENE-001, a number is not finite.
    """
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise _foreign(f"its format is not {FORMAT}")
    profile, sections = document.get("profile"), document.get("sections")
    if not isinstance(profile, Mapping) or not _texts(profile) or not isinstance(sections, Mapping):
        raise _foreign("profile or sections are missing")
    read: dict[str, list[Block]] = {}
    for name, blocks in sections.items():
        if not isinstance(name, str) or not isinstance(blocks, list):
            raise _foreign("a section is not a list with a name")
        read[name] = [_block(name, block) for block in blocks]
        keys = [block.key for block in read[name]]
        if len(set(keys)) != len(keys):
            raise _foreign(f"two blocks of {name} have one type, name and id")
    return scene_state(profile, read)


def summary(state: SceneState, *, values: bool = False) -> dict[str, Any]:
    """Summarise a state for a host: fingerprints, and every block with its digest.

    Args:
        state: the state.
        values: whether to include the properties, arrays as their digests.

    Returns:
        Plain JSON data.
    """
    sections: dict[str, list[dict[str, Any]]] = {}
    for name, section in state.sections.items():
        sections[name] = []
        for block, digest in zip(section, state.tree.blocks[name], strict=True):
            entry: dict[str, Any] = {"type": block.type, "name": block.name, "digest": str(digest)}
            if block.id:
                entry["id"] = block.id
            if values:
                entry["value"] = _digested(block.value)
            sections[name].append(entry)
    return {
        "format": FORMAT,
        "fingerprint": state.fingerprint,
        "core_fingerprint": state.core_fingerprint,
        "profile": dict(state.profile),
        "sections": sections,
    }


def _plain(value: Value) -> Any:
    if isinstance(value, np.ndarray):
        return {"array": value.dtype.str, "shape": list(value.shape), "bytes": value.tobytes()}
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


def _digested(value: Value) -> Any:
    if isinstance(value, np.ndarray):
        digest = digest_bytes(value.tobytes(), ALGORITHM)
        return {"array": value.dtype.str, "shape": list(value.shape), "digest": str(digest)}
    if isinstance(value, Mapping):
        return {key: _digested(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_digested(inner) for inner in value]
    return value


def _block(section: str, written: object) -> Block:
    if not isinstance(written, list) or len(written) != 4 or not isinstance(written[3], Mapping):
        raise _foreign(f"a block of {section} is not type, name, id and value")
    kind, name, where, value = written
    if not (isinstance(kind, str) and isinstance(name, str) and isinstance(where, str)):
        raise _foreign(f"a block of {section} has a key that is not text")
    return Block(kind, name, where, {key: _value(value[key], 0) for key in value})


def _value(written: Any, depth: int) -> Value:
    if depth > _DEPTH_MAX:
        raise _foreign(f"a value is nested deeper than {_DEPTH_MAX}")
    if isinstance(written, Mapping):
        if set(written) == {"array", "shape", "bytes"}:
            return _array(written)
        if not all(isinstance(key, str) for key in written):
            raise _foreign("a key is not text")
        return {key: _value(inner, depth + 1) for key, inner in written.items()}
    if isinstance(written, list):
        return [_value(inner, depth + 1) for inner in written]
    if isinstance(written, float) and not math.isfinite(written):
        raise _foreign(f"a number is {written!r}")
    if written is None or type(written) in (bool, int, float, str):
        return written
    raise _foreign(f"a value is of type {type(written).__name__}")


def _array(written: Mapping[str, Any]) -> Value:
    dtype, shape, data = written["array"], written["shape"], written["bytes"]
    if dtype not in DTYPES or not isinstance(data, bytes) or not isinstance(shape, list):
        raise _foreign("an array has no known type, shape or bytes")
    if not all(type(side) is int and 0 <= side < 2**31 for side in shape):
        raise _foreign(f"an array has the shape {shape!r}")
    if len(shape) > 4 or math.prod(shape) * np.dtype(dtype).itemsize != len(data):
        raise _foreign(f"an array of shape {shape!r} has {pluralize(len(data), 'byte')}")
    return array(np.frombuffer(data, dtype).reshape(shape), dtype)


def _texts(value: Mapping[object, object]) -> bool:
    return all(isinstance(key, str) and isinstance(text, str) for key, text in value.items())


def _foreign(why: str) -> SceneStateForeign:
    return SceneStateForeign(
        f"This is not a scene state: {why}.",
        f"Expected a state in the form {FORMAT}, as scene.snapshot keeps it.",
        "Make one with: twice tools call REGISTRY scene.snapshot",
    )
