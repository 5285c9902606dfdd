"""What each file was before the run touched it, learned call by call while a run is recorded.

Before a process of the run changes a file that it read, or may have read, the ledger takes a copy: a
replay needs it. Nothing is copied that no code of the run can have seen: a file that is truncated or
removed unread is kept by its size alone, and one that is only added to by where the addition begins.

Not for: order. A history is the state at the first touch, and at the end.

Invariant: every call is noted before the kernel makes it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from time import time_ns

from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm
from twice.foundation.printable import pluralize
from twice.recorder.kernel.content_store import ContentStore
from twice.recorder.kernel.file_state import (
    ABSENT,
    CONTENT_FIELDS,
    FileHistory,
    FileState,
    FileUnsettled,
    ProcessFile,
    Signature,
    describe_status,
    observe_state,
    signature_of,
    walk_tree,
)
from twice.recorder.kernel.paths import parent_folder
from twice.recorder.kernel.processes import OF_EFFECT

_lstat = os.lstat
_BACKGROUND_FROM = 4 << 20
"""Files of this many bytes are hashed beside the run, while it reads them."""
_LISTED_MAX = 20_000
_TREE_FILES_MAX = 10_000
_TREE_TOO_LARGE = "it was renamed with a folder of too many files to keep"
_CHANGED_BY_OTHERS = "another process changed it while the run was using it"
_LINKED = "it has other names (hard links), and a replay changes this one alone"


@dataclass(slots=True)
class LedgerEntry:
    """One path, from its first touch on."""

    before: FileState
    signature: Signature | None
    links: int = 1
    was_read: bool = False
    was_changed: bool = False
    is_kept: bool = False
    appended_from: int | None = None
    problem: str = ""
    branch: int = 0
    is_read_back: bool = False
    digest: Future[FileState] | None = None

    def settle(self) -> None:
        """Wait for a digest that is still being made."""
        waiting, self.digest = self.digest, None
        if waiting is None:
            return
        try:
            self.before = waiting.result()
        except OSError as error:
            self.problem = str(error)


class FileLedger:
    """Every file that a run touched.

    ``copy_limit`` is the size in bytes of the largest file that is copied before it is changed. ``own`` are paths of
    the product's own files and folders, which are no part of the run.
    """

    def __init__(
        self, algorithm: Algorithm, store: ContentStore, copy_limit: int, own: Collection[str]
    ) -> None:
        self._algorithm, self._store, self._copy_limit = algorithm, store, copy_limit
        self._limit = f"--copy-limit is {copy_limit:,}"
        self._own = frozenset(own)
        self._own_folders = tuple(f"{path}/" for path in sorted(own))
        self._entries: dict[str, LedgerEntry] = {}
        self._began_ns = time_ns()
        self._linked: dict[str, str] = {}
        """By names that the run gave to files: the names that they had."""
        self._changed_inodes: set[tuple[int, ...]] = set()
        """Device and number of files with several names that the run changed through one of them."""
        self._by_branch: dict[int, set[str]] = {}
        self.branch = 0
        """The child of the program under which the next call is made; 0 for the program itself."""
        self._hashing = ThreadPoolExecutor(1, thread_name_prefix="digests")

    def is_own(self, path: str) -> bool:
        """Return whether a path is the product's own, and no part of the run."""
        return path in self._own or path.startswith(self._own_folders)

    def note_read(self, path: str) -> None:
        """Note that a file is about to be opened for reading alone."""
        entry = self._touch(path)
        if entry.was_changed:
            entry.is_read_back = True
            self._keep_beginning(path, entry)
            return
        self._read(path, entry)

    def note_write(self, path: str, flags: int) -> None:
        """Note that a file is about to be opened for writing, with these flags of ``open``."""
        self._note_linked(path)
        entry = self._touch(path)
        if entry.before.kind == "other":
            entry.was_read = True  # a FIFO: nothing is left in it
            return
        if flags & os.O_EXCL and flags & os.O_CREAT and entry.before.kind != "absent":
            return  # it is there: the call fails
        only_adds = flags & os.O_APPEND and not flags & os.O_RDWR
        if entry.was_changed:
            self._mark_changed(path, entry)
            entry.is_read_back |= bool(flags & os.O_RDWR) and not flags & os.O_TRUNC
            if not only_adds:
                self._keep_beginning(path, entry)
            return
        if entry.before.kind == "file" and not (flags & os.O_TRUNC and not entry.was_read):
            if only_adds and not entry.was_read:
                entry.appended_from = entry.before.size
            else:
                self._keep(path, entry)
        elif entry.before.kind == "file" and entry.links > 1:
            entry.problem = _LINKED
        self._mark_changed(path, entry)

    def note_removal(self, path: str) -> None:
        """Note that a path is about to be removed, or replaced by another file's renaming."""
        entry = self._touch(path)
        if not entry.was_changed and entry.was_read:
            self._keep(path, entry)
        self._keep_beginning(path, entry)
        self._mark_changed(path, entry)

    def note_creation(self, path: str) -> None:
        """Note that a folder, link, device or other name is about to be made."""
        entry = self._touch(path)
        if entry.was_changed or entry.before.kind == "absent":
            self._mark_changed(path, entry)
        # Otherwise something is there, and the call fails.

    def note_linking(self, path: str, target: str) -> None:
        """Note that a file is about to get another name, by which it may be changed."""
        self._touch(path)
        self.note_creation(target)
        self._linked[target] = path

    def note_change_in_place(self, path: str) -> None:
        """Note that a file's content is about to be changed, or to go by another name."""
        self._note_linked(path)
        entry = self._touch(path)
        if not entry.was_changed:
            self._keep(path, entry)
        self._keep_beginning(path, entry)
        self._mark_changed(path, entry)

    def note_renaming(self, source: str, target: str) -> None:
        """Note that a path is about to take another name."""
        for path in self._below(source):
            moved = target + path[len(source) :]
            self.note_change_in_place(path)
            self.note_removal(moved)
        linked = self._linked.pop(source, None)
        self.note_change_in_place(source)
        self.note_removal(target)
        if linked is not None:
            self._linked[target] = linked

    def take_branch(self, branch: int, given: Collection[str] = ()) -> list[ProcessFile]:
        """Return the files that a child of the program and its descendants made since the last time.

        ``given`` are paths of files that the program opened and that the child writes by their descriptors.
        """
        paths = {*given, *self._by_branch.pop(branch, ())}
        return [self._process_file(path) for path in sorted(paths)]

    def note_listing(self, path: str) -> None:
        """Note that a folder is about to be listed."""
        entry = self._touch(path)
        if entry.was_read or entry.was_changed or entry.before.kind != "folder":
            return
        entry.was_read = True
        with suppress(OSError):
            names = [name for name in os.listdir(path) if not self.is_own(f"{path}/{name}")]
            if len(names) <= _LISTED_MAX:
                entry.before = replace(entry.before, names=tuple(sorted(names)))

    def note_link(self, path: str) -> None:
        """Note that a link was followed."""
        entry = self._touch(path)
        entry.was_read = True

    def finish(self, served: Collection[int] = ()) -> list[FileHistory]:
        """Return the touched files, sorted by path, without those that were not read and had no effect.

        A folder that the run made and removed stays where files in it do: a replay finds none there either. ``served``
        are children of the program that a replay does not start.
        """
        histories = []
        around: set[str] = set()
        unstarted = {OF_EFFECT, *served}
        for path in sorted(self._entries, reverse=True):  # a folder comes after what is in it
            entry = self._entries[path]
            history = self._history(path, entry, is_served=entry.branch in unstarted)
            is_around = path in around and entry.was_changed
            if history.has_effect or history.was_read or history.problem or is_around:
                histories.append(history)
                around.add(parent_folder(path))
        self._hashing.shutdown(wait=True)
        return histories[::-1]

    def _note_linked(self, path: str) -> None:
        """Note that the file of a name that the run gave is about to be changed."""
        linked = self._linked.pop(path, None)
        if linked is not None:
            self.note_change_in_place(linked)

    def _touch(self, path: str) -> LedgerEntry:
        """Return a path's entry; made now, when this is its first touch."""
        entry = self._entries.get(path)
        if entry is not None:
            return entry
        try:
            found = _lstat(path)
        except (OSError, ValueError):
            entry = LedgerEntry(ABSENT, None)
        else:
            state = _describe(path, found)
            if state.kind == "other" and found.st_ctime_ns >= self._began_ns:
                state = ABSENT  # a socket, which no call that is intercepted makes
            signature = None if state is ABSENT else signature_of(found)
            entry = LedgerEntry(state, signature, found.st_nlink)
            if (found.st_dev, found.st_ino) in self._changed_inodes:
                entry.problem = _LINKED
        self._entries[path] = entry
        return entry

    def _mark_changed(self, path: str, entry: LedgerEntry) -> None:
        entry.was_changed = True
        entry.branch = self.branch
        if entry.links > 1 and entry.signature is not None:
            self._changed_inodes.add(entry.signature[:2])
        if self.branch > 0:
            self._by_branch.setdefault(self.branch, set()).add(path)

    def _process_file(self, path: str) -> ProcessFile:
        """Return the file that a child left at a path, with a copy of it."""
        try:
            state = observe_state(path, self._algorithm, with_content=False)
            if state.kind != "file":
                return ProcessFile(path, state)
            if state.size > self._copy_limit:
                held = pluralize(state.size, "byte")
                limit = f"a process wrote {held}, and no replay starts it; {self._limit}"
                self._touch(path).problem = limit
                return ProcessFile(path, state, limit)
            kept = self._store.keep(path, self._algorithm)
        except OSError as error:
            return ProcessFile(path, ABSENT, f"its content could not be kept: {error}")
        return ProcessFile(path, replace(state, digest=kept.digest, size=kept.size))

    def _read(self, path: str, entry: LedgerEntry) -> None:
        if entry.was_read:
            if entry.signature is not None and not entry.problem:
                with suppress(OSError):
                    if signature_of(_lstat(path)) == entry.signature:
                        return
                entry.problem = _CHANGED_BY_OTHERS
            return
        entry.was_read = True
        if entry.before.kind != "file":
            return
        if entry.before.size >= _BACKGROUND_FROM:
            # No thread starts where children are numbered anew, as in a copy.
            with suppress(RuntimeError):
                entry.digest = self._hashing.submit(self._observe, path)
                return
        try:
            entry.before = self._observe(path)
        except FileUnsettled as error:
            entry.problem = str(error)

    def _observe(self, path: str) -> FileState:
        return observe_state(path, self._algorithm, with_content=True)

    def _find_late_change(self, path: str, entry: LedgerEntry) -> str:
        """Return a sentence about a file that was read and has another content at the end."""
        try:
            found = _lstat(path)
        except OSError:
            return ""  # it went with a folder
        now, was = signature_of(found), entry.signature
        if was is None or now[:CONTENT_FIELDS] == was[:CONTENT_FIELDS]:
            return ""
        with suppress(OSError):
            if self._observe(path).digest == entry.before.digest:
                return ""  # its time was set, and nothing else
        return _LINKED if now[:2] in self._changed_inodes else _CHANGED_BY_OTHERS

    def _keep(self, path: str, entry: LedgerEntry) -> None:
        """Copy a file's content before the run changes it."""
        entry.settle()
        if entry.before.kind != "file" or entry.is_kept:
            return
        if self._copy(path, entry, None, "changed in place") and entry.links > 1:
            entry.problem = _LINKED

    def _keep_beginning(self, path: str, entry: LedgerEntry) -> None:
        """Copy the former content of a file that the run added to, if now the run may read it."""
        size, entry.appended_from = entry.appended_from, None
        if size is not None:
            self._copy(path, entry, size, "read after the run had added to it")

    def _copy(self, path: str, entry: LedgerEntry, size: int | None, why: str) -> bool:
        held = entry.before.size if size is None else size
        if held > self._copy_limit:
            entry.problem = f"it held {pluralize(held, 'byte')} and was {why}; {self._limit}"
            return False
        try:
            kept = self._store.keep(path, self._algorithm, size=size)
        except OSError as error:
            entry.problem = f"its content could not be kept: {error}"
            return False
        entry.before = replace(entry.before, digest=kept.digest, size=kept.size, chunks=kept.chunks)
        entry.is_kept = True
        return True

    def _below(self, folder: str) -> list[str]:
        """Return every file below a folder that is about to be renamed, the folder left out."""
        if os.path.islink(folder):
            return []
        found = [entry.path for entry in islice(walk_tree([folder]), _TREE_FILES_MAX + 1)]
        if len(found) > _TREE_FILES_MAX:
            self._touch(folder).problem = _TREE_TOO_LARGE
            return []
        return found

    def _history(self, path: str, entry: LedgerEntry, *, is_served: bool) -> FileHistory:
        entry.settle()
        changed, after, problem = entry.was_changed, entry.before, entry.problem
        if changed and entry.signature is not None and self._is_untouched(path, entry):
            # It was opened for writing, and nothing was written.
            changed = False
            problem = "" if problem == _LINKED else problem
        if changed:
            try:
                after = observe_state(
                    path, self._algorithm, with_content=True, appended_from=entry.appended_from
                )
            except OSError as error:
                problem = problem or f"its content at the end is not known: {error}"
        elif entry.was_read and entry.before.kind == "file" and not problem:
            problem = self._find_late_change(path, entry)
        was_read = entry.was_read or (not changed and bool(entry.before.digest))
        return FileHistory(
            path, entry.before, after, was_read, changed, entry.is_kept and changed,
            entry.appended_from if changed else None, problem if changed or was_read else "",
            is_served, entry.is_read_back,
        )  # fmt: skip

    def _is_untouched(self, path: str, entry: LedgerEntry) -> bool:
        try:
            if signature_of(_lstat(path)) != entry.signature:
                return False
            # On some file systems a write through a memory map leaves no trace in the status.
            return not entry.is_kept or self._observe(path).digest == entry.before.digest
        except OSError:
            return False


def _describe(path: str, found: os.stat_result) -> FileState:
    """Return the state of a path that is touched first, without what a replay cannot give a link or a device."""
    with suppress(OSError):
        state = describe_status(path, found)
        if state.kind in {"file", "folder"}:
            return state
        if state.kind == "link":
            return FileState("link", target=state.target)
    return FileState("other", mode=stat.S_IMODE(found.st_mode))
