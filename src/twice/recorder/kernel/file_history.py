"""What one file was when a recording began, and what it was when the recording ended.

A history says nothing of the moments between: the order of operations is compared where Python makes
them. Histories are plain data and travel in the record, with paths as the record names them.

Names that are not UTF-8 have lone surrogates here, as ``os.fsdecode`` gives them, and none in plain values.

Invariant: ``FileHistory.from_plain(history.to_plain()) == history``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Literal, get_args

from twice.errors import RecordForeign
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize
from twice.recorder.effects.filenames import kept, told

FileKind = Literal["absent", "file", "folder", "link", "other"]


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
        names = None if self.names is None else tuple(map(kept, self.names))
        return (
            self.kind, self.digest, self.size, self.mode, self.mtime_ns, kept(self.target), self.chunks,
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
            kind, digest, size, mode & 0o7777, mtime_ns, told(target), chunks,
            None if names is None else tuple(map(told, names)),
        )  # fmt: skip


ABSENT = FileState("absent")


@dataclass(frozen=True, slots=True)
class ProcessFile:
    """What a process left at a path that a replay does not start: put there from the record instead.

    Attributes:
        path: absolute.
        state: with the digest under which its content is kept, where it is a file.
        problem: why the content is not kept; empty where it is.
    """

    path: str
    state: FileState
    problem: str = ""

    def to_plain(self) -> tuple[object, ...]:
        """Return plain values."""
        return (kept(self.path), self.state.to_plain(), self.problem)

    @classmethod
    def from_plain(cls, fields: Sequence[Any]) -> ProcessFile:
        """Read plain values back."""
        path, state, problem = fields
        return cls(told(path), FileState.from_plain(state), str(problem))


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
    problem: str = field(default="")
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
        flags = (self.was_read, self.was_changed, self.is_kept)
        states = (self.before.to_plain(), self.after.to_plain())
        return (
            kept(self.path),
            *states,
            *flags,
            self.appended_from,
            self.problem,
            self.is_served,
            self.is_read_back,
        )

    @classmethod
    def from_plain(cls, fields: Sequence[Any]) -> FileHistory:
        """Read plain values back.

        Raises:
            RecordForeign: E-RECORD-002, for values that no recording writes.
        """
        try:
            path, before, after, read, changed, is_kept, appended, problem, served, back = fields
            states = (FileState.from_plain(before), FileState.from_plain(after))
            _require_plain(path, appended, problem)
            return cls(
                told(path), *states, bool(read), bool(changed), bool(is_kept), appended, problem, bool(served), bool(back),
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
