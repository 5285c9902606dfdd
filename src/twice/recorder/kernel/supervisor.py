"""Answers the intercepted system calls of a process and its descendants; in a recording, notes what they touch.

It is another process than those it supervises: a thread beside code that waits for it, holding Python's
lock, would wait for ever. It reads the path that a call points to, notes it, and lets the kernel go on.
Between the look and the call another thread may change the path; for a record that is tolerable, and no
security boundary.

Invariant: every call that it receives is answered, whatever goes wrong while it is noted.
"""

from __future__ import annotations

import errno
import os
import select
from abc import ABC, abstractmethod
from collections.abc import Collection
from functools import partial

from twice.recorder.kernel.call_decoder import CallDecoder, RemoteMemory
from twice.recorder.kernel.file_ledger import FileLedger
from twice.recorder.kernel.file_state import FileHistory
from twice.recorder.kernel.native_connections import NativeConnections
from twice.recorder.kernel.paths import PackagePaths, ResolvedPath, is_compiled, is_device
from twice.recorder.kernel.processes import OF_EFFECT, ProcessTree, read_own_number
from twice.recorder.kernel.seccomp import Listener, Notification
from twice.recorder.kernel.system_calls import (
    CHANGES,
    CONNECTIONS,
    EXECUTIONS,
    NUMBERS,
    OPENS,
    UNNAMED,
    WRITE_FLAGS,
    PathCall,
    path_calls,
)
from twice.recorder.kernel.thread_marks import ThreadMarks

_NO_FOLLOW, _PATH_ONLY = os.O_NOFOLLOW, getattr(os, "O_PATH", 0)
_FOLDER = os.O_DIRECTORY
_NAMELESS = getattr(os, "O_TMPFILE", 0)
_RENAME_NO_REPLACE, _RENAME_EXCHANGE = 1, 2
_BUSY_TURNS = 64
_NAME_BYTES_MAX = 255
_FAILS_ANYWAY = frozenset({errno.EFAULT, errno.ENAMETOOLONG})
"""A pointer that leads nowhere, and a path that is longer than the kernel takes: the call fails."""


class Supervisor(ABC):
    """The supervising side of a filter; ``calls`` are those that it asks about and that name a path, by number."""

    def __init__(self, descriptor: int, calls: dict[int, PathCall]) -> None:
        self.listener, self.memory = Listener(descriptor), RemoteMemory()
        self.decoder, self.calls = CallDecoder(self.memory), calls
        self.opens = frozenset(path_calls(OPENS))
        self.unnamed = {NUMBERS[name]: name for name in UNNAMED if name in NUMBERS}

    @abstractmethod
    def decide(self, notification: Notification) -> int:
        """Return the error number that a call is answered with; 0 to let it proceed."""

    def answer_event(self, event: int) -> bool:
        """Answer a call that the listener has; return whether any filtered process is left."""
        if event & select.POLLIN and (notification := self.listener.receive()) is not None:
            self.listener.answer(notification, self.decide(notification))
        return bool(event & select.POLLIN)

    def answer_waiting(self) -> bool:
        """Answer the calls that wait now; return whether any filtered process is left."""
        poll = select.poll()
        poll.register(self.listener.descriptor, select.POLLIN)
        for _ in range(_BUSY_TURNS):
            events = poll.poll(0)
            if not events:
                return True
            if not self.answer_event(events[0][1]):
                return False
        return True


