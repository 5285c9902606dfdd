"""What stands at a path at one moment, and what one file was when a recording began and when it ended.

A history says nothing of the moments between: the order of operations is compared where Python makes
them. Histories are plain data and travel in the record, with paths as the record names them. Names that are
not UTF-8 have lone surrogates here, as ``os.fsdecode`` gives them, and none in plain values.

Observing reads no link's target, opens no device and no FIFO, and leaves times of access alone where the system
permits that. A file that changes while it is read is read again.

Not for: copies of a file's content (``content_store``).

Invariant: ``FileHistory.from_plain(history.to_plain()) == history``, and a state with a digest describes bytes
that the file held all at one moment.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Literal, get_args

from twice.errors import RecordForeign
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, new_hasher
from twice.foundation.printable import pluralize
from twice.recorder.kernel.paths import escape_path, unescape_path

# The real ones: bound before anything is patched.
_lstat, _listdir, _scandir = os.lstat, os.listdir, os.scandir
_readlink, _islink, _close = os.readlink, os.path.islink, os.close

CHUNK_BYTES_MIN = 1 << 16
CHUNKS_MAX = 256
CHUNK_DIGEST_BYTES = 8
_READ_BYTES = 1 << 20
_ATTEMPTS = 4
# Without O_NONBLOCK an open would wait for a FIFO's other end, should one take the file's place.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_NO_ACCESS_TIME = getattr(os, "O_NOATIME", 0)
UNSETTLED = "changed while it was compared"

FileKind = Literal["absent", "file", "folder", "link", "other"]
Signature = tuple[int, ...]
"""What shows whether a file may have changed, without reading it."""
CONTENT_FIELDS = 4
"""How many fields of a signature change only with the file or its content: not by a new name or mode."""


def signature_of(status: os.stat_result) -> Signature:
    """Return the signature of a file by its status: device, inode, size, times of content and status, mode."""
    return (
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
        status.st_mode,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileState:
    """What stands at a path at one moment.

    Attributes:
        kind: what it is; ``other`` is a device, a FIFO or a socket.
        digest: labelled digest of a file's content, or of its bytes from ``FileHistory.appended_from``
            on; empty when the content was not read.
        size: bytes of a file.
        mode: permission bits.
        mtime_ns: time of the last change, in nanoseconds since 1970.
        target: of a link, its text.
        chunks: digests of equal pieces of a file, 8 bytes each, to tell where two files differ.
        names: of a folder that was listed, its entries, sorted; None where it was not listed.
    """

    kind: FileKind
    digest: str = ""
    size: int = 0
    mode: int = 0
    mtime_ns: int = 0
    target: str = ""
    chunks: bytes = b""
    names: tuple[str, ...] | None = None

    def has_same_content(self, other: FileState) -> bool:
        """Return whether two states have the same content, whatever their times and permissions are."""
        return (self.kind, self.digest, self.target) == (other.kind, other.digest, other.target)

    def describe(self) -> str:
        """Return a short text for messages."""
        if self.kind == "file":
            size = pluralize(self.size, "byte")
            return f"{self.digest}, {size}" if self.digest else size
        if self.kind == "link":
            return f"a link to {self.target!r}"
        return {"absent": "no file", "folder": "a folder"}.get(self.kind, "no regular file")

    def to_plain(self) -> tuple[object, ...]:
        """Return plain values for the record."""
        names = None if self.names is None else tuple(map(escape_path, self.names))
        return (
            self.kind, self.digest, self.size, self.mode, self.mtime_ns, escape_path(self.target), self.chunks,
            names,
        )  # fmt: skip

    @classmethod
    def from_plain(cls, fields: Sequence[Any]) -> FileState:
        """Read plain values back."""
        kind, digest, size, mode, mtime_ns, target, chunks, names = fields
        if kind not in get_args(FileKind):
            raise ValueError(f"unknown kind of file {kind!r}")
        texts = all(isinstance(text, str) for text in (digest, target, *(names or ())))
        numbers = all(type(number) is int and number >= 0 for number in (size, mode))
        if not (texts and numbers and type(mtime_ns) is int and isinstance(chunks, bytes)):
            raise ValueError("a file's state with values of other types")
        return cls(
            kind, digest, size, mode & 0o7777, mtime_ns, unescape_path(target), chunks,
            None if names is None else tuple(map(unescape_path, names)),
        )  # fmt: skip


ABSENT = FileState("absent")


@dataclass(frozen=True, slots=True)
class ProcessFile:
    """What a process left at a path that a replay does not start: put there from the record instead.

    The content of a file is kept under the digest of its state; ``problem`` says why it is not, and is empty where it
    is.
    """

    path: str
    state: FileState
    problem: str = ""

    def to_plain(self) -> tuple[object, ...]:
        """Return plain values."""
        return (escape_path(self.path), self.state.to_plain(), self.problem)

    @classmethod
    def from_plain(cls, fields: Sequence[Any]) -> ProcessFile:
        """Read plain values back."""
        path, state, problem = fields
        return cls(unescape_path(path), FileState.from_plain(state), str(problem))


@dataclass(frozen=True, slots=True)
class FileHistory:
    """One path that the run's processes opened, changed or removed.

    Attributes:
        path: absolute, without links in its folders.
        before: its state when the run first touched it.
        after: its state when the run ended.
        was_read: whether its content before was read, so that it is an input of the run.
        was_changed: whether any process of the run opened it for writing, renamed or removed it.
        is_kept: whether the record carries its content before, by ``before.digest``.
        appended_from: size at the start of a file that was only added to; then nothing before that
            position was read or kept. None for every other file.
        problem: why the state before or after is not known; empty where it is.
        is_served: whether a process wrote it last that a replay does not start, or a declared effect.
        is_read_back: whether the run read it after it had changed it.
    """

    path: str
    before: FileState
    after: FileState
    was_read: bool = False
    was_changed: bool = False
    is_kept: bool = False
    appended_from: int | None = None
    problem: str = ""
    is_served: bool = False
    is_read_back: bool = False

    @property
    def has_effect(self) -> bool:
        """Return whether the run left another state behind than it found."""
        return self.was_changed and (
            not self.before.has_same_content(self.after) or self.appended_from is not None
        )

    def to_plain(self) -> tuple[object, ...]:
        """Return plain values for the record."""
        return (
            escape_path(self.path), self.before.to_plain(), self.after.to_plain(), self.was_read, self.was_changed,
            self.is_kept, self.appended_from, self.problem, self.is_served, self.is_read_back,
        )  # fmt: skip

    @classmethod
    def from_plain(cls, fields: Sequence[Any]) -> FileHistory:
        """Read plain values back; E-RECORD-002 for values that no recording writes."""
        try:
            path, before, after, read, changed, is_kept, appended, problem, served, back = fields
            states = (FileState.from_plain(before), FileState.from_plain(after))
            _require_plain(path, appended, problem)
            return cls(
                unescape_path(path), *states, bool(read), bool(changed), bool(is_kept), appended, problem, bool(served), bool(back),
            )  # fmt: skip
        except (TypeError, ValueError) as error:
            raise RecordForeign(
                f"A file's history in the record cannot be read: {error}.",
                "Expected the ten values that twice writes for each file.",
                "Take the record from whoever made it, or record again.",
            ) from error


def _require_plain(path: object, appended_from: object, problem: object) -> None:
    if not isinstance(path, str) or not isinstance(problem, str):
        raise TypeError("a path or a problem that is not a text")
    if appended_from is not None and (type(appended_from) is not int or appended_from < 0):
        raise ValueError("a position that is not a whole number")


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

    Without ``with_content``, digest and chunks are empty. Of a file nothing before ``appended_from`` is read. That
    nothing is there is a state; ``FileUnsettled`` is raised where a file changes faster than it can be read.
    """
    for _ in range(_ATTEMPTS):
        try:
            status = _lstat(path)
            state = describe_status(path, status, with_names=with_names)
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
    """Return where two states, both read from one position on, begin to differ: ``bytes 65,536 to 131,071``."""
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

    A link as the last part of the path is the error ``ELOOP``.
    """
    try:
        return os.open(path, _FLAGS | _NO_ACCESS_TIME)
    except PermissionError:  # the file is someone else's, and only its owner may ask for O_NOATIME
        return os.open(path, _FLAGS)


@contextmanager
def closing_descriptor(descriptor: int) -> Iterator[int]:
    """Close a descriptor after the block."""
    try:
        yield descriptor
    finally:
        _close(descriptor)


def describe_status(path: str, status: os.stat_result, *, with_names: bool = False) -> FileState:
    """Return the state at a path without its content, from its status; an ``OSError`` for what cannot be read."""
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
    with closing_descriptor(open_for_reading(path)) as descriptor:
        if signature_of(os.fstat(descriptor)) != signature_of(expected):
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
        now = os.fstat(descriptor)
        if signature_of(now) != signature_of(expected) or at < expected.st_size:
            return None
    raw = whole.digest()
    if is_one_chunk and expected.st_size > start:
        chunks = raw[:CHUNK_DIGEST_BYTES]
    return f"{algorithm.value}:{raw.hex()}", chunks


def walk_tree(
    folders: Iterable[str], is_passed_over: Callable[[str], bool] = lambda _: False
) -> Iterator[os.DirEntry[str]]:
    """Yield what lies below some folders, each folder before its content, as far as it can be listed.

    A path for which ``is_passed_over`` returns True is left out, with all that lies below it.
    """
    waiting = list(folders)
    while waiting:
        with suppress(OSError):
            with _scandir(waiting.pop()) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
            for entry in inside:
                if not is_passed_over(entry.path):
                    yield entry
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)


def _split(chunks: bytes) -> Iterator[bytes]:
    for at in range(0, len(chunks), CHUNK_DIGEST_BYTES):
        yield chunks[at : at + CHUNK_DIGEST_BYTES]
