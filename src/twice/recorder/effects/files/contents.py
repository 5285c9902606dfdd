"""What a run reads from files: digests while recording, the same content or none in replay.

A file that is opened for reading is named with the digest of what it holds, whoever opens it: the program, or
a library on its behalf. In replay it must hold the same, or the record must carry it.

Carried whole: everything under the policy ``contents``; under ``digest`` what the run itself changes after it
read it, and what came to be while it ran by another hand; up to 64 MiB each.

Not covered: files that C code opens by itself, a change while a file is being read, a file that other
processes change while it stays open. A digest costs one pass over the file at every open, unless it is
the very file that was looked at before.

Invariant: a file whose content is not the recorded one is never read in its place.
"""

from __future__ import annotations

import os
import stat
from time import time_ns  # the real one: bound before anything is patched
from typing import TYPE_CHECKING, Any

from twice.foundation.printable import pluralize
from twice.recorder.effects import ops
from twice.recorder.effects.files.askers import By
from twice.recorder.effects.files.kept import (
    CONTENT,
    KEPT_BYTES_MAX,
    begins_with,
    digest_of,
    pieces,
)
from twice.recorder.effects.files.overlay import WritableTree
from twice.recorder.kernel.confinement import current

if TYPE_CHECKING:
    from twice.recorder.effects.files.filesystem import Files

_open, _close, _fstat, _stat = os.open, os.close, os.fstat, os.stat
_CLOCK_GRAIN_NS = 20_000_000
_SETTLED_NS = 1_000_000_000
READ, OWN, OTHER, RAISED = "read", "own", "other", "raised"
Signature = tuple[int, int, int, int, int]
Found = tuple[str, int]
"""Labelled digest and size."""


