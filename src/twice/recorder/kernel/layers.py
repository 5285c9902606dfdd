"""One overlay of a replay's world: its layers, where they lie, and the files as they were that one of them holds.

From the top: what the replay writes, the files as they were where they are others now, the real folder.
Every path in the kernel's options goes by a descriptor, so that no name has to be escaped or shortened. Layers lie
in memory, or on a disk that can hold them.

A whiteout, a character device 0:0, stands for a file that did not exist yet. A folder of a layer shows
what the real one holds as well, and has its owner, permissions and time.

Not for: which folders get an overlay (``mounts``), and who owned a file: one in a layer belongs to the owner of the
real one, where there is one and this process may say so, and to this process elsewhere.

Invariant: no real file is changed, and layers lie in no folder that they are laid over; the kernel would refuse them.
Source: the kernel's documentation of overlayfs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress

from twice.recorder.kernel import libc
from twice.recorder.kernel.content_store import WRITE_NEW, copy_content
from twice.recorder.kernel.file_state import FileState, closing_descriptor
from twice.recorder.kernel.mounts import PlannedMount
from twice.recorder.kernel.namespaces import Namespaces
from twice.recorder.kernel.paths import is_below, is_folder, parent_folder
from twice.recorder.kernel.placements import Placement

# The real ones: bound before anything is patched.
_lstat, _makedirs, _mkdir, _symlink = os.lstat, os.makedirs, os.mkdir, os.symlink
_chmod, _unlink, _rmdir = os.chmod, os.unlink, os.rmdir
_TRIED = "user.twice"
# What the kernel needs to know of layers that an ordinary user made; without them, a real folder can be
# renamed as well.
_FOR_USERS = "userxattr"
_WITH_RIGHTS = "redirect_dir=on,metacopy=off"
_OPTIONS = "xino=off"  # a file keeps the inode number that it really has


class LayerStorage:
    """Folders for layers: in memory, and on disk where they may be too much for that.

    The folder on disk is private to this replay. An ``OSError`` says that not even memory can be mounted.
    """

    def __init__(
        self, folder: str, entered: Namespaces, held: ExitStack, *, prefer_disk: bool
    ) -> None:
        self._folder = folder
        self.held, self.options = held, layer_options(entered)
        memory, disk = f"{folder}/memory", f"{folder}/disk"
        _makedirs(memory, mode=0o700, exist_ok=True)
        libc.mount("tmpfs", memory, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "mode=0700")
        self._memory = open_folder(memory, held)
        self._disk = ""
        if not entered.is_of_host:
            # Before Linux 6.6 memory takes no attributes of users, and a folder that was removed and made
            # again could not be told from the one below it.
            try:
                os.setxattr(memory, _TRIED, b"1")
            except OSError:
                prefer_disk = True
        if prefer_disk:
            _makedirs(disk, mode=0o700, exist_ok=True)
            self._disk = open_folder(disk, held)

    def bases(self, root: str) -> list[str]:
        """Return where layers for a folder may lie, the better place first."""
        is_disk_below = is_below(self._folder, root)
        return [self._disk, self._memory] if self._disk and not is_disk_below else [self._memory]

    def is_in_memory(self, base: str) -> bool:
        """Return whether a folder of ``bases`` takes memory."""
        return base.startswith(f"{self._memory}/")


class OverlayLayers:
    """An overlay that is mounted over one folder.

    ``placements`` are what the folder must show as it was, and ``foreign`` are folders in it that the kernel would not
    copy into the top layer, both sorted. ``base`` is the folder with the layers. After an ``OSError`` the folder is as
    it was.
    """

    def __init__(
        self,
        storage: LayerStorage,
        mounted: PlannedMount,
        name: str,
        placements: Sequence[Placement],
        foreign: Sequence[str],
    ) -> None:
        self.root, self._options = mounted.path, storage.options
        self._placements, self._foreign = placements, foreign
        # With the dot it is a folder for lstat as well, not a link to one.
        self._real = f"{open_folder(self.root, storage.held)}/."
        self._start = ""
        places = [f"{base}/{name}" for base in storage.bases(self.root)]
        for self.base in places:
            try:
                self._mount(mounted.flags, is_on_disk=self.base != places[-1])
            except OSError:
                if self.base == places[-1]:
                    raise
            else:
                return

    @property
    def upper(self) -> str:
        """Return the folder with the files that the replay wrote."""
        return f"{self.base}/upper"

    def start_view(self) -> str:
        """Return a path that shows the folder as it was before the replay wrote in it."""
        if not self._placements:
            return self._real
        if not self._start:
            self._start = f"{self.base}/view"
            lower = f"lowerdir={self.base}/start:{self._real},{self._options}"
            libc.mount("overlay", self._start, "overlay", libc.MS_RDONLY, lower)
        return self._start

    def _mount(self, flags: int, *, is_on_disk: bool) -> None:
        base = self.base
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


def layer_options(entered: Namespaces) -> str:
    """Return the kernel's options for overlays of a process in these namespaces."""
    return f"{_OPTIONS},{_WITH_RIGHTS if entered.is_of_host else _FOR_USERS}"


