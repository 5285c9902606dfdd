"""A state as plain data, and back: what a record keeps, a file holds and a host is told.

Arrays become ``{"array": dtype, "shape": […], "bytes": …}``; a summary names digests in their
place, so that it is short. A file is the canonical form of the plain data. Reading checks
everything and runs nothing, because a state may come from a stranger.

Invariant: what is read back has the fingerprints of what was written, or is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from twice.errors import DecodingRefused
from twice.foundation.digests import digest_bytes
from twice.foundation.encoding import decode, encode
from twice.tools.errors import SceneStateForeign
from twice.tools.scenes.folder import check_file, private
from twice.tools.scenes.state import (
    ALGORITHM,
    DTYPES,
    FORMAT,
    Array,
    Block,
    SceneState,
    Value,
    scene_state,
)
from twice.tools.scenes.state import array as build_array

_SCALARS: Final = (bool, int, str, type(None))


def to_plain(state: SceneState) -> dict[str, Any]:
    """Convert the state to dicts with text keys, lists, text, bytes, booleans, numbers and None."""
    return {
        "format": FORMAT,
        "profile": dict(state.profile),
        "sections": {
            name: [[*block.key, _replace_arrays(block.value, _write_array)] for block in section]
            for name, section in state.sections.items()
        },
    }


def from_plain(document: Any) -> SceneState:
    """Read a document that ``to_plain`` made.

    Raises:
        SceneStateForeign: E-SCENE-007, anything else.
    """
    try:
        return _read_document(document)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise SceneStateForeign(
            f"This is not a scene state: {type(error).__name__}: {error}",
            f"Expected a state in the form {FORMAT}, as scene.keep writes it.",
            "Make one with: twice tools call REGISTRY scene.keep",
        ) from error


def summarize(state: SceneState, *, values: bool = False) -> dict[str, Any]:
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
                entry["value"] = _replace_arrays(block.value, _name_array)
            sections[name].append(entry)
    return {
        "format": FORMAT,
        "fingerprint": state.fingerprint,
        "core_fingerprint": state.core_fingerprint,
        "profile": dict(state.profile),
        "sections": sections,
    }


def state_bytes(state: SceneState) -> bytes:
    """Return the bytes of a file that stores a state."""
    return encode(to_plain(state))


@private
def read_state(path: Path) -> SceneState:
    """Read a state from a file.

    Raises:
        SceneArgumentRefused: E-SCENE-005, there is no such file, or it is larger than 1 GiB.
        SceneStateForeign: E-SCENE-007, the file is not a state.
    """
    check_file(path)
    try:
        document = decode(path.read_bytes())
    except DecodingRefused as error:
        raise SceneStateForeign(
            f"{path.name} is not a scene state: {error.happened}",
            "Expected a file that scene.keep or scene.save of a scene in memory wrote.",
            "Write one: twice tools call memory scene.save",
        ) from error
    return from_plain(document)


def _replace_arrays(value: Value, instead: Callable[[Array], Any]) -> Any:
    if isinstance(value, np.ndarray):
        return instead(value)
    if isinstance(value, Mapping):
        return {key: _replace_arrays(inner, instead) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replace_arrays(inner, instead) for inner in value]
    return value


def _write_array(value: Array) -> dict[str, Any]:
    return {"array": value.dtype.str, "shape": list(value.shape), "bytes": value.tobytes()}


def _name_array(value: Array) -> dict[str, Any]:
    digest = str(digest_bytes(value.tobytes(), ALGORITHM))
    return {"array": value.dtype.str, "shape": list(value.shape), "digest": digest}


def _read_document(document: Any) -> SceneState:
    """Read a stranger's document; whatever is not there, or of another kind, raises by itself."""
    if document["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    sections = {
        _text(name): [
            Block(_text(kind), _text(own), _text(origin), _read_dict(value))
            for kind, own, origin, value in blocks
        ]
        for name, blocks in document["sections"].items()
    }
    for name, read in sections.items():
        if len({block.key for block in read}) != len(read):
            raise ValueError(f"two blocks of {name} have one type, name and id")
    profile = {_text(key): _text(value) for key, value in document["profile"].items()}
    return scene_state(profile, sections)


def _text(written: Any) -> str:
    if not isinstance(written, str):
        raise TypeError(f"a name is of type {type(written).__name__}")
    return written


def _read_dict(written: Any) -> dict[str, Value]:
    return {_text(key): _read(inner) for key, inner in written.items()}


def _read(written: Any) -> Value:
    kind = type(written)
    if kind in _SCALARS or (kind is float and math.isfinite(written)):
        return written
    if kind is list:
        return [_read(inner) for inner in written]
    if isinstance(written, Mapping):
        whole = set(written) == {"array", "shape", "bytes"}
        return _read_array(**written) if whole else _read_dict(written)
    raise TypeError(f"a value is {written!r:.80} of type {kind.__name__}")


def _read_array(*, array: Any, shape: Any, bytes: Any) -> Array:  # noqa: A002  (keys of the form)
    if array not in DTYPES or not all(type(side) is int and side >= 0 for side in shape):
        raise ValueError(f"an array is of {array!r} and the shape {shape!r}")
    return build_array(np.frombuffer(bytes, array).reshape(shape), array)