class Contents:
    """What files hold, of one session.

    Args:
        files: the session's files.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._began_ns = time_ns() - _CLOCK_GRAIN_NS
        self._looked: dict[str, Found] = {}
        self._carried: set[str] = set()
        self._digests: dict[Signature, Found] = {}

    def to_read(self, place: str, given: Any, by: By) -> str:
        """Return the path to read a place's content from.

        Raises:
            OSError: as it was raised while recording.
            EffectMismatch: E-EFFECT-001, in replay, when that content is not there any more.
            FileNotRebuilt: E-FILE-001, when it was written before the snapshot that this began at.
        """
        if self._files.silent(by):
            return self._files.at(place)
        name = self._files.places.named(place)
        layer = self._files.layer
        # What a branch reads back is what it wrote itself, not what its parent had.
        anew = layer.source.leaves and place in self._files.writes.own
        needed = by is By.PROGRAM or not self._is_own_copy(place)
        answer = layer.fact(
            ops.FILE_READ, name, lambda: self._look(place), anew=anew, needed=needed
        )
        how, told, number = answer
        if how == RAISED:
            raise OSError(number, told, given)
        if self._files.overlay is None or self._files.layer.probing:
            return self._files.at(place)
        if how == OTHER:
            is_folder = number == stat.S_IFDIR
            overlay = self._files.overlay
            return self.folder(overlay, place) if is_folder else overlay.at(place)
        return self._serve(self._files.overlay, place, how, told, number)

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
        at = self._files.at(place)
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
            own = self._files.writes.is_own(place, signature)
            digest, size = self._digest(descriptor, signature)
            hollow = place in self._files.writes.hollow
            if not own:
                self._looked[place] = (digest, size)
            wanted = keep or hollow or (not own and found.st_mtime_ns >= self._began_ns)
            whole = self._files.policy == "contents" and not own
            if whole or (wanted and size <= KEPT_BYTES_MAX):
                self._carry(descriptor, digest, size)
        finally:
            _close(descriptor)
        return (OWN if own else READ, digest, size)

    @staticmethod
    def folder(overlay: WritableTree, place: str) -> str:
        """Return the path of a folder that the record knows: an empty one, if the run has removed it."""
        at = overlay.at(place)
        return at if os.path.isdir(at) else overlay.make_folder(place)  # noqa: PTH112

    def _serve(self, overlay: WritableTree, place: str, how: str, digest: str, size: int) -> str:
        at = overlay.at(place)
        now = self._holds(at)
        if now == (digest, size):
            if how == READ:
                self._looked[place] = (digest, size)
                if self._files.policy == "contents":
                    self.carry_file(at, digest, size)  # a branch's record is complete in itself
            return at
        kept = None if self._files.kept is None else self._files.kept.path(digest)
        if kept is not None and (how == READ or place in self._files.writes.hollow):
            self._files.writes.hollow.pop(place, None)
            if how == READ:
                self._looked[place] = (digest, size)
            self.carry_file(kept, digest, size)
            filled = overlay.fill(place, kept)
            if how == OWN:
                self._files.writes.own[place] = signature_of(_stat(filled))
            return filled
        if how == READ and self._own_hand(place) and now and begins_with(at, digest, size):
            filled = overlay.fill(place, at)
            os.truncate(filled, size)
            return filled
        name = self._files.places.named(place)
        if how == OWN and self._files.resumed:
            self._files.refuse(name)
        recorded = f"files.read({name!r}) -> {digest}, {pluralize(size, 'byte')}"
        if how == OWN:
            recorded += ", as the run itself had written it"
        elif self._own_hand(place):
            recorded += " (the recorded run itself changed the file later)"
        return self._files.differs(recorded, f"files.read({name!r}) -> {told(now)}")

    def _own_hand(self, place: str) -> bool:
        """Return whether the recorded run opened this file for writing."""
        return self._files.layer.source.recorded(ops.FILE_OPENED, self._files.places.named(place))[
            0
        ]

    def old(self, place: str) -> None:
        """Read the former content of a file that is opened for a change in place, as an input."""
        if self._files.policy == "none":
            return
        name = self._files.places.named(place)
        how, digest, size = self._files.layer.fact(
            ops.FILE_READ,
            name,
            lambda: self._look(place, keep=True),
            needed=not self._is_own_copy(place),
        )
        if self._files.overlay is None or how in {RAISED, OTHER}:
            return
        at = self._serve(self._files.overlay, place, how, digest, size)
        if at == place:
            self._files.overlay.fill(place, at)

    def before_change(self, place: str) -> None:
        """Carry a file that the run read and is about to change or remove."""
        looked = self._looked.get(place)
        if looked is None or place in self._files.writes.own or not self._files.layer.writes:
            return
        digest, size = looked
        if digest in self._carried or size > KEPT_BYTES_MAX:
            return
        self.carry_file(self._files.at(place), digest, size)

    def _holds(self, at: str) -> tuple[str, int] | None:
        try:
            if not stat.S_ISREG(_stat(at).st_mode):
                return None
            descriptor = _open(at, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return self._digest(descriptor, signature_of(_fstat(descriptor)))
        finally:
            _close(descriptor)

    def _digest(self, descriptor: int, signature: Signature) -> tuple[str, int]:
        known = self._digests.get(signature)
        if known is None:
            known = digest_of(descriptor, self._files.algorithm)
            # A file that was changed a moment ago may change again within one grain of its times.
            if time_ns() - max(signature[3:]) > _SETTLED_NS:
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
        if (
            digest in self._carried
            or not self._files.layer.writes
            or self._files.layer.actor() is None
        ):
            return
        self._carried.add(digest)
        for payload in pieces(descriptor, digest, size):
            if self._files.layer.redaction.data(payload, CONTENT) != payload:
                self._carried.discard(digest)
                return  # it holds a secret: without this piece, the rest is never served
            self._files.layer.carry(CONTENT, payload)


def signature_of(found: os.stat_result) -> Signature:
    """Return the facts that show whether a file may have changed, without reading it."""
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def told(found: Found | None) -> str:
    """Describe a file's content for messages."""
    if not found:
        return "no file is there"
    return f"{found[0]}, {pluralize(found[1], 'byte')}" if found[0] else "changed by another hand"
