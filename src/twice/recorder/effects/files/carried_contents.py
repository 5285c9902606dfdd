"""What files hold: digests, and the contents that a record carries whole.

A journal frame of the kind ``content`` holds ``(digest, size, at, bytes)``: a piece of a file, beginning ``at`` bytes
from its start. Contents are kept by policy, and where nobody else could have them at a replay: what the run itself
goes on to change, and what came to be while it ran.

Invariant: what is served has the digest that it was kept under.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from twice.foundation.digests import Algorithm, Digest, new_hasher
from twice.foundation.encoding import decode, encode
from twice.foundation.printable import pluralize
from twice.recorder.effects.actors import outside
from twice.recorder.kernel.file_state import closing_descriptor
from twice.recorder.record_form import reading

CONTENT = "content"
PIECE_BYTES = 1 << 20
KEPT_BYTES_MAX = 64 << 20
"""Largest file that is kept when the policy does not ask for contents."""

# Read descriptors outside of any session: whoever digests a file reads nothing for the program.
_open, _pread, _pwrite = os.open, os.pread, os.pwrite


Found = tuple[str, int]
"""Labelled digest and size."""


def describe_content(found: Found | None) -> str:
    """Describe a file's content for messages."""
    if not found:
        return "no file is there"
    return f"{found[0]}, {pluralize(found[1], 'byte')}" if found[0] else "changed by another hand"


def digest_of(
    descriptor: int, algorithm: Algorithm, start: int = 0, end: int | None = None
) -> Found:
    """Return the labelled digest of an open file's bytes from ``start`` on, and the position after the last one."""
    hasher, at = new_hasher(algorithm), start
    while end is None or at < end:
        data = _pread(descriptor, PIECE_BYTES if end is None else min(PIECE_BYTES, end - at), at)
        if not data:
            break
        hasher.update(data)
        at += len(data)
    return f"{algorithm.value}:{hasher.digest().hex()}", at


def begins_with(path: str, digest: str, size: int) -> bool:
    """Return whether the first ``size`` bytes of a file have a digest."""
    with closing_descriptor(_open(path, os.O_RDONLY | os.O_CLOEXEC)) as descriptor:
        algorithm = Algorithm(digest.partition(":")[0])
        return digest_of(descriptor, algorithm, end=size) == (digest, size)


def pieces(descriptor: int, digest: str, size: int) -> Iterable[bytes]:
    """Yield an open file as payloads of frames."""
    at = 0
    while at == 0 or at < size:
        data = _pread(descriptor, min(PIECE_BYTES, size - at), at)
        yield encode((digest, size, at, data))
        if not data:
            return
        at += len(data)


class CarriedContents:
    """Contents that a record carries, written out when they are first asked for.

    ``payloads`` opens the record's frames. The folder is private to the session.
    """

    def __init__(self, payloads: Callable[[], Iterable[bytes]], folder: str) -> None:
        self._folder = folder
        self._sizes: dict[str, int] = {}
        for payload in payloads():
            with reading("a file's content", "The record"):
                self._put(*decode(payload))  # type: ignore[misc]

    @classmethod
    def found_in(cls, folder: str) -> CarriedContents:
        """Return the contents that another process wrote out; none where the folder has no name."""
        found = cls(tuple, folder)
        names = os.listdir(folder) if folder else ()  # noqa: PTH208
        found._sizes = {name: os.stat(f"{folder}/{name}").st_size for name in names}  # noqa: PTH116
        return found

    def path(self, digest: str) -> str | None:
        """Return the path of a file with this content, or None when the record does not carry it."""
        name = digest.rpartition(":")[2]
        size = self._sizes.get(name)
        path = f"{self._folder}/{name}"
        return path if size is not None and begins_with(path, digest, size) else None

    def _put(self, digest: str, size: int, at: int, data: bytes) -> None:
        name = digest.rpartition(":")[2]
        if name not in self._sizes:
            Digest.parse(digest)  # it becomes a name, and a stranger may have written it
            outside(os.makedirs, self._folder, exist_ok=True)
            self._sizes[name] = size
        path = f"{self._folder}/{name}"
        with closing_descriptor(
            _open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        ) as descriptor:
            _pwrite(descriptor, data, at)
