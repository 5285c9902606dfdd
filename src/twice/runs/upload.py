"""A record that goes to an object store while its run writes it.

The process of the command follows the file that the run writes on this machine, and sends it in parts: the run itself
knows of no store, and waits for none. The object takes its name first, as a record of eight bytes, which two writers
cannot both take, and its content at once, when all parts are there. Then the file goes.

Whoever is killed meanwhile leaves the file, which is readable up to where the run came, the eight bytes, which read as a
torn record, and the parts, which nobody sees: stores drop them by a rule for incomplete uploads.

Rejected: an object for each part, joined by the reader. A record would be many objects, and no other tool could copy it.

Invariant: the file goes only after the store confirmed an object with all of its bytes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from twice.errors import OutputExists, OutputUnwritable, TwiceError
from twice.foundation.record_url import RecordUrl
from twice.recorder.record.layout import MAGIC
from twice.recorder.record.object_store import ObjectBytes, delete_object, write_object

_PIECE_BYTES: Final = 1 << 20
_LOOK_EVERY_S: Final = 0.2


@contextmanager
def upload_record(url: RecordUrl, *, force: bool = False) -> Iterator[Path]:
    """Give the path of a file to record to, in the current folder; the object has its bytes when the block is over.

    Args:
        url: of the object.
        force: replace a record that is there; it stays until the new one is whole.

    Raises:
        OutputExists: E-OUTPUT-001, for an object that is there already, or is no record.
        OutputUnwritable: E-OUTPUT-002, when the store takes it not; the file stays then, and is named.
    """
    is_new = _take_name(url, force=force)
    local = Path.cwd() / f"{url.stem}.{os.getpid()}.twice"
    sender = _Sender(url, local)
    sender.start()
    try:
        yield local
    finally:
        is_sent = sender.finish()
        if not local.exists():
            if is_new:
                delete_object(url)
        else:
            if not is_sent:
                _send_again(url, local)
            local.unlink()


def _take_name(url: RecordUrl, *, force: bool) -> bool:
    """Take a free name in the store, and return True; return False for that of a record that may be replaced."""
    try:
        write_object(url, MAGIC, replace=False)
    except FileExistsError as error:
        if not force:
            raise OutputExists(
                f"{url} is there already.",
                "Expected a name that is free, or of which no other run is being recorded.",
                "Choose another with -o, or replace it with --force.",
                path=str(url),
            ) from error
        if ObjectBytes(url)[: len(MAGIC)] != MAGIC:
            raise OutputExists(
                f"{url} is no run record, and --force replaces nothing else.",
                "Expected a name that is free, or a record.",
                "Choose another with -o, or remove the object first.",
                path=str(url),
            ) from error
        return False
    return True


class _Sender(threading.Thread):
    """Sends a file that grows."""

    def __init__(self, url: RecordUrl, local: Path) -> None:
        super().__init__(name="upload", daemon=True)
        self._url, self._local = url, local
        self._ended = threading.Event()
        self._is_sent = False

    def run(self) -> None:
        """Send, until `finish` says that nothing comes any more."""
        try:
            write_object(self._url, self._follow(), replace=True)
        except (TwiceError, _ReplacedError):
            return  # the whole file is sent again at its end, when the store may be back
        self._is_sent = True

    def finish(self) -> bool:
        """Wait for what is left to be sent; return whether the store has all of it."""
        self._ended.set()
        self.join()
        return self._is_sent

    def _follow(self) -> Iterator[bytes]:
        """Yield what the file holds, as it comes."""
        while not self._local.exists():
            if self._ended.wait(_LOOK_EVERY_S) and not self._local.exists():
                raise _ReplacedError
        with self._local.open("rb") as file:
            while True:
                is_last = self._ended.is_set()  # before the read, which then finds the end
                if piece := file.read(_PIECE_BYTES):
                    yield piece
                elif is_last:
                    break
                else:
                    self._ended.wait(_LOOK_EVERY_S)
            # A caveat makes the file anew, and a full disk takes the end of a block back.
            now = self._local.stat()
            if (now.st_ino, now.st_size) != (os.fstat(file.fileno()).st_ino, file.tell()):
                raise _ReplacedError


class _ReplacedError(Exception):
    """The file is not the one any more whose bytes were sent."""


def _send_again(url: RecordUrl, local: Path) -> None:
    with local.open("rb") as file:
        pieces = iter(lambda: file.read(_PIECE_BYTES), b"")
        try:
            write_object(url, pieces, replace=True)
        except OutputUnwritable as error:
            raise OutputUnwritable(
                f"{error.happened} The record itself is whole: {local}",
                error.expected,
                "Copy that file there with a tool of the store, or read it where it is.",
                path=str(local),
            ) from None
