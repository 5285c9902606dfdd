"""The world of a replay: the files as they were when the recording began, and writes that go nowhere else.

An overlay lies over every tree of real files that the process can reach: on top what the replay writes,
below the files as they were. Every read, listing, mapping and lock goes through it, whatever language it
comes from, because the kernel does it.

``prepare`` comes before the process enters its namespaces, ``enter`` after, ``compare`` when the program has
ended. A real file is still reached by a descriptor that was opened before; close those. With a process
namespace as well, the files of processes outside are out of reach.

Not for: a program that means harm. As root it can unmount what lies over its files.

Invariant: between ``enter`` and the end of the namespace no path leads to a real file that can be changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from typing import NamedTuple

from twice.recorder.kernel import libc
from twice.recorder.kernel.file_state import FileHistory
from twice.recorder.kernel.layers import LayerStorage, OverlayLayers, remove_layers
from twice.recorder.kernel.mounts import plan_overlays, read_mount_table
from twice.recorder.kernel.namespaces import NamespaceRefused, Namespaces
from twice.recorder.kernel.paths import is_below, parent_folder
from twice.recorder.kernel.placements import (
    ChangedInput,
    OwnIds,
    Placement,
    find_foreign_files,
    find_foreign_folders,
    find_placements,
)
from twice.recorder.kernel.replay_differences import (
    FileDifference,
    ReplayedFile,
    copy_written,
    find_differences,
    find_written,
)

MEMORY_BYTES_MAX = 256 << 20
"""What a world may take of memory before its layers go to disk, where the disk can hold them."""

_READ_ONLY = libc.MS_RDONLY | libc.MS_REMOUNT | libc.MS_BIND
_OPEN_FOR_CHANGE = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_getcwd, _expanduser = os.getcwd, os.path.expanduser


class WorldReport(NamedTuple):
    """What a world covers.

    Over the folders ``refused`` the kernel put no overlay, with its answer; they are read-only then. The paths
    ``uncovered`` of the record lie in no overlay: what the run changed there cannot be changed again, and what stood
    there is not shown as it was. ``is_in_memory`` says whether what the replay writes takes memory alone.
    """

    refused: tuple[tuple[str, str], ...]
    uncovered: tuple[str, ...]
    is_in_memory: bool


class World:
    """The files of a replay.

    ``content`` returns a file with the content of a digest that the record carries, or None. ``folder`` is private to
    this replay, made when it is not there, and emptied by ``discard``. A path that ``is_ignored``, and what is below
    it, is no part of the run: the product's own files, packages, caches of bytecode.
    """

    def __init__(
        self,
        histories: Sequence[FileHistory],
        content: Callable[[str], str | None],
        folder: str,
        *,
        is_ignored: Callable[[str], bool] = lambda _: False,
        memory_bytes_max: int = MEMORY_BYTES_MAX,
    ) -> None:
        self._histories, self._content = histories, content
        self._folder, self._is_ignored = os.path.realpath(folder), is_ignored
        self._memory_bytes_max = memory_bytes_max
        self._placements: list[Placement] | None = None
        self._changed: list[ChangedInput] = []
        self._held = ExitStack()
        """Descriptors of folders below the overlays."""
        self._overlays: dict[str, OverlayLayers] = {}

    def prepare(self) -> list[ChangedInput]:
        """Compare every history with the real files; return those that cannot be shown as they were."""
        self._placements, self._changed = find_placements(
            self._histories, self._content, self._is_never_hidden
        )
        return self._changed

    def _is_never_hidden(self, path: str) -> bool:
        """Return whether a new path stays in sight: no part of the run, or above this replay's own folder."""
        return self._is_ignored(path) or is_below(self._folder, path)

    def hidden_paths(self) -> list[tuple[str, bool]]:
        """Return files that are there now and were not then, and whether the run looked for each by name.

        The others lie in a folder that was listed.
        """
        histories = {history.path: history for history in self._histories}
        hidden = []
        for placement in self._placements or ():
            history = histories.get(placement.path)
            if placement.state.kind == "absent" and (history is None or not history.was_changed):
                hidden.append((placement.path, history is not None))
        return hidden

    def enter(self, entered: Namespaces) -> WorldReport:
        """Mount the world, in a process that has a mount namespace of its own and one thread.

        The working folder stays the same path. Files that are open already stay the real ones. After
        ``NamespaceRefused`` a real file could still be changed: the process is half-way and must end.
        """
        assert entered.has_mounts, "without a mount namespace the overlays would be everyone's"
        if self._placements is None:
            self.prepare()
        try:
            return self._enter(entered)
        except OSError as error:
            reason = f"{error.filename or 'world'}: {error.strerror}"
            raise NamespaceRefused(reason, is_entered=True) from error

    def compare(self) -> list[FileDifference]:
        """Return how the files differ from those at the end of the recording, sorted by path.

        Called after the program has ended, in the process that entered or one with the same mounts.
        """
        changed = [history for history in self._histories if history.was_changed]
        written = self._find_written(frozenset(history.path for history in changed))
        return find_differences(changed, written, self._is_ignored)

    def copy_out(self, folder: int) -> list[str]:
        """Copy the files that the replay wrote into a real folder, each at its path; return those that it removed.

        ``folder`` is a descriptor, opened before ``enter``: its path leads into the world.
        """
        return copy_written(self._find_written(frozenset()), f"/proc/self/fd/{folder}")

    def close_descriptors(self) -> None:
        """Close descriptors below the overlays: for the program's process, which has copies."""
        self._held.close()

    def discard(self) -> None:
        """Remove the layers from disk, after the namespace has ended. The folder itself stays."""
        for name in ("memory", "disk"):
            remove_layers(f"{self._folder}/{name}")

    def _enter(self, entered: Namespaces) -> WorldReport:
        try:
            working = _getcwd()
        except FileNotFoundError:  # it was removed
            working = "/"
        # The usual places of outputs; each is a path that need not be there. (tempfile would find out by
        # writing a file.)
        likely = [_expanduser("~"), os.environ.get("TMPDIR", "/tmp"), "/var/tmp"]  # noqa: S108
        likely.append(parent_folder(self._folder))  # the session's own, whatever it lies in
        placements, foreign = self._placements or [], []
        if not entered.is_of_host:
            own = OwnIds.read()
            settled = {placement.path for placement in placements}
            settled |= {changed.path for changed in self._changed}
            placements += find_foreign_files(self._histories, settled, own)
            placements.sort(key=lambda placement: placement.path)
            foreign = find_foreign_folders(self._histories, working, likely, own)
        needed = [placement.path for placement in placements]
        needed += [history.path for history in self._histories if history.was_changed]
        os.makedirs(self._folder, mode=0o700, exist_ok=True)  # a plan covers what is there
        mounts = read_mount_table()
        plan = plan_overlays(mounts, needed=needed, likely=[working, *likely])
        storage = LayerStorage(
            self._folder,
            entered,
            self._held,
            prefer_disk=self._estimate() > self._memory_bytes_max,
        )
        roots = frozenset(planned.path for planned in plan.overlays)
        uncovered = [path for path in dict.fromkeys(needed) if _find_root(path, roots) is None]
        placed: dict[str | None, list[Placement]] = {}
        for placement in placements:
            placed.setdefault(_find_root(placement.path, roots), []).append(placement)
        made: dict[str | None, list[str]] = {}
        for folder in foreign:
            made.setdefault(_find_root(folder, roots), []).append(folder)
        refused = {}
        for number, mounted in enumerate(plan.overlays):
            root, name = mounted.path, str(number)
            try:
                self._overlays[root] = OverlayLayers(
                    storage, mounted, name, placed.get(root, ()), made.get(root, ())
                )
            except OSError as error:
                refused[root] = error.strerror or str(error)
        whole = frozenset(mount.path for mount in mounts)
        more = [mount for mount in plan.overlays if mount.path in refused and mount.path in whole]
        for path, flags, is_required in (*plan.read_only, *more):
            try:
                libc.mount(None, path, None, flags | _READ_ONLY)
            except OSError:
                if is_required and os.path.lexists(path):
                    raise
        self._copy_up()
        os.chdir(working)
        return WorldReport(
            tuple(refused.items()),
            tuple(uncovered),
            all(storage.is_in_memory(layers.base) for layers in self._overlays.values()),
        )

    def _copy_up(self) -> None:
        """Make the kernel copy now the files that the run will change in place.

        It copies a file when it is first opened for writing, and who has it open for reading then goes on
        reading the old one.
        """
        for history in self._histories:
            if history.was_changed and history.is_kept and history.after.kind == "file":
                with suppress(OSError):
                    os.close(os.open(history.path, _OPEN_FOR_CHANGE))

    def _find_written(self, known: frozenset[str]) -> list[ReplayedFile]:
        found = [
            written
            for layers in self._overlays.values()
            for written in find_written(
                layers.root, layers.upper, layers.start_view(), self._is_ignored, known
            )
        ]
        return sorted(found, key=lambda written: written.path)

    def _estimate(self) -> int:
        """Return roughly how many bytes the layers will take."""
        changed = (history for history in self._histories if history.was_changed)
        return sum(placement.size_bytes for placement in self._placements or ()) + sum(
            (0 if history.appended_from is not None else history.before.size) + history.after.size
            for history in changed
        )


def _find_root(path: str, roots: Collection[str]) -> str | None:
    """Return the folder of the overlay that a path lies in, or None."""
    while path not in roots:
        if path == "/":
            return None
        path = parent_folder(path)
    return path
