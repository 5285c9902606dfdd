"""Names: chosen by whoever asks, kept byte for byte, never changed on the way.

Programs shorten long names and number taken ones without a word. Here a name fits every one of
them or is refused, and what was assigned is read back.

Invariant: a thing has the name that was asked for, or was not made.
"""

from __future__ import annotations

from typing import Final

from twice.foundation.printable import pluralize
from twice.tools.errors import SceneArgumentRefused, SceneNameTaken, SceneNotFound

NAME_BYTES_MAX: Final = 63
"""What the narrowest of the programs keeps of a name, in bytes of UTF-8."""


def check_name(name: str) -> str:
    """Return the name, if every kind of scene keeps it unchanged.

    Raises:
        SceneArgumentRefused: E-SCENE-005, empty, longer than 63 bytes, or with characters that
            cannot be printed or written.
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        size = 0
    if 1 <= size <= NAME_BYTES_MAX and name.isprintable() and name == name.strip():
        return name
    raise SceneArgumentRefused(
        f"The name {name[:80]!r} has {pluralize(size, 'byte')} in UTF-8, or characters that do not stay.",
        f"A name has 1 to {NAME_BYTES_MAX} bytes of printable text, without spaces at its ends.",
        "Give a shorter, printable name.",
        name=name[:80],
    )


def taken(name: str, what: str) -> SceneNameTaken:
    """Build the refusal of a name that is taken."""
    return SceneNameTaken(
        f"The name {name!r} is taken by {what}.",
        "Expected a name that nothing in the scene has; none is numbered or changed for you.",
        "Choose another name, or delete what has this one with object.delete.",
        name=name,
    )


def missing(kind: str, name: str) -> SceneNotFound:
    """Build the refusal of a missing thing."""
    return SceneNotFound(
        f"There is no {kind} named {name!r}.",
        f"Expected the name of a {kind} in the scene, letter by letter.",
        "List what there is: twice tools call REGISTRY scene.snapshot",
        kind=kind,
        name=name,
    )
