"""A state as plain data, and back: what a record keeps, a file holds and a host is told.

Arrays become ``{"array": dtype, "shape": […], "bytes": …}``; a summary names digests in their
place, so that it is short. A file is the canonical form of the plain data. Reading checks
everything and runs nothing, because a state may come from a stranger.

Invariant: what is read back has the fingerprints of what was written, or is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from twice.errors import DecodingRefused
from twice.foundation.digests import digest_bytes
from twice.foundation.encoding import decode
from twice.tools.errors import SceneStateForeign
from twice.tools.scenes import state as states
from twice.tools.scenes.folder import check_file, private
from twice.tools.scenes.state import ALGORITHM, FORMAT, Array, Block, SceneState, Value

_SCALARS: Final = (bool, int, str, type(None))


def to_plain(state: SceneState) -> dict[str, Any]:
    """Convert the state to dicts with text keys, lists, text, bytes, booleans, numbers and None."""
    sections = {
        name: [[*block.key, _replace_arrays(block.value)] for block in section.blocks]
        for name, section in state.sections.items()
    }
    return {"format": FORMAT, "profile": dict(state.profile), "sections": sections}


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
    summary: dict[str, Any] = {
        "format": FORMAT,
        "fingerprint": state.fingerprint,
        "core_fingerprint": state.core_fingerprint,
        "profile": dict(state.profile),
        "sections": {},
    }
    for name, section in state.sections.items():
        entries = summary["sections"][name] = []
        for block in section.blocks:
            entry: dict[str, Any] = {"type": block.type, "name": block.name, "digest": block.label}
            if block.id:
                entry["id"] = block.id
            if values:
                entry["value"] = _replace_arrays(block.value, by_digest=True)
            entries.append(entry)
    return summary


@private
def read_document(path: Path) -> Any:
    """Read the plain data of a file that ``scene.keep``, or ``scene.save`` in memory, wrote.

    Raises:
        SceneArgumentRefused: E-SCENE-005, there is no such file, or it is too large.
        SceneStateForeign: E-SCENE-007, it is not such a file.
    """
    check_file(path)
    try:
        return decode(path.read_bytes())
    except DecodingRefused as error:
        raise SceneStateForeign(
            f"{path.name} is not a scene state: {error.happened}",
            "Expected a file that scene.keep or scene.save of a scene in memory wrote.",
            "Write one: twice tools call memory scene.save",
        ) from error


def read_array(*, array: Any, shape: Any, bytes: Any) -> Array:  # noqa: A002  (keys of the form)
    """Read the plain data of one array; whatever is wrong with it raises by itself."""
    if array not in states.DTYPES or not all(type(side) is int and side >= 0 for side in shape):
        raise ValueError(f"an array is of {array!r} and the shape {shape!r}")
    return states.array(np.frombuffer(bytes, array).reshape(shape), array)


def _replace_arrays(value: Value, *, by_digest: bool = False) -> Any:
    if isinstance(value, np.ndarray):
        raw = value.tobytes()
        inside = {"digest": str(digest_bytes(raw, ALGORITHM))} if by_digest else {"bytes": raw}
        return {"array": value.dtype.str, "shape": list(value.shape), **inside}
    if isinstance(value, Mapping):
        return {k: _replace_arrays(inner, by_digest=by_digest) for k, inner in value.items()}
    if isinstance(value, list):
        return [_replace_arrays(inner, by_digest=by_digest) for inner in value]
    return value


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
    for name, blocks in sections.items():
        if len({block.key for block in blocks}) != len(blocks):
            raise ValueError(f"two blocks of {name} have one type, name and id")
    profile = {_text(key): _text(value) for key, value in document["profile"].items()}
    return states.scene_state(profile, sections)


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
        return read_array(**written) if whole else _read_dict(written)
    raise TypeError(f"a value is {written!r:.80} of type {kind.__name__}")
