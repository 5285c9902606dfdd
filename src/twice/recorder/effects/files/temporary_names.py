"""Names that ``tempfile`` draws: recorded, and kept out of the names of places.

Covered: the folder for temporary files; every name of ``mkstemp``, ``mkdtemp`` and what is built on them. A replay
draws the recorded names, actor by actor. In the record a place shows who drew its name and as which one, not what was
drawn, so two recordings of one program name its temporary files alike.

Not covered: names that a program makes up by itself, out of ``uuid4`` say; the text of a drawn name where the
program prints or hands it on, to another process say.

Invariant: while recording, the names are as hard to guess as tempfile's own.
"""

from __future__ import annotations

import os
import tempfile
from sys import _getframe
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.actors import asker_of, outside
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.files.places import WRAPPERS
from twice.recorder.effects.patches import Patch


def patches(files: Files) -> list[Patch]:
    """Return the patches of the iterator of names, for a session."""
    look: Any = getattr(tempfile, "_gettempdir")  # noqa: B009  (neither has a public name)
    here = look()  # now, in every execution: the search draws names itself
    names: Any = getattr(tempfile, "_RandomNameSequence")  # noqa: B009
    real = names.__next__
    layer = files.layer

    def draw(self: Any) -> str:
        actor = layer.actor()
        if actor is None or files.policy == "none":
            return str(real(self))
        key = actor.next_key("temporary")
        needed = layer.is_strict(asker_of(_getframe(1), WRAPPERS))
        drawn = str(layer.fact(ops.TEMPORARY_NAME, key, lambda: outside(real, self), needed=needed))
        files.places.add_drawn(drawn, key)
        return drawn

    def folder() -> Any:
        given = look()
        if given != here or layer.actor() is None or files.policy == "none":
            return given  # the program set another one
        told = layer.fact(ops.TEMPORARY_FOLDER, "", lambda: os.fspath(here), needed=False)
        return type(here)(told)

    def late(default: Any) -> Any:
        return (lambda path: os.unlink(path)) if default is os.unlink else default  # noqa: PTH108, PLW0108

    # In default arguments it keeps ``os.unlink`` for its own deletions.
    closer: Any = getattr(tempfile, "_TemporaryFileCloser")  # noqa: B009
    probed = lambda _draw: next(names())  # noqa: E731
    return [
        Patch(names, "__next__", draw, probed),
        Patch(tempfile, "_gettempdir", folder),
        *(
            _Defaults(method, "__defaults__", tuple(map(late, defaults)))
            for method in vars(closer).values()
            if os.unlink in (defaults := getattr(method, "__defaults__", None) or ())
        ),
    ]


class _Defaults(Patch):
    """Defaults of a function's arguments."""

    def install(self) -> Any:
        """Put the replacements in place; return the originals."""
        original, self.holder.__defaults__ = self.holder.__defaults__, self.replacement
        return original

    def restore(self, original: Any) -> None:
        """Put the originals back."""
        self.holder.__defaults__ = original
