"""What a run reads from files: digests while recording, the same content or none in replay.

A file that is opened for reading is named with the digest of what it holds, whoever opens it: the program, or a
library on its behalf. In replay it must hold the same, or the record must carry it.

Carried whole: everything under the policy ``contents``; under ``digest`` what the run itself changes after it read it,
and what came to be while it ran by another hand; up to 64 MiB each.

Not covered: files that C code opens by itself, a change while a file is being read, a file that other processes change
while it stays open. A digest costs one pass over the file at every open, unless it is the very file that was looked at
before.

Invariant: a file whose content is not the recorded one is never read in its place.
"""

from __future__ import annotations

import os
import stat
from time import time_ns  # the real one: bound before anything is patched
from typing import TYPE_CHECKING, Any

from twice.foundation.printable import pluralize
from twice.recorder.effects import ops
from twice.recorder.effects.files.carried_contents import (
    CONTENT,
    KEPT_BYTES_MAX,
    Found,
    begins_with,
    describe_content,
    digest_of,
    pieces,
)
from twice.recorder.effects.files.overlay import Overlay
from twice.recorder.effects.files.places import Caller
from twice.recorder.effects.files.writes import RAISED, ClosedFile
from twice.recorder.kernel.confinement import current
from twice.recorder.kernel.file_state import Signature, signature_of
from twice.recorder.kernel.paths import leads_to_folder

if TYPE_CHECKING:
    from twice.recorder.effects.files.filesystem import Files

_open, _close, _fstat, _stat = os.open, os.close, os.fstat, os.stat
_truncate = os.truncate
_CLOCK_GRAIN_NS = 20_000_000
_SETTLED_NS = 1_000_000_000
READ, OWN, OTHER = "read", "own", "other"


