"""What a function is for, by the plain words in its name: it captures state, restores it, goes on with a run.

Invariant: general English words only, no project's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, parts

CAPTURES: Final = frozenset(
    ["state", "get_state", "getstate", "__getstate__", "state_dict", "snapshot", "take_snapshot", "save_state", "capture", "capture_state", "export_state", "dump_state", "to_state", "serialize_state", "get_snapshot", "checkpoint", "get_checkpoint", "_get_state", "clone_state"]
)  # fmt: skip
RESTORES: Final = frozenset(
    ["set_state", "setstate", "__setstate__", "load_state_dict", "load_state", "restore", "restore_state", "from_state", "import_state", "restore_snapshot", "load_snapshot", "from_snapshot", "load_checkpoint", "restore_checkpoint", "resume", "_set_state", "rollback", "rewind", "revert"]
)  # fmt: skip
_ADVANCES: Final = frozenset(
    ["step", "update", "advance", "tick", "act", "move", "forward", "observe", "play", "iterate", "simulate", "propagate", "integrate", "evolve", "interact", "decide", "choose", "sample", "draw", "respond", "react", "spawn", "mutate", "rollout"]
)  # fmt: skip
_BEGINS: Final = frozenset(
    ["init", "reset", "seed", "setup", "build", "make", "create", "configure", "initialize", "initialise", "start", "main", "prepare", "load", "restore", "resume", "fit", "new", "from", "register", "parse", "cli", "settings", "config", "options"]
)  # fmt: skip
_RESUMING: Final = frozenset({"restore", "resume", "rollback", "rewind"})
RESUMES: Final = RESTORES | _RESUMING
"""Names, and words one of which stands in a name, of functions that go on from something kept."""


def captures(name: str) -> bool:
    """Whether a function of this name gives an object's state."""
    return name in CAPTURES


def restores(name: str) -> bool:
    """Whether a function of this name puts an object's state back."""
    return name in RESTORES


def resumes(name: str) -> bool:
    """Whether a function of this name goes on from something that was kept."""
    return name in RESTORES or about(name, _RESUMING)


def advances(name: str) -> bool:
    """Whether a function of this name is a part of a run that comes again and again."""
    return about(name, _ADVANCES) and not begins(name)


def begins(name: str) -> bool:
    """Whether a function of this name is called once, before or at the start of a run."""
    return about(name, _BEGINS)


def speaks_of_seed(name: str) -> bool:
    """Whether a name is a seed's."""
    return "seed" in parts(name) or name in {"random_state", "rng_seed"}


def is_seeder(name: str) -> bool:
    """Whether a function of this name seeds what is global: ``set_seed``, ``seed_everything``."""
    words = parts(name)
    return not (
        words.isdisjoint({"seed", "seeds", "randomness"})
        or words.isdisjoint({"set", "everything", "all", "global"})
    )


def methods(owner: Scope) -> Iterator[Scope]:
    """Yield the methods of a class, in source order."""
    for inner in owner.inner:
        if isinstance(inner.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield inner
