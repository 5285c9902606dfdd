"""Which child of the program a process descends from.

A process that a replay does not start is served from the record; what it and its descendants wrote has to
be told from what the program and the processes that run again wrote.

Invariant: a process whose origin is not known belongs to no child.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

_open, _listdir = open, os.listdir  # the real ones: bound before anything is patched
_OF_PROGRAM, _UNKNOWN, OF_EFFECT = 0, -1, -2


class ProcessTree:
    """The descendants of the program's process, which is the first that makes a call."""

    def __init__(self) -> None:
        self.root = 0
        """Process id of the program, as the supervisor counts; 0 until it makes a call."""
        self._branches: dict[int, int] = {}

    def note_first(self, thread: int) -> None:
        """Note the thread of a call; that of the first one is the program's."""
        if not self.root:
            self.root = read_parent(thread)[0]
            self._branches[self.root] = _OF_PROGRAM

    def knows(self, thread: int) -> bool:
        """Return whether a thread made a call before."""
        return thread in self._branches

    def take_for_effect(self, branch: int) -> None:
        """Note that a declared effect started a child, with all that descends from it."""
        for process in [each for each, of in self._branches.items() if of == branch]:
            self._branches[process] = OF_EFFECT

    def branch_of(self, thread: int) -> int:
        """Return the child of the program that a thread's process is, or descends from.

        Returns:
            A process id; 0 for the program's own process, -1 for one that cannot be told.
        """
        known = self._branches.get(thread)
        if known is None:
            known = self._branches[thread] = self._climb(thread)
        return known

    def _climb(self, thread: int) -> int:
        process, parent = read_parent(thread)
        climbed = []
        while process not in {0, 1}:
            if process in self._branches:
                branch = self._branches[process]
                break
            climbed.append(process)
            if parent == self.root:
                branch = process
                break
            process, parent = read_parent(parent)
        else:
            branch = _UNKNOWN
        for each in climbed:
            self._branches[each] = branch
        return branch


def read_parent(thread: int) -> tuple[int, int]:
    """Return the process of a thread and its parent, 0 where it is gone."""
    try:
        with _open(f"/proc/{thread}/status", "rb") as status:
            fields = dict(
                line.split(b":", 1) for line in status.read(512).splitlines() if b":" in line
            )
        return int(fields[b"Tgid"]), int(fields[b"PPid"])
    except (OSError, KeyError, ValueError):
        return 0, 0


def read_own_number(thread: int) -> int:
    """Return the id that a thread has for itself: another one in a process namespace; 0 where it is gone."""
    with suppress(OSError, ValueError), _open(f"/proc/{thread}/status", "rb") as status:
        for line in status:
            if line.startswith(b"NSpid:"):
                return int(line.split()[-1])
    return 0


def list_processes(root: int, is_wanted: Callable[[int], bool]) -> Iterator[int]:
    """Yield a process and its descendants, leaving out those that are not wanted with theirs.

    Args:
        root: process id.
        is_wanted: asked about each descendant.
    """
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid
        with suppress(OSError):
            for task in _listdir(f"/proc/{pid}/task"):
                with _open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as children:
                    waiting += filter(is_wanted, map(int, children.read().split()))
