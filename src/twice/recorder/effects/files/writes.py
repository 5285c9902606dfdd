"""What a run writes to files: to the real place while recording, to the overlay in replay, and compared.

A file that is closed after it was written is named with the digest of what it holds; at the end the run
names every file that it leaves behind. In replay both must be what they were. Of a file that is only added to, what
was added counts; what stood before it is not read, kept or compared.

Not covered: files that C code writes by itself (``sqlite3``, HDF5), files that another process writes through a
descriptor it was given (they are left out of the comparison), ``mmap`` that outlives its file object. An
execution that begins at a snapshot does not compare what it writes: what was written before is not there.

Invariant: in replay no file outside of the overlay is opened for writing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from twice.foundation.dataclass import dataclass
from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.files.askers import By
from twice.recorder.effects.files.contents import RAISED, Signature, signature_of, told
from twice.recorder.effects.files.kept import digest_of
from twice.recorder.effects.files.overlay import WritableTree
from twice.recorder.kernel.file_policies import find_policy
from twice.recorder.redaction.redaction import ASKED

if TYPE_CHECKING:
    from twice.recorder.effects.files.filesystem import Files

_open, _close, _fstat = os.open, os.close, os.fstat
_OPENED = "opened"
_SHOWN_MAX = 1 << 16  # bytes of a file that are looked at as they are


@dataclass(slots=True)
class _Writing:
    """A descriptor that a file is written through."""

    place: str
    start: int
    device: int
    inode: int
    flush: Callable[[], object] | None = None


class Writes:
    """What a session writes.

    Args:
        files: the session's files.

    Attributes:
        own: places that the run wrote and that are there; how they looked when they were closed.
        hollow: places whose beginning the run added to without having it: its size.
        count: how often files were opened to write, renamed, removed or made.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self.own: dict[str, Signature | None] = {}
        self.hollow: dict[str, int] = {}
        self.count = 0
        self._base: dict[str, int] = {}
        self._shared: set[str] = set()
        self._writing: dict[int, _Writing] = {}

    def to_write(self, place: str, given: Any, flags: int, mode: int, by: By) -> int:
        """Open a place for writing; a descriptor.

        Raises:
            OSError: as it was raised while recording.
            EffectMismatch: E-EFFECT-001, in replay, when the recorded run never opened this file.
        """
        self.count += 1
        if by is By.SETUP:
            assert self._files.overlay is not None, "while recording, set-up is nobody's affair"
            return self._world(self._files.overlay, place, given, flags, mode)
        opened: list[int] = []

        def live() -> tuple[str, str, int]:
            try:
                opened.append(self._create(place, given, flags, mode))
            except OSError as error:
                return (RAISED, error.strerror or "", error.errno or 0)
            return (_OPENED, "", _fstat(opened[0]).st_size)

        if self._files.policy == "none":
            how, told, number = live()
        else:
            name = self._files.places.named(place)
            how, told, number = self._files.layer.fact(
                ops.FILE_OPENED, name, live, needed=by is By.PROGRAM
            )
        if how == RAISED:
            for descriptor in opened:
                _close(descriptor)
            raise OSError(number, told, given)
        if not opened:
            opened.append(self._replayed(place, flags, mode, number))
        self._begin(opened[0], place, flags)
        return opened[0]

    def _create(self, place: str, given: Any, flags: int, mode: int) -> int:
        """Open it as the world lets us, and first carry the content that others may ask for later."""
        only_added = flags & os.O_APPEND and not flags & os.O_RDWR
        if flags & os.O_TRUNC:
            self._files.contents.before_change(place)
        elif not only_added and not flags & os.O_EXCL:
            self._files.contents.old(place)
        if self._files.overlay is None:
            return _open(place, flags, mode)
        return self._world(self._files.overlay, place, given, flags, mode)

    def _world(self, overlay: WritableTree, place: str, given: Any, flags: int, mode: int) -> int:
        """Open it in the overlay as the world would: a missing file cannot be opened."""
        at = overlay.at(place)
        there = os.path.lexists(at)
        folder = os.path.dirname(place)  # noqa: PTH120
        if not there and not (flags & os.O_CREAT and os.path.isdir(overlay.at(folder))):  # noqa: PTH112
            raise FileNotFoundError(2, "No such file or directory", given)
        if there and flags & os.O_EXCL:
            raise FileExistsError(17, "File exists", given)
        if os.path.isdir(at):  # noqa: PTH112
            raise IsADirectoryError(21, "Is a directory", given)
        if there and not overlay.holds(place) and not flags & os.O_TRUNC:
            overlay.fill(place, place)
        return self._in_overlay(overlay, place, flags, mode)

    def _replayed(self, place: str, flags: int, mode: int, size: int) -> int:
        """Open it in the overlay, as the record says that it opened."""
        overlay = self._files.overlay
        assert overlay is not None, "what is served is not opened in the world"
        if flags & os.O_EXCL:
            flags = (flags & ~os.O_EXCL) | os.O_TRUNC
        elif flags & os.O_APPEND and not flags & os.O_RDWR:
            if overlay.make_beginning(place, size) and size:
                self.hollow[place] = size
        elif not flags & os.O_TRUNC:
            self._files.contents.old(place)
        return self._in_overlay(overlay, place, flags | os.O_CREAT, mode)

    @staticmethod
    def _in_overlay(overlay: WritableTree, place: str, flags: int, mode: int) -> int:
        return _open(overlay.make_file(place), flags & ~os.O_NOFOLLOW, mode | 0o600)

    def _begin(self, descriptor: int, place: str, flags: int) -> None:
        found = _fstat(descriptor)
        added = bool(flags & os.O_APPEND) and not flags & os.O_TRUNC
        start = found.st_size if added else 0
        if not added:
            self._base[place] = 0
            self.hollow.pop(place, None)
        elif place not in self.own:
            self._base[place] = start
            if start and not flags & os.O_RDWR:
                self.hollow[place] = start
        self.own[place] = None
        self._shared.discard(place)
        self._writing[descriptor] = _Writing(place, start, found.st_dev, found.st_ino)

    def has_written(self, place: str) -> bool:
        """Return whether the run wrote this place, alone or with another hand."""
        return place in self.own or place in self._shared

    def is_own(self, place: str, signature: Signature) -> bool:
        """Return whether the run wrote the present content of a place."""
        if place not in self.own:
            return False
        closed = self.own[place]
        if closed is None or closed[:4] == signature[:4]:  # a new name or mode changes no content
            return True
        self._share(place)
        return False

    def _share(self, place: str) -> None:
        """Treat a file that others wrote, too, as an input: its content is not compared as written."""
        del self.own[place]
        self._shared.add(place)

    def is_writing(self, descriptor: int) -> bool:
        """Return whether a file is written through this descriptor."""
        writing = self._writing.get(descriptor)
        return writing is not None and _same(writing, descriptor)

    def flushed_by(self, descriptor: int, flush: Callable[[], object]) -> None:
        """Keep the flush of a file object that buffers its bytes."""
        writing = self._writing.get(descriptor)
        if writing is not None:
            writing.flush = flush

    def finish(self, descriptor: int) -> None:
        """Record the content of a written file, before its descriptor is closed."""
        writing = self._writing.pop(descriptor, None)
        if writing is None or not _same(writing, descriptor):
            return
        found = _fstat(descriptor)
        place = writing.place
        if not found.st_nlink or place not in self.own:
            return
        others = [one for one in self._writing.values() if one.place == place]
        self.own[place] = None if others else signature_of(found)
        if self._files.policy == "none" or self._files.resumed:
            return
        name = self._files.places.named(place)
        policy, _ = find_policy(name.removeprefix("{program}/"), self._files.file_policies)
        if policy == "ignore":
            return
        digest, size = "", 0
        if policy == "content":
            digest, size = self._written(descriptor, place, writing.start)
        self._claim(ops.FILE_WRITTEN, name, (writing.start, digest, size))

    def _written(self, descriptor: int, place: str, start: int) -> tuple[str, int]:
        try:
            reader = _open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            reader = _open(self._files.at(place), os.O_RDONLY | os.O_CLOEXEC)
        try:
            return digest_of(reader, self._files.algorithm, start)
        finally:
            _close(reader)

    def handed_to_process(self, descriptor: int) -> None:
        """Share a file that another process writes through this descriptor."""
        writing = self._writing.pop(descriptor, None)
        if writing is not None and writing.place in self.own:
            self._share(writing.place)

    def after_change(self, kind: str, places: Sequence[str]) -> None:
        """Follow a change of the tree: files that the run wrote have other names, or are gone."""
        self.count += 1
        if kind == "rename":
            self._removed(places[1])
            self._moved(*places)
        elif kind in {"unlink", "rmdir"}:
            self._removed(places[0])
        elif kind == "utime" and self.own.get(places[0]) is not None:
            with suppress(OSError):
                self.own[places[0]] = signature_of(os.stat(self._files.at(places[0])))  # noqa: PTH116
        elif kind in {"link", "truncate"}:
            place = places[-1]
            self.own[place] = None
            self._base[place] = 0

    def _moved(self, source: str, target: str) -> None:
        for place in _within(self.own, source):
            there = target + place[len(source) :]
            self.own[there] = self.own.pop(place)
            self._base[there] = self._base.pop(place, 0)
            if place in self.hollow:
                self.hollow[there] = self.hollow.pop(place)
            for writing in self._writing.values():
                if writing.place == place:
                    writing.place = there
        if target not in self.own and self._is_file(target):
            self.own[target] = None

    def _is_file(self, place: str) -> bool:
        return os.path.isfile(self._files.at(place))  # noqa: PTH113

    def _removed(self, place: str) -> None:
        for one in _within(self.own, place):
            del self.own[one]
            self.hollow.pop(one, None)

    def end(self) -> None:
        """Name the files that the run leaves behind, with those that it has not closed."""
        if self._files.policy == "none":
            return
        if self._files.is_compared_below:
            self._finish_unclosed()  # a process that ends at once would leave it unwritten
            return
        layer = self._files.layer
        if self._files.resumed:  # what its record leaves is not known, from whichever start
            if (actor := layer.actor()) is not None:
                actor.note_lenient(ops.FILES_LEFT.number, ("", None))
            return
        self._finish_unclosed()
        left: dict[str, tuple[int, str, int]] = {
            self._files.places.named(place): (0, "", 0) for place in sorted(self._shared)
        }
        for place in sorted(self.own):
            found = self._left(place)
            if found is not None:
                left[self._files.places.named(place)] = found
        if not layer.live and not layer.source.leaves:
            known, recorded = layer.source.recorded(ops.FILES_LEFT, "")
            if not known or recorded is not None:
                self._compare_left(dict(recorded or ()), left)
            if known and recorded is None:
                return
        if left:
            self._claim(ops.FILES_LEFT, "", tuple(sorted(left.items())))

    def read_contents_now(self) -> dict[str, bytes]:
        """Return the content of each written place on the disk; for a long file, its end and a digest."""
        held: dict[str, bytes] = {}
        for place in sorted({*self.own, *(writing.place for writing in self._writing.values())}):
            try:
                descriptor = _open(
                    self._files.at(place), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
                )
            except OSError:
                continue
            try:
                size = _fstat(descriptor).st_size
                whole = size <= _SHOWN_MAX
                content = os.pread(descriptor, _SHOWN_MAX, 0 if whole else size - _SHOWN_MAX)
                if not whole:
                    content = digest_of(descriptor, self._files.algorithm, 0)[0].encode() + content
                held[self._files.places.named(place)] = content
            except OSError:
                continue
            finally:
                _close(descriptor)
        return held

    def _finish_unclosed(self) -> None:
        for descriptor, writing in list(self._writing.items()):
            if writing.flush is not None:
                with suppress(OSError, ValueError):  # closed by now, or broken
                    outside(writing.flush)
            if _same(writing, descriptor):
                self.finish(descriptor)

    def _claim(self, op: ops.Op, arguments: object, value: object) -> None:
        """Record a change of the world; in replay it must equal the recorded one.

        Raises:
            EffectMismatch: E-EFFECT-001, in replay, when it did something else.
        """
        layer = self._files.layer
        actor = layer.actor()
        if actor is None:
            layer.count_ungoverned(op)
            return
        redaction = layer.redaction
        arguments, value = redaction.value(arguments, ASKED), redaction.value(value, op.name)
        layer.source.claim(op, arguments, value)
        actor.note_lenient(op.number, (arguments, value))

    def _left(self, place: str) -> tuple[int, str, int] | None:
        base = self._base.get(place, 0)
        try:
            descriptor = _open(self._files.at(place), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            if not self.is_own(place, signature_of(_fstat(descriptor))):
                return (base, "", 0)  # changed by another hand since
            return (base, *digest_of(descriptor, self._files.algorithm, base))
        finally:
            _close(descriptor)

    def _compare_left(self, recorded: dict[str, Any], left: dict[str, Any]) -> None:
        for name in sorted({*recorded, *left}):
            was, now = recorded.get(name), left.get(name)
            if was == now or (was is not None and not was[1]):  # shared with another hand
                continue
            self._files.differs(
                f"files.left({name!r}) -> {told(was and was[1:])}",
                f"files.left({name!r}) -> {told(now and now[1:])}",
            )


def _within(places: Iterable[str], folder: str) -> list[str]:
    return [one for one in places if one == folder or one.startswith(folder + "/")]


def _same(writing: _Writing, descriptor: int) -> bool:
    try:
        found = _fstat(descriptor)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (writing.device, writing.inode)
