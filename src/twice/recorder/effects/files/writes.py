"""What a run writes to files: to the real place while recording, to the overlay in replay, and compared.

A file that is closed after it was written is named with the digest of what it holds; at the end the run names every
file that it leaves behind. In replay both must be what they were. Of a file that is only added to, what was added
counts; what stood before it is not read, kept or compared. Where a keeper digests at the end what the run leaves, the
digest of a close is taken again here without another pass over the file.

Not covered: files that C code writes by itself (``sqlite3``, HDF5), files that another process writes through a
descriptor it was given (they are left out of the comparison), ``mmap`` that outlives its file object. An execution
that begins at a snapshot does not compare what it writes: what was written before is not there.

Invariant: in replay no file outside of the overlay is opened for writing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from twice.foundation.dataclass import dataclass
from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.files.carried_contents import (
    Found,
    describe_content,
    digest_of,
)
from twice.recorder.effects.files.places import Caller
from twice.recorder.kernel.file_policies import find_policy
from twice.recorder.kernel.file_state import CONTENT_FIELDS, Signature, signature_of
from twice.recorder.kernel.paths import leads_to_file
from twice.recorder.redaction.redaction import ASKED

if TYPE_CHECKING:
    from twice.recorder.effects.files.filesystem import Files

_open, _close, _fstat, _stat, _pread = os.open, os.close, os.fstat, os.stat, os.pread
OPENED, RAISED = "opened", "raised"
_SHOWN_MAX = 1 << 16  # bytes of a file that are looked at as they are


class ClosedFile(NamedTuple):
    """A file as it was when the run closed it.

    It was digested from the position ``start`` on; ``found`` is None where nothing was digested.
    """

    signature: Signature
    start: int = 0
    found: Found | None = None

    def is_like(self, signature: Signature) -> bool:
        """Return whether the content is still the same: a new name or mode changes none."""
        return self.signature[:CONTENT_FIELDS] == signature[:CONTENT_FIELDS]


@dataclass(slots=True)
class WrittenFile:
    """A file that the run wrote and that is there.

    From the position ``base`` on it counts at the end. ``is_partial`` says whether the run added to its beginning
    without having that. ``closed`` is None while the file is open.
    """

    base: int = 0
    is_partial: bool = False
    closed: ClosedFile | None = None


@dataclass(slots=True)
class _Writing:
    """A descriptor that a file is written through."""

    place: str
    start: int
    device: int
    inode: int
    flush: Callable[[], object] | None = None

    def is_behind(self, descriptor: int) -> bool:
        """Return whether a descriptor still leads to this file."""
        try:
            found = _fstat(descriptor)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (self.device, self.inode)


class Writes:
    """What a session writes.

    ``own`` are files that the run wrote and that are there, by place. ``count`` is how often files were opened to
    write, renamed, removed or made.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self.own: dict[str, WrittenFile] = {}
        self.count = 0
        self._shared: set[str] = set()
        self._writing: dict[int, _Writing] = {}

    # -- opening --------------------------------------------------------------------------------

    def to_write(self, place: str, given: Any, flags: int, mode: int, caller: Caller) -> int:
        """Open a place for writing; a descriptor. A file that the recorded run never opened is E-EFFECT-001."""
        self.count += 1
        files = self._files
        if caller is Caller.SETUP:
            assert files.overlay is not None, "while recording, set-up is nobody's affair"
            return files.overlay.open_as_world(place, flags, mode)
        opened: list[int] = []

        def live() -> tuple[str, str, int]:
            try:
                opened.append(self._create(place, flags, mode))
            except OSError as error:
                return (RAISED, error.strerror or "", error.errno or 0)
            return (OPENED, "", _fstat(opened[0]).st_size)

        if files.policy == "none":
            how, text, number = live()
        else:
            name, needed = files.places.to_recorded(place), caller is Caller.PROGRAM
            how, text, number = files.layer.fact(ops.FILE_OPENED, name, live, needed=needed)
        if how == RAISED:
            for descriptor in opened:
                _close(descriptor)
            raise OSError(number, text, given)
        if not opened:
            opened.append(self._open_as_recorded(place, flags, mode, number))
        self._begin(opened[0], place, flags)
        return opened[0]

    def _create(self, place: str, flags: int, mode: int) -> int:
        """Open it as the world lets us, and first carry the content that others may ask for later."""
        only_added = flags & os.O_APPEND and not flags & os.O_RDWR
        if flags & os.O_TRUNC:
            self._files.contents.before_change(place)
        elif not only_added and not flags & os.O_EXCL:
            self._files.contents.record_preimage(place)
        if self._files.overlay is None:
            return _open(place, flags, mode)
        return self._files.overlay.open_as_world(place, flags, mode)

    def _open_as_recorded(self, place: str, flags: int, mode: int, size: int) -> int:
        """Open it in the overlay, as the record says that it opened."""
        overlay = self._files.overlay
        assert overlay is not None, "what is served is not opened in the world"
        there = overlay.follow(place)
        if flags & os.O_EXCL:
            flags = (flags & ~os.O_EXCL) | os.O_TRUNC
        elif flags & os.O_APPEND and not flags & os.O_RDWR:
            if overlay.make_beginning(there, size) and place in self.own:
                self.own[place].is_partial = size > 0
        elif not flags & os.O_TRUNC:
            self._files.contents.record_preimage(place)
        return overlay.open_file(there, flags, mode)

    def _begin(self, descriptor: int, place: str, flags: int) -> None:
        found = _fstat(descriptor)
        is_added = bool(flags & os.O_APPEND) and not flags & os.O_TRUNC
        start = found.st_size if is_added else 0
        if not is_added or place not in self.own:
            self.own[place] = WrittenFile(start, start > 0 and not flags & os.O_RDWR)
        self.own[place].closed = None
        self._shared.discard(place)
        self._writing[descriptor] = _Writing(place, start, found.st_dev, found.st_ino)

    # -- whose a file is ------------------------------------------------------------------------

    def has_written(self, place: str) -> bool:
        """Return whether the run wrote this place, alone or with another hand."""
        return place in self.own or place in self._shared

    def is_own(self, place: str, signature: Signature) -> bool:
        """Return whether the run wrote the present content of a place."""
        if place not in self.own:
            return False
        closed = self.own[place].closed
        if closed is None or closed.is_like(signature):
            return True
        self._share(place)
        return False

    def find_digest(self, place: str, signature: Signature, start: int) -> Found | None:
        """Return the digest that was made when the run closed a file, where a keeper sees every later change."""
        own = self.own.get(place)
        if own is None or own.closed is None or not self._files.is_watched():
            return None
        closed = own.closed
        return closed.found if closed.start == start and closed.is_like(signature) else None

    def is_partial(self, place: str) -> bool:
        """Return whether the run wrote this place and lacks its beginning."""
        return place in self.own and self.own[place].is_partial

    def _share(self, place: str) -> None:
        """Treat a file that others wrote, too, as an input: its content is not compared as written."""
        del self.own[place]
        self._shared.add(place)

    def share_descriptor(self, descriptor: int) -> None:
        """Share a file that another process writes through this descriptor."""
        writing = self._writing.pop(descriptor, None)
        if writing is not None and writing.place in self.own:
            self._share(writing.place)

    # -- closing --------------------------------------------------------------------------------

    def is_writing(self, descriptor: int) -> bool:
        """Return whether a file is written through this descriptor."""
        writing = self._writing.get(descriptor)
        return writing is not None and writing.is_behind(descriptor)

    def set_flush(self, descriptor: int, flush: Callable[[], object]) -> None:
        """Keep the flush of a file object that buffers its bytes."""
        writing = self._writing.get(descriptor)
        if writing is not None:
            writing.flush = flush

    def finish(self, descriptor: int) -> None:
        """Record the content of a written file, before its descriptor is closed."""
        writing, files = self._writing.pop(descriptor, None), self._files
        if writing is None or not writing.is_behind(descriptor):
            return
        found, place, start = _fstat(descriptor), writing.place, writing.start
        if not found.st_nlink or place not in self.own:
            return
        is_open = any(one.place == place for one in self._writing.values())
        closed = ClosedFile(signature_of(found))
        self.own[place].closed = None if is_open else closed
        if files.policy == "none" or files.resumed:
            return
        name = files.places.to_recorded(place)
        policy, _ = find_policy(name.removeprefix("{program}/"), files.file_policies)
        if policy == "ignore":
            return
        digest, size = "", 0
        if policy == "content":
            digest, size = self._digest_written(descriptor, place, start)
            if not is_open:
                self.own[place].closed = closed._replace(start=start, found=(digest, size))
        self._claim(ops.FILE_WRITTEN, name, (start, digest, size))

    def _digest_written(self, descriptor: int, place: str, start: int) -> Found:
        try:
            reader = _open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            reader = _open(self._files.at(place), os.O_RDONLY | os.O_CLOEXEC)
        try:
            return digest_of(reader, self._files.algorithm, start)
        finally:
            _close(reader)

    def after_change(self, kind: str, places: Sequence[str]) -> None:
        """Follow a change of the tree: files that the run wrote have other names, or are gone."""
        self.count += 1
        place = places[-1]
        if kind == "rename":
            self._forget(place)
            self._rename(*places)
        elif kind in {"unlink", "rmdir"}:
            self._forget(place)
        elif kind == "utime" and (own := self.own.get(place)) and own.closed is not None:
            with suppress(OSError):
                now = signature_of(_stat(self._files.target(place)))
                own.closed = own.closed._replace(signature=now)
        elif kind in {"link", "truncate"}:
            own = self.own.setdefault(place, WrittenFile())
            own.base, own.closed = 0, None

    def _rename(self, source: str, target: str) -> None:
        for place in _within(self.own, source):
            there = target + place[len(source) :]
            self.own[there] = self.own.pop(place)
            for writing in self._writing.values():
                if writing.place == place:
                    writing.place = there
        if target not in self.own and leads_to_file(self._files.at(target)):
            self.own[target] = WrittenFile()

    def _forget(self, place: str) -> None:
        for one in _within(self.own, place):
            del self.own[one]

    # -- at the end -----------------------------------------------------------------------------

    def end(self) -> None:
        """Name the files that the run leaves behind, with those that it has not closed."""
        files, layer = self._files, self._files.layer
        if files.policy == "none":
            return
        if files.is_compared_below:
            self._finish_unclosed()  # a process that ends at once would leave it unwritten
            return
        if files.resumed:  # what its record leaves is not known, from whichever start
            if (actor := layer.actor()) is not None:
                actor.note_lenient(ops.FILES_LEFT.number, ("", None))
            return
        self._finish_unclosed()
        named = files.places.to_recorded
        left: dict[str, tuple[int, str, int]] = {
            named(place): (0, "", 0) for place in sorted(self._shared)
        }
        for place in sorted(self.own):
            found = self._find_left(place)
            if found is not None:
                left[named(place)] = found
        if not layer.live and not layer.source.leaves:
            is_known, recorded = layer.source.recorded(ops.FILES_LEFT, "")
            if not is_known or recorded is not None:
                self._compare_left(dict(recorded or ()), left)
            if is_known and recorded is None:
                return
        if left:
            self._claim(ops.FILES_LEFT, "", tuple(sorted(left.items())))

    def read_contents(self) -> dict[str, bytes]:
        """Return the present content of the written files, by their names; for a long file, its end and a digest."""
        held: dict[str, bytes] = {}
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
        for place in sorted({*self.own, *(writing.place for writing in self._writing.values())}):
            try:
                descriptor = _open(self._files.at(place), flags)
            except OSError:
                continue
            try:
                rest = max(0, _fstat(descriptor).st_size - _SHOWN_MAX)
                content = _pread(descriptor, _SHOWN_MAX, rest)
                if rest:
                    content = digest_of(descriptor, self._files.algorithm)[0].encode() + content
                held[self._files.places.to_recorded(place)] = content
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
            if writing.is_behind(descriptor):
                self.finish(descriptor)

    def _claim(self, op: ops.Op, arguments: object, value: object) -> None:
        """Record a change of the world; in replay it must equal the recorded one."""
        layer = self._files.layer
        actor = layer.actor()
        if actor is None:
            layer.count_ungoverned(op)
            return
        redaction = layer.redaction
        arguments, value = redaction.value(arguments, ASKED), redaction.value(value, op.name)
        layer.source.claim(op, arguments, value)
        actor.note_lenient(op.number, (arguments, value))

    def _find_left(self, place: str) -> tuple[int, str, int] | None:
        base = self.own[place].base
        try:
            descriptor = _open(self._files.target(place), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            signature = signature_of(_fstat(descriptor))
            if not self.is_own(place, signature):
                return (base, "", 0)  # changed by another hand since
            found = self.find_digest(place, signature, base)
            return (base, *(found or digest_of(descriptor, self._files.algorithm, base)))
        finally:
            _close(descriptor)

    def _compare_left(self, recorded: dict[str, Any], left: dict[str, Any]) -> None:
        for name in sorted({*recorded, *left}):
            was, now = recorded.get(name), left.get(name)
            if was == now or (was is not None and not was[1]):  # shared with another hand
                continue
            self._files.report_difference(
                f"files.left({name!r}) -> {describe_content(was and was[1:])}",
                f"files.left({name!r}) -> {describe_content(now and now[1:])}",
                is_rewritten=was is not None and now is not None and was[::2] == now[::2],
            )


def _within(places: Iterable[str], folder: str) -> list[str]:
    return [one for one in places if one == folder or one.startswith(folder + "/")]
