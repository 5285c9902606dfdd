"""Listings of folders: how they are read live, recorded, replayed, and what stays outside.

Covered: ``os.listdir`` and ``os.scandir``, and through them ``os.walk``, ``glob`` and ``pathlib``. A
listing is its names in the order in which the system gave them; in replay the recorded names come in
the recorded order. A folder that could not be listed raises the same error again.

Not covered: what the entries are. ``is_dir``, ``stat`` and contents are asked of the folder as it is
now; an entry that is gone by then says that it is not there. Listings by descriptor are not governed.

Invariant: what is served has every recorded name and no other.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from sys import _getframe
from types import CodeType, TracebackType
from typing import Any, Self

from twice.recording.effects import ops
from twice.recording.effects.askers import asker_of, files_behind, files_of
from twice.recording.effects.layer import EffectLayer
from twice.recording.effects.outcomes import given, outcome_of
from twice.recording.effects.patches import Patch

_HERE = str(Path(__file__).parent)
_WRAPPERS = files_of(os.walk, glob.glob) | files_behind(Path)
Place = Callable[[str], str]
Names = list[str] | list[bytes]


def patches(layer: EffectLayer, place: Place) -> list[Patch]:
    """What stands in the place of the functions that list folders during a session.

    Args:
        layer: the layer that governs.
        place: names a path so that a record that travels with its program finds it again.
    """
    listdir, scandir = os.listdir, os.scandir

    def governed_listdir(path: Any = None) -> Any:
        if isinstance(path, int):
            return listdir(path)
        folder = os.fspath("." if path is None else path)
        return _names(
            layer,
            place,
            ops.LISTDIR,
            folder,
            lambda: listdir(folder),
            asker_of(_getframe(1), _WRAPPERS),
        )

    def governed_scandir(path: Any = None) -> Any:
        if isinstance(path, int):
            return scandir(path)
        folder = os.fspath("." if path is None else path)
        found: dict[Any, Any] = {}

        def live() -> Names:
            with scandir(folder) as entries:
                found.update((entry.name, entry) for entry in entries)
            return list(found)

        names = _names(layer, place, ops.SCANDIR, folder, live, asker_of(_getframe(1), _WRAPPERS))
        if not layer.live and not found:
            try:
                live()
            except OSError:
                found.clear()  # the folder is gone: its entries say so
        return Entries([found.get(name) or Gone(folder, name) for name in names])

    rows = [
        Patch(os, "listdir", governed_listdir, lambda read: read(_HERE)),
        Patch(os, "scandir", governed_scandir, lambda read: read(_HERE)),
    ]
    globber = getattr(
        glob, "_StringGlobber", None
    )  # from Python 3.13 on it keeps a name of its own
    if globber is not None:
        rows.append(Patch(globber, "scandir", staticmethod(governed_scandir)))
    return rows


def _names(
    layer: EffectLayer,
    place: Place,
    op: ops.Op,
    folder: str | bytes,
    live: Callable[[], Names],
    asker: CodeType,
) -> Names:
    actor = layer.actor()
    if actor is None or not layer.is_strict(asker):
        return live()  # for itself, a library lists its own files
    named = place(folder) if isinstance(folder, str) else folder

    outcome: Any = layer.read(actor, op, lambda: outcome_of(lambda: list(live())), named)
    names: Names = given(outcome)
    return list(names)  # type: ignore[return-value]


class Entries:
    """What ``os.scandir`` gives: an iterator that can be closed."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries: Iterator[Any] = iter(entries)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give nothing more."""
        self._entries = iter(())


class Gone:
    """An entry that was there when the folder was listed, and is not any more."""

    def __init__(self, folder: str | bytes, name: str | bytes) -> None:
        self.name = name
        self.path: Any = os.path.join(folder, name)  # type: ignore[arg-type]  # noqa: PTH118

    def __fspath__(self) -> Any:
        return self.path

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """It is not there."""
        del follow_symlinks
        return False

    is_file = is_dir

    def is_symlink(self) -> bool:
        """It is not there."""
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Raises: FileNotFoundError."""
        return os.stat(self.path, follow_symlinks=follow_symlinks)  # noqa: PTH116

    def inode(self) -> int:
        """Raises: FileNotFoundError."""
        return os.stat(self.path).st_ino  # noqa: PTH116
