"""Names of the places where state lives, as text.

For: one spelling. A root keeps the name its owner gave it (``swarm``), a member follows it
(``swarm.cache``, ``swarm['lr']``), a global of the user's is ``module:name``, a local stands in its
frame (``<2 Swarm.step>order``: third user frame from the outside), and a value that leaves a frame is
``<2 Swarm.step>(returned)``. Which of the objects under a root a local is stands under the local as
``<2 Swarm.step>bird.(which)``: two birds may hold the same values.

Invariant: the path of a local names its frame's depth and function, so no two frames on one stack share
a path.
"""

from __future__ import annotations

STREAMS = "(positions)"
FILES = "(files)"
"""What the files that a run wrote hold, by name."""
FLOW = "(flow)"
"""No place: the way that a side goes on, where nothing it holds differs."""
OBJECT = "object:"
"""What the root of a tracked object begins with; its declared state stands under the name alone."""
_RETURNED = "(returned)"
_WHICH = ".(which)"


def frame_prefix(depth: int, function: str) -> str:
    """Return the prefix of a frame's locals; depth counts user frames from 0, the outermost."""
    return f"<{depth} {function}>"


def returned(depth: int, function: str) -> str:
    """Return the path of the value that a frame returns or yields."""
    return frame_prefix(depth, function) + _RETURNED


def which(path: str) -> str:
    """Return the path that identifies a local's object."""
    return path + _WHICH


def is_which(path: str) -> bool:
    """Whether a path tells which object a local is, and not what that object holds."""
    return path.endswith(_WHICH)


def subject(path: str) -> str:
    """Return the path of the object that a path is about."""
    return path.removesuffix(_WHICH)


def is_local(path: str) -> bool:
    """Whether a path lives in a frame."""
    return path.startswith("<")


def is_returned(path: str) -> bool:
    """Whether a path is a value on its way out of a frame, or a member of one."""
    return is_local(path) and _tail(path).startswith(_RETURNED)


def depth_of(path: str) -> int:
    """Return the frame depth of a local path."""
    return int(path[1 : path.index(" ")])


def function_of(path: str) -> str:
    """Return the qualified name of a local path's function; empty for another path."""
    head = path.removesuffix(_tail(path)) if is_local(path) else ""
    return head.partition(" ")[2].removesuffix(">")


def plain(path: str) -> str:
    """Return the path as a person writes it, without the frame."""
    path = subject(path)
    if not is_local(path):
        return path
    return "the returned value" if is_returned(path) else _tail(path)


def under(path: str, owner: str) -> bool:
    """Whether a path is the owner or a member of it."""
    return path == owner or (path.startswith(owner) and path[len(owner)] in ".[")


def member_of(path: str) -> str:
    """Of a member of a local, what follows the local's name: ``.x``, ``[3]``; otherwise empty."""
    tail = _tail(path) if is_local(path) else ""
    place = next((at for at, letter in enumerate(tail) if letter in ".["), len(tail))
    return tail[place:]


def _tail(path: str) -> str:
    # A function's name may hold angle brackets of its own: <1 f.<locals>.<listcomp>>x
    depth = 0
    for place, letter in enumerate(path):
        depth += (letter == "<") - (letter == ">")
        if depth == 0:
            return path[place + 1 :]
    return path