class Contents:
    """What files hold, of one session."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._began_ns = time_ns() - _CLOCK_GRAIN_NS
        self._read: dict[str, Found] = {}
        """What the run found in files that it did not write."""
        self._carried: set[str] = set()
        self._digests: dict[Signature, Found] = {}

    def to_read(self, place: str, given: Any, caller: Caller) -> str:
        """Return the path to read a place's content from.

        In replay, content that is not there any more is E-EFFECT-001, and E-FILE-001 where it was written before the
        snapshot that this execution began at.
        """
        files = self._files
        if files.is_silent(caller):
            return files.target(place)
        layer = files.layer
        how, text, number = layer.fact(
            ops.FILE_READ,
            files.places.to_recorded(place),
            lambda: self._look(place),
            # What a branch reads back is what it wrote itself, not what its parent had.
            anew=layer.source.leaves and place in files.writes.own,
            needed=caller is Caller.PROGRAM or not self._is_own_copy(place),
        )
        if how == RAISED:
            raise OSError(number, text, given)
        if files.overlay is None or layer.probing:
            return files.at(place)
        if how != OTHER:
            return self._serve(files.overlay, place, how, text, number)
        return self.folder(files.overlay, place) if number == stat.S_IFDIR else files.target(place)

    def _is_own_copy(self, place: str) -> bool:
        """Return whether a library or process of this very replay made the file, or it is gone."""
        confinement = current()
        if not confinement.is_world:
            return False
        try:
            return _stat(self._files.at(place)).st_ctime_ns >= confinement.began_ns
        except OSError:
            return True

    def _look(self, place: str, *, keep: bool = False) -> tuple[str, str, int]:
        """Return a place's answer: a file with digest and size, something else, or an error."""
        files, writes = self._files, self._files.writes
        at = files.target(place)
        try:
            kind = stat.S_IFMT(_stat(at).st_mode)
            if kind != stat.S_IFREG:
                return (OTHER, "", kind)
            descriptor = _open(at, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            return (RAISED, error.strerror or "", error.errno or 0)
        try:
            found = _fstat(descriptor)
            signature = signature_of(found)
            is_own = writes.is_own(place, signature)
            digest, size = self._digest(descriptor, signature, place)
            if not is_own:
                self._read[place] = (digest, size)
            came_to_be = not is_own and found.st_mtime_ns >= self._began_ns
            wanted = keep or writes.is_partial(place) or came_to_be
            whole = files.policy == "contents" and not is_own
            if whole or (wanted and size <= KEPT_BYTES_MAX):
                self._carry(descriptor, digest, size)
        finally:
            _close(descriptor)
        return (OWN if is_own else READ, digest, size)

    @staticmethod
    def folder(overlay: Overlay, place: str) -> str:
        """Return the path of a folder that the record knows: an empty one, if the run has removed it."""
        at = overlay.at(overlay.follow(place))
        return at if leads_to_folder(at) else overlay.make_folder(place)

    def _serve(self, overlay: Overlay, place: str, how: str, digest: str, size: int) -> str:
        """Return the path of a file with the recorded content: the one that is there, or one from the record."""
        writes = self._files.writes
        there = overlay.follow(place)
        at = overlay.at(there)
        now = self._find_content(at, place)
        if now == (digest, size):
            if how == READ:
                self._read[place] = now
                if self._files.policy == "contents":
                    self.carry_file(at, digest, size)  # a branch's record is complete in itself
            return at
        carried = self._files.carried.path(digest)
        if carried is not None and (how == READ or writes.is_partial(place)):
            if place in writes.own:
                writes.own[place].is_partial = False
            if how == READ:
                self._read[place] = (digest, size)
            self.carry_file(carried, digest, size)
            filled = overlay.fill(there, carried)
            if how == OWN:
                writes.own[place].closed = ClosedFile(signature_of(_stat(filled)))
            return filled
        name = self._files.places.to_recorded(place)
        # The recorded run opened this file for writing, too: it may have added to what it read.
        was_written, _ = self._files.layer.source.recorded(ops.FILE_OPENED, name)
        if how == READ and was_written and now and begins_with(at, digest, size):
            filled = overlay.fill(there, at)
            _truncate(filled, size)
            return filled
        if how == OWN and self._files.resumed:
            self._files.refuse(name)
        recorded = f"files.read({name!r}) -> {digest}, {pluralize(size, 'byte')}"
        if how == OWN:
            recorded += ", as the run itself had written it"
        elif was_written:
            recorded += " (the recorded run itself changed the file later)"
        return self._files.report_difference(
            recorded,
            f"files.read({name!r}) -> {describe_content(now)}",
            is_rewritten=how == OWN and now is not None and now[1] == size,
        )

    def record_preimage(self, place: str) -> None:
        """Read the former content of a file that is opened for a change in place, as an input."""
        files = self._files
        if files.policy == "none":
            return
        how, digest, size = files.layer.fact(
            ops.FILE_READ,
            files.places.to_recorded(place),
            lambda: self._look(place, keep=True),
            needed=not self._is_own_copy(place),
        )
        if files.overlay is None or how in {RAISED, OTHER}:
            return
        at = self._serve(files.overlay, place, how, digest, size)
        there = files.overlay.follow(place)
        if not files.overlay.holds(there):
            files.overlay.fill(there, at)

    def before_change(self, place: str) -> None:
        """Carry a file that the run read and is about to change or remove."""
        found = self._read.get(place)
        if found is None or place in self._files.writes.own or not self._files.layer.writes:
            return
        digest, size = found
        if digest not in self._carried and size <= KEPT_BYTES_MAX:
            self.carry_file(self._files.at(place), digest, size)

    def _find_content(self, at: str, place: str) -> Found | None:
        """Return digest and size of the file at a path; None where no regular file can be read."""
        try:
            if not stat.S_ISREG(_stat(at).st_mode):
                return None
            descriptor = _open(at, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return self._digest(descriptor, signature_of(_fstat(descriptor)), place)
        finally:
            _close(descriptor)

    def _digest(self, descriptor: int, signature: Signature, place: str) -> Found:
        # The keeper's digest is not asked for: for a small file the answer costs more than a pass over it, and for a
        # large one the keeper would hold up every call that it watches until it has read the file.
        known = self._digests.get(signature) or self._files.writes.find_digest(place, signature, 0)
        if known is None:
            known = digest_of(descriptor, self._files.algorithm)
            # A file that was changed a moment ago may change again within one grain of its times.
            if time_ns() - max(signature[3:5]) > _SETTLED_NS:
                self._digests[signature] = known
        return known

    def carry_file(self, path: str, digest: str, size: int) -> bool:
        """Write a file's content into the record; return whether the record has it."""
        try:
            descriptor = _open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            self._carry(descriptor, digest, size)
        finally:
            _close(descriptor)
        return digest in self._carried

    def _carry(self, descriptor: int, digest: str, size: int) -> None:
        layer = self._files.layer
        if digest in self._carried or not layer.writes or layer.actor() is None:
            return
        self._carried.add(digest)
        for payload in pieces(descriptor, digest, size):
            if layer.redaction.data(payload, CONTENT) != payload:
                self._carried.discard(digest)
                return  # it holds a secret: without this piece, the rest is never served
            layer.carry(CONTENT, payload)