class RecordingSupervisor(Supervisor):
    """The supervising side of one recording."""

    def __init__(
        self, descriptor: int, ledger: FileLedger, packages: PackagePaths, marks: ThreadMarks
    ) -> None:
        super().__init__(descriptor, path_calls(OPENS, CHANGES, EXECUTIONS))
        self.ledger, self._packages, self._marks = ledger, packages, marks
        self._tree, self.connections = ProcessTree(), NativeConnections(self.memory)
        self._connects = frozenset(NUMBERS[name] for name in CONNECTIONS if name in NUMBERS)
        self.is_noting = True
        """Whether calls are noted; without, each proceeds unseen."""
        self.problems: dict[str, int] = {}
        """What could not be told of calls, and how often."""

    def list_histories(self, served: Collection[int]) -> list[FileHistory]:
        """Return the touched files, once; ``served`` are children of the program that a replay does not start."""
        return [
            history
            for history in self.ledger.finish(served)
            if history.has_effect or not self._packages.is_of_machine(history.path)
        ]

    def decide(self, notification: Notification) -> int:
        """Note a call, which proceeds."""
        self._tree.note_first(notification.pid)
        if self.is_noting:
            try:
                self._note(notification)
            except OSError as error:
                self._note_problem(notification, error)
        return 0

    def _note(self, notification: Notification) -> None:
        if notification.number in self._connects:
            thread = notification.pid
            is_pythons = self._marks.take_expected_connect(read_own_number(thread))
            if not is_pythons and not self._marks.is_any_in_effect():
                branch = partial(self._branch_of, thread)
                self.connections.note(notification, self._tree.root, branch)
            return
        call = self.calls.get(notification.number)
        if call is None:
            name = self.unnamed.get(notification.number, str(notification.number))
            self._count(f"{name}: paths of that process cannot be told any more")
            return
        try:
            given = self.decoder.read_path(notification, call)
        except OSError as error:
            if error.errno in _FAILS_ANYWAY:
                return
            raise
        if notification.number in self.opens:
            self._note_open(notification, call, given)
        elif call in EXECUTIONS:
            path = self._resolve(notification, call, given, follows_last=True)
            if path is not None and not self._packages.is_of_machine(path):
                self.ledger.note_read(path)
        else:
            self._note_change(notification, call, given)

    def _note_open(self, notification: Notification, call: PathCall, given: str) -> None:
        flags = self.decoder.read_flags(notification, call)
        is_writing = bool(flags & WRITE_FLAGS)
        if flags & _PATH_ONLY:
            return
        if given.startswith("/") and not is_writing and self._packages.is_of_machine(given):
            return  # nearly every open of an import ends here
        if flags & _NAMELESS == _NAMELESS:
            return  # a file without a name; linking it somewhere is another call
        follows = not flags & _NO_FOLLOW and not (flags & os.O_CREAT and flags & os.O_EXCL)
        path = self._resolve(notification, call, given, follows_last=follows)
        if path is None or _is_passed_over(path):
            return
        if is_writing:
            self.ledger.branch = self._branch_of(notification.pid)
            self.ledger.note_write(path, flags)
        elif not self._packages.is_of_machine(path) and not self._is_in_effect(notification.pid):
            if flags & _FOLDER or os.path.isdir(path):
                self.ledger.note_listing(path)
            else:
                self.ledger.note_read(path)

    def _note_change(self, notification: Notification, call: PathCall, given: str) -> None:
        self.ledger.branch = self._branch_of(notification.pid)
        path = self._resolve(notification, call, given, follows_last=call.name == "truncate")
        other = self.decoder.resolve_second(notification, call)
        second = None if other is None else self._take(other)
        self.decoder.note_made(call)
        if path is None or _is_passed_over(path):
            if second is not None and not _is_passed_over(second):
                self.ledger.note_creation(second)
            return
        match call.name:
            case "truncate":
                self.ledger.note_change_in_place(path)
            case "unlink" | "unlinkat" | "rmdir":
                self.ledger.note_removal(path)
            case "rename" | "renameat" | "renameat2":
                self._note_renaming(notification, path, second)
            case "link" | "linkat":
                if second is not None:
                    self.ledger.note_linking(path, second)
            case _:
                self.ledger.note_creation(path)

    def _branch_of(self, thread: int) -> int:
        """Return whose files a thread's are: the program's, a child's, or a declared effect's."""
        if self._is_in_effect(thread):
            return OF_EFFECT
        is_new = not self._tree.knows(thread)
        branch = self._tree.branch_of(thread)
        if is_new and branch > 0 and self._marks.is_any_in_effect():
            self._tree.take_for_effect(branch)
            return OF_EFFECT
        return branch

    def _is_in_effect(self, thread: int) -> bool:
        marks = self._marks
        return marks.is_any_in_effect() and marks.is_in_effect(read_own_number(thread))

    def _note_renaming(self, notification: Notification, source: str, target: str | None) -> None:
        if target is None:  # it becomes a file of the product's
            self.ledger.note_removal(source)
            return
        is_flagged = notification.number == NUMBERS.get("renameat2")
        flags = notification.arguments[4] if is_flagged else 0
        if flags & _RENAME_NO_REPLACE and os.path.lexists(target):
            return  # it fails
        if flags & _RENAME_EXCHANGE:
            self.ledger.note_renaming(target, source)
        self.ledger.note_renaming(source, target)

    def _resolve(
        self, notification: Notification, call: PathCall, given: str, *, follows_last: bool
    ) -> str | None:
        """Return the file that a call means, or None where it is the product's own."""
        return self._take(
            self.decoder.resolve(notification, call, given, follows_last=follows_last)
        )

    def _take(self, found: ResolvedPath) -> str | None:
        for link in found.links:
            if not self._packages.is_of_machine(link):
                self.ledger.note_link(link)
        if self.ledger.is_own(found.path) or _has_impossible_name(found.path):
            return None
        return found.path

    def _note_problem(self, notification: Notification, error: OSError) -> None:
        """Note a call whose path could not be read, unless its process is gone."""
        if not self.listener.is_waiting(notification) or error.errno == errno.EFAULT:
            return
        call = self.calls.get(notification.number)
        name = call.name if call is not None else str(notification.number)
        self._count(f"{name} of a path that cannot be read: {error.strerror}")

    def _count(self, problem: str) -> None:
        self.problems[problem] = self.problems.get(problem, 0) + 1


def _is_passed_over(path: str) -> bool:
    return is_device(path) or is_compiled(path)


def _has_impossible_name(path: str) -> bool:
    """Return whether a part of a path is longer than any file's name, so that the call fails."""
    return len(path) > _NAME_BYTES_MAX and any(
        len(os.fsencode(part)) > _NAME_BYTES_MAX for part in path.split("/")
    )