def open_folder(path: str, held: ExitStack) -> str:
    """Return a path by which a folder is reached whatever is mounted over it later, while ``held`` is not closed."""
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
    descriptor = os.open(path, flags)
    held.callback(os.close, descriptor)
    return f"/proc/self/fd/{descriptor}"


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


class StartLayer:
    """A folder with what was there at the start, for one overlay.

    ``layer`` is an empty folder, ``real`` the one that it is laid over, and ``root`` the path of that in placements.
    """

    def __init__(self, layer: str, real: str, root: str) -> None:
        self._layer, self._real, self._root = layer, real, root
        self._own = (os.geteuid(), os.getegid())
        self._folders: dict[str, FileState | None] = {}
        self._hidden: set[str] = set()

    def make(self, placements: Iterable[Placement]) -> None:
        """Make the files of some placements, which are sorted by path, each below ``root``."""
        for placement in placements:
            inside = placement.path[len(self._root.rstrip("/")) :]
            if placement.state.kind == "folder":
                self._make_folders(inside, placement.state)
            elif inside and self._make_folders(parent_folder(inside), None):
                self._hidden.add(inside)
                self._make_file(inside, placement)
        # Last, and from the innermost outwards: each change within a folder sets its time.
        for inside in sorted(self._folders, reverse=True):
            status = copy_folder_status(f"{self._real}{inside}", f"{self._layer}{inside}")
            state = self._folders[inside]
            if state is not None and (state.mode or state.mtime_ns):
                made = f"{self._layer}{inside}"
                if status is None or _lstat(made).st_uid == status.st_uid:
                    _chmod(made, state.mode)
                os.utime(made, ns=(state.mtime_ns, state.mtime_ns))

    def _make_folders(self, inside: str, state: FileState | None) -> bool:
        """Make a folder and those above it; return False where one of them did not exist yet."""
        inside = inside.rstrip("/")
        if inside in self._folders:
            if state is not None:
                self._folders[inside] = state
            return True
        if inside in self._hidden:
            return False
        if inside:
            if not self._make_folders(parent_folder(inside), None):
                return False
            _mkdir(f"{self._layer}{inside}", 0o700)
        self._folders[inside] = state
        return True

    def _make_file(self, inside: str, placement: Placement) -> None:
        target, state = f"{self._layer}{inside}", placement.state
        if state.kind == "absent":
            os.mknod(target, stat.S_IFCHR, 0)
            return
        if state.kind == "other":  # whatever it was, the run removes it
            os.mkfifo(target, 0o600)
            return
        try:
            real = _lstat(f"{self._real}{inside}")
        except OSError:
            real = None
        if state.kind == "link":
            _symlink(state.target, target)
            if real is not None:
                with suppress(PermissionError):
                    os.chown(target, real.st_uid, real.st_gid, follow_symlinks=False)
            return
        with closing_descriptor(os.open(target, WRITE_NEW, 0o600)) as writing:
            if placement.source is None:
                os.ftruncate(writing, state.size)
            else:
                copy_content(placement.source, writing, state.size)
            if real is not None and (real.st_uid, real.st_gid) != self._own:
                with suppress(OSError):
                    os.fchown(writing, real.st_uid, real.st_gid)
            os.fchmod(writing, state.mode)
            os.utime(writing, ns=(state.mtime_ns, state.mtime_ns))


def copy_folder_status(real: str, copy: str) -> os.stat_result | None:
    """Copy owner, permissions and time of a real folder to a layer's folder; return its status.

    A folder of someone else cannot be copied with its owner: it gets what this process may do in the real
    one as the permissions of its owner.
    """
    try:
        status = _lstat(real)
    except OSError:
        status = None
    if status is None or not stat.S_ISDIR(status.st_mode):
        _chmod(copy, 0o755)
        return None
    mode = stat.S_IMODE(status.st_mode)
    try:
        os.chown(copy, status.st_uid, status.st_gid)
    except OSError:
        if status.st_uid != os.geteuid():
            granted = sum(bit for bit in (os.R_OK, os.W_OK, os.X_OK) if os.access(real, bit))
            mode = mode & 0o7077 | granted << 6
    _chmod(copy, mode)
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    return status


def make_folders(upper: str, start: str, real: str, inside: Iterable[str]) -> None:
    """Make folders in a top layer as they are in the layers below it.

    ``start`` is the layer with the files as they were, empty without one. ``inside`` has the folders' paths from the
    layers' root on, sorted.
    """
    made: dict[str, str] = {"": ""}
    for folder in inside:
        shown = (
            f"{start}{folder}" if start and os.path.lexists(f"{start}{folder}") else real + folder
        )
        if folder.rpartition("/")[0] in made and is_folder(shown):
            _mkdir(f"{upper}{folder}", 0o700)
            made[folder] = shown
    for folder in reversed(made):  # a folder's time changes as others are made in it
        if folder:
            copy_folder_status(made[folder], f"{upper}{folder}")
