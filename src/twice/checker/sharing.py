"""Work shared among a process and copies of itself.

The numbers of the pieces wait in a pipe, and whoever has nothing to do takes the next one, so that all end at
nearly the same time. A copy keeps what it made and hands it over, as JSON, when the pipe is empty.

Invariant: every piece is worked on; one that a copy took and did not hand over is worked on here.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

_NUMBER_BYTES: Final = 4
_WAITING_MAX: Final = 1024  # Numbers: 4 KB, which the smallest pipe holds without a reader.


def can_share() -> bool:
    """Say whether a copy of this process can go on by itself: threads are not copied."""
    return (
        hasattr(os, "fork") and sys.platform.startswith("linux") and threading.active_count() == 1
    )


def share(work: Callable[[int], Any], order: Sequence[int], processes: int) -> list[Any]:
    """Do pieces of work in several processes; give the results by number.

    Args:
        work: does the piece of a number; gives values that JSON can write.
        order: the numbers from 0 on, each once; the largest pieces first.
        processes: how many work, this one included.

    Raises:
        Exception: what a piece of work raises.
    """
    pieces = [list(order[start::_WAITING_MAX]) for start in range(min(len(order), _WAITING_MAX))]
    take, put = os.pipe()
    os.write(put, b"".join(each.to_bytes(_NUMBER_BYTES, "big") for each in range(len(pieces))))
    os.close(put)
    copies: dict[int, int] = {}
    try:
        for _ in range(processes - 1):
            pid, reading = _copy(work, pieces, take)
            copies[pid] = reading
        found = dict(_taken(work, pieces, take))
        for pid in list(copies):
            found.update(_handed_over(pid, copies.pop(pid)))
    finally:
        os.close(take)
        for pid, reading in copies.items():
            os.close(reading)  # What it writes then ends it.
            os.waitpid(pid, 0)
    return [found[each] if each in found else work(each) for each in range(len(order))]


def _copy(
    work: Callable[[int], Any], pieces: Sequence[Sequence[int]], take: int
) -> tuple[int, int]:
    """Start a copy of this process; its id, and where it hands over what it made."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    try:
        os.close(reading)
        text = json.dumps(list(_taken(work, pieces, take)), separators=(",", ":"))
        with os.fdopen(writing, "w", encoding="ascii") as file:
            file.write(text)
        status = 0
    finally:
        os._exit(status)  # Nothing that the first process began is ended twice.


def _taken(
    work: Callable[[int], Any], pieces: Sequence[Sequence[int]], take: int
) -> Iterator[tuple[int, Any]]:
    """Take pieces as long as there are some, and work on them."""
    while number := os.read(take, _NUMBER_BYTES):
        for each in pieces[int.from_bytes(number, "big")]:
            yield each, work(each)


def _handed_over(pid: int, reading: int) -> dict[int, Any]:
    """Read the result of a forked copy; return nothing if the copy failed."""
    with os.fdopen(reading, encoding="ascii") as file:
        text = file.read()
    _, status = os.waitpid(pid, 0)
    return dict(json.loads(text)) if status == 0 else {}
