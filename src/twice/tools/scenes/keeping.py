"""A state in a file: the canonical form of its plain data, read back without running anything.

Invariant: what is read back has the fingerprints of what was written, or is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from twice.errors import DecodingRefused
from twice.foundation.encoding import decode, encode
from twice.foundation.printable import pluralize
from twice.tools.errors import SceneArgumentRefused, SceneStateForeign
from twice.tools.scenes.folders import private
from twice.tools.scenes.plain import from_plain, to_plain
from twice.tools.scenes.state import SceneState

_FILE_BYTES_MAX: Final = 1 << 30


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
            "Expected a file that scene.snapshot or scene.save of a scene in memory wrote.",
            "Write one: twice tools call memory scene.save",
        ) from error
    return from_plain(document)


@private
def check_file(path: Path) -> None:
    """Check a file before a scene reads it.

    Raises:
        SceneArgumentRefused: E-SCENE-005, there is no such file, or it is larger than 1 GiB.
    """
    try:
        size = path.stat().st_size
        if path.is_file() and size <= _FILE_BYTES_MAX:
            return
        why = f"has {pluralize(size, 'byte')}" if path.is_file() else "is not a file"
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
    raise SceneArgumentRefused(
        f"{path.name} {why}.",
        f"Expected a file of at most {_FILE_BYTES_MAX} bytes in the session's folder.",
        "Save the scene under this name first, or name another file.",
    )
