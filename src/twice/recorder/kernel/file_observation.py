"""The state of one file of the system at this moment, as a recording and a replay both describe it.

Reads no link's target, opens no device and no FIFO, and leaves times of access alone where the system
permits that. A file that changes while it is read is read again.

Not for: what a file was earlier (``file_history``) and copies of its content.

Invariant: a state with a digest describes bytes that the file held all at one moment.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from twice.foundation.digests import Algorithm, new_hasher
from twice.recorder.kernel.file_history import ABSENT, FileState

_lstat, _listdir, _readlink, _islink = os.lstat, os.listdir, os.readlink, os.path.islink

CHUNK_BYTES_MIN = 1 << 16
CHUNKS_MAX = 256
CHUNK_DIGEST_BYTES = 8
_READ_BYTES = 1 << 20
_ATTEMPTS = 4
# Without O_NONBLOCK an open would wait for a FIFO's other end, should one take the file's place.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_NO_ACCESS_TIME = getattr(os, "O_NOATIME", 0)


UNSETTLED = "changed while it was compared"


class FileUnsettled(OSError):
    """A file changed each time that it was read."""


def observe_state(
    path: str,
    algorithm: Algorithm,
    *,
    with_content: bool,
    appended_from: int | None = None,
    with_names: bool = False,
) -> FileState:
    """Return the state at a path. Links in its folders are followed, a link at its end is not.

    Args:
        path: any path; a name that is not UTF-8 uses ``surrogateescape``.
        algorithm: hash of the digest and of the chunks.
        with_content: whether to read a regular file; without it digest and chunks are empty.
        appended_from: position from which on a file is read; nothing before it is looked at.
        with_names: whether to list a folder.

    Raises:
        FileUnsettled: other processes change the file faster than it can be read.
        OSError: it cannot be looked at or opened; that it is absent is a state.
    """
    for _ in range(_ATTEMPTS):
        try:
            status = _lstat(path)
            state = _state_without_content(path, status, with_names=with_names)
            if state.kind != "file" or not with_content:
                return state
            content = _read_content(path, status, algorithm, appended_from or 0)
        except (FileNotFoundError, NotADirectoryError):
            if not os.path.lexists(path):
                return ABSENT
        except OSError:
            # A link took the file's place between lstat and open, which is ELOOP: look again.
            if not _islink(path):
                raise
        else:
            if content is not None:
                return replace(state, digest=content[0], chunks=content[1])
    raise FileUnsettled(f"{path!r} changes while it is read")


def chunk_size(size: int) -> int:
    """Return the length of a chunk for that many bytes: a power of two, so that 256 chunks suffice."""
    length = CHUNK_BYTES_MIN
    while length * CHUNKS_MAX < size:
        length *= 2
    return length


def locate_difference(
    recorded: FileState, replayed: FileState, appended_from: int | None = None
) -> str:
    """Return where two states begin to differ, as text: ``bytes 65,536 to 131,071``.

    Args:
        recorded: one state.
        replayed: the other one, observed from the same position on.
        appended_from: position from which on both were read.
    """
    if recorded.kind != replayed.kind:
        return "kind of file"
    if recorded.kind == "link":
        return "target of the link"
    if recorded.kind != "file":
        return ""
    start = appended_from or 0
    lengths = [max(state.size - start, 0) for state in (recorded, replayed)]
    chunk = chunk_size(lengths[0])
    if chunk != chunk_size(lengths[1]) or not (recorded.chunks and replayed.chunks):
        return "size" if lengths[0] != lengths[1] else ""
    pairs = zip_longest(_split(recorded.chunks), _split(replayed.chunks))
    for number, (one, other) in enumerate(pairs):
        if one != other:
            first = start + number * chunk
            last = min(first + chunk, max(recorded.size, replayed.size)) - 1
            return f"bytes {first:,} to {last:,}"
    return ""


def open_for_reading(path: str) -> int:
    """Return a descriptor of a regular file, without a change of its time of access if possible.

    Raises:
        OSError: it cannot be opened, or its last part is a link (``ELOOP``).
    """
    try:
        return os.open(path, _FLAGS | _NO_ACCESS_TIME)
    except PermissionError:  # the file is someone else's, and only its owner may ask for O_NOATIME
        return os.open(path, _FLAGS)


def _state_without_content(path: str, status: os.stat_result, *, with_names: bool) -> FileState:
    mode, mtime_ns = stat.S_IMODE(status.st_mode), status.st_mtime_ns
    match stat.S_IFMT(status.st_mode):
        case stat.S_IFREG:
            return FileState("file", size=status.st_size, mode=mode, mtime_ns=mtime_ns)
        case stat.S_IFDIR:
            names = tuple(sorted(_listdir(path))) if with_names else None
            return FileState("folder", mode=mode, mtime_ns=mtime_ns, names=names)
        case stat.S_IFLNK:
            return FileState("link", mode=mode, mtime_ns=mtime_ns, target=_readlink(path))
        case _:
            return FileState("other", mode=mode, mtime_ns=mtime_ns)


def _read_content(
    path: str, expected: os.stat_result, algorithm: Algorithm, start: int
) -> tuple[str, bytes] | None:
    """Return digest and chunks, or None when the file changed meanwhile."""
    descriptor = open_for_reading(path)
    try:
        if _mark(os.fstat(descriptor)) != _mark(expected):
            return None
        whole, chunks = new_hasher(algorithm), b""
        length = chunk_size(max(expected.st_size - start, 0))
        step, at = min(length, _READ_BYTES), start
        # The whole file is its only chunk: do not hash it twice.
        is_one_chunk = expected.st_size - start <= length
        while not is_one_chunk and at < expected.st_size:
            piece, end = new_hasher(algorithm), at + length
            while at < end and (data := os.pread(descriptor, step, at)):
                whole.update(data)
                piece.update(data)
                at += len(data)
            chunks += piece.digest()[:CHUNK_DIGEST_BYTES]
            if at < end:
                break
        while data := os.pread(descriptor, step, at):  # is_one_chunk, or the file has grown
            whole.update(data)
            at += len(data)
            if at > expected.st_size:
                return None
        if _mark(os.fstat(descriptor)) != _mark(expected) or at < expected.st_size:
            return None
    finally:
        os.close(descriptor)
    raw = whole.digest()
    if is_one_chunk and expected.st_size > start:
        chunks = raw[:CHUNK_DIGEST_BYTES]
    return f"{algorithm.value}:{raw.hex()}", chunks


def _mark(status: os.stat_result) -> tuple[int, ...]:
    return (
        status.st_mode, status.st_dev, status.st_ino, status.st_size,
        status.st_mtime_ns, status.st_ctime_ns,
    )  # fmt: skip


def _split(chunks: bytes) -> Iterator[bytes]:
    for at in range(0, len(chunks), CHUNK_DIGEST_BYTES):
        yield chunks[at : at + CHUNK_DIGEST_BYTES]
