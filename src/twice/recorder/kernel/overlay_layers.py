"""One overlay of a replay's world, and where its layers lie: in memory, or on a disk that can hold them.

From the top: what the replay writes, the files as they were where they are others now, the real folder.
Every path in the kernel's options goes by a descriptor, so that no name has to be escaped or shortened.

Not for: which folders get one (``overlay_plan``).

Invariant: layers lie in no folder that they are laid over; the kernel would refuse them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from twice.recorder.kernel import libc
from twice.recorder.kernel.foreign_files import make_folders
from twice.recorder.kernel.mount_table import is_below
from twice.recorder.kernel.namespaces import Namespaces
from twice.recorder.kernel.placements import Placement
from twice.recorder.kernel.start_layer import StartLayer, copy_folder_status

_makedirs, _mkdir, _chmod, _unlink, _rmdir = os.makedirs, os.mkdir, os.chmod, os.unlink, os.rmdir
_TRIED = "user.twice"
# What the kernel needs to know of layers that an ordinary user made; without them, a real folder can be
# renamed as well.
_FOR_USERS = "userxattr"
_WITH_RIGHTS = "redirect_dir=on,metacopy=off"
_OPTIONS = "xino=off"  # a file keeps the inode number that it really has


class LayerStorage:
    """Folders for layers.

    Args:
        folder: private to this replay, on disk.
        entered: the namespaces of this process.
        prefer_disk: whether the layers may be too much for memory.

    Raises:
        OSError: not even memory can be mounted.
    """

    def __init__(self, folder: str, entered: Namespaces, *, prefer_disk: bool) -> None:
        self._folder = folder
        self.options = layer_options(entered)
        memory, disk = f"{folder}/memory", f"{folder}/disk"
        _makedirs(memory, mode=0o700, exist_ok=True)
        libc.mount("tmpfs", memory, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "mode=0700")
        self._descriptors = [open_folder(memory)]
        self._memory = f"/proc/self/fd/{self._descriptors[0]}"
        self._disk = ""
        # Before Linux 6.6 memory takes no attributes of users, and a folder that was removed and made
        # again could not be told from the one below it.
        if prefer_disk or (not entered.is_of_host and not _takes_attributes(memory)):
            _makedirs(disk, mode=0o700, exist_ok=True)
            self._descriptors.append(open_folder(disk))
            self._disk = f"/proc/self/fd/{self._descriptors[1]}"

    def bases(self, root: str) -> list[str]:
        """Return where layers for a folder may lie, the better place first."""
        is_disk_below = is_below(self._folder, root)
        return [self._disk, self._memory] if self._disk and not is_disk_below else [self._memory]

    def is_in_memory(self, base: str) -> bool:
        """Return whether a folder of ``bases`` takes memory."""
        return base.startswith(f"{self._memory}/")

    def close(self) -> None:
        """Close the descriptors of the folders."""
        while self._descriptors:
            os.close(self._descriptors.pop())


class OverlayLayers:
    """An overlay over one folder.

    Args:
        root: path of the folder.
        placements: what the folder must show as it was, sorted by path.
        foreign: folders in it that the kernel would not copy into the top layer, sorted.

    Attributes:
        base: folder with the layers; empty before ``mount``.
    """

    def __init__(
        self, root: str, placements: Sequence[Placement], foreign: Sequence[str] = ()
    ) -> None:
        self.root, self.base = root, ""
        self._placements, self._foreign = placements, foreign
        self._descriptor = open_folder(root)
        # With the dot it is a folder for lstat as well, not a link to one.
        self._real = f"/proc/self/fd/{self._descriptor}/."
        self._start = ""
        self._options = ""

    @property
    def upper(self) -> str:
        """Return the folder with the files that the replay wrote."""
        return f"{self.base}/upper"

    def mount(self, storage: LayerStorage, name: str, flags: int) -> None:
        """Mount the overlay over the folder.

        Raises:
            OSError: as the kernel refused it; the folder is as it was.
        """
        self._options = storage.options
        for base in (places := storage.bases(self.root)):
            try:
                self._mount(f"{base}/{name}", flags, is_on_disk=base != places[-1])
            except OSError:
                if base == places[-1]:
                    raise
            else:
                return

    def start_view(self) -> str:
        """Return a path that shows the folder as it was before the replay wrote in it."""
        if not self._placements:
            return self._real
        if not self._start:
            self._start = f"{self.base}/view"
            lower = f"lowerdir={self.base}/start:{self._real},{self._options}"
            libc.mount("overlay", self._start, "overlay", libc.MS_RDONLY, lower)
        return self._start

    def close(self) -> None:
        """Close the descriptor of the real folder."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _mount(self, base: str, flags: int, *, is_on_disk: bool) -> None:
        for folder in ("", "/upper", "/scratch", "/view", "/start"):
            _mkdir(f"{base}{folder}", 0o700)
        lower, start = self._real, ""
        if self._placements:
            start = f"{base}/start"
            StartLayer(start, self._real, self.root).make(self._placements)
            lower = f"{start}:{lower}"
        inside = (folder[len(self.root) :] for folder in self._foreign if folder != self.root)
        make_folders(f"{base}/upper", start, self._real, inside)
        # The folder itself is shown by its topmost layer.
        copy_folder_status(start or self._real, f"{base}/upper")
        options = f"lowerdir={lower},upperdir={base}/upper,workdir={base}/scratch,{self._options}"
        # Without "volatile" the end of the namespace waits until the whole disk is written.
        options += ",volatile" if is_on_disk else ""
        libc.mount("overlay", self.root, "overlay", flags, options)
        # The kernel's own folder forbids everything: whoever tidies up could not look into it.
        _chmod(f"{base}/scratch/work", 0o700)
        self.base = base


def layer_options(entered: Namespaces) -> str:
    """Return the kernel's options for overlays of a process in these namespaces."""
    return f"{_OPTIONS},{_WITH_RIGHTS if entered.is_of_host else _FOR_USERS}"


def open_folder(path: str) -> int:
    """Return a descriptor by which a folder is reached whatever is mounted over it later."""
    return os.open(path, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC)


def remove_layers(folder: str) -> None:
    """Remove the content of a folder for layers, with folders that the kernel locked for itself."""
    with suppress(OSError):
        _chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            inside = list(entries)
        for entry in inside:
            if entry.is_dir(follow_symlinks=False):
                remove_layers(entry.path)
            else:
                _unlink(entry.path)
        _rmdir(folder)


def _takes_attributes(folder: str) -> bool:
    try:
        os.setxattr(folder, _TRIED, b"1")
    except OSError:
        return False
    return True
