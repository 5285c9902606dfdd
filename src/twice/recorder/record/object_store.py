"""Objects of a store (S3, Google Cloud, Azure): their bytes by ranges, their names in a folder, and new ones.

Everything goes through obstore, which reads its credentials from the environment. A program that is recorded or replayed
never comes here: its session governs sockets and threads, so the process of the command reads and writes.

Failed: one request for each piece that is asked for; the 48 bytes of a header cost as much as a block.

Invariant: an object that is replaced while it is read is noticed, and no message quotes the store: what a store answers
may hold signed addresses.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from twice.errors import ExtraMissing, OutputUnwritable, RecordUnreadable
from twice.foundation.printable import pluralize
from twice.foundation.record_url import RecordUrl

if TYPE_CHECKING:
    from obstore.store import ObjectStore

PART_BYTES: Final = 64 << 10
"""What is read at least: most blocks have about that size."""
_AHEAD_MAX: Final = 64  # parts at once, of an object that is read from its start to its end
AHEAD_BYTES: Final = _AHEAD_MAX * PART_BYTES
_CACHED_PARTS: Final = 512
_PIECE_BYTES: Final = 8 << 20
_RETRIES: Final = 6  # about ten seconds of a store that throttles
_CODE: Final = re.compile(r"status code: (\d{3})|<Code>(\w+)</Code>")
_STATUSES: Final = {
    "FileNotFoundError": "404",
    "UnauthenticatedError": "401",
    "PermissionDeniedError": "403",
    "PreconditionError": "412",
}
"""Of the errors of obstore, whose stores do not all answer over HTTP."""
_THROTTLED: Final = "the store throttles, also after some retries"
_REASONS: Final = {
    "NoSuchBucket": "there is no such bucket",
    "404": "there is no such object",
    "ExpiredToken": "the credentials have expired",
    "401": "the store does not know the credentials",
    "403": "the store does not allow it with these credentials",
    "412": "the object was replaced meanwhile",
    "416": "it is empty",
    "429": _THROTTLED,
    "503": _THROTTLED,
}


class ObjectBytes:
    """The bytes of an object, used like those of a mapped file: a length, and slices that are fetched when they are read.

    Raises:
        RecordUnreadable: E-RECORD-005, by every method, when the store does not answer as it should.
    """

    def __init__(self, url: RecordUrl) -> None:
        self.closed = False
        self._url = url
        self._parts: OrderedDict[int, bytes] = OrderedDict()
        self._next, self._window = -1, 1
        self._same: dict[str, str] = {}  # the condition that it is the object of the first part
        self._size = PART_BYTES
        # The first part tells the size, and a refusal of it has a text, which one of the size alone has not.
        with _explain(url, RecordUnreadable):
            self._store = _open_store(str(url.parent))
            self._fetch(0, 0)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, wanted: slice) -> memoryview:
        begin, end, _ = wanted.indices(self._size)
        if begin >= end:
            return memoryview(b"")
        first, last = begin // PART_BYTES, (end - 1) // PART_BYTES
        with _explain(self._url, RecordUnreadable):
            if last - first >= _AHEAD_MAX:
                return memoryview(self._request(begin, end))
            for number in range(first, last + 1):
                if number in self._parts:
                    self._parts.move_to_end(number)
            missing = [number for number in range(first, last + 1) if number not in self._parts]
            if missing:
                self._fetch(missing[0], missing[-1])
        joined = b"".join(self._parts[number] for number in range(first, last + 1))
        return memoryview(joined)[begin - first * PART_BYTES : end - first * PART_BYTES]

    def copy_to(self, target: Path) -> None:
        """Write the whole object into a new file; E-OUTPUT-002 without room for it."""
        import obstore

        with _explain(self._url, RecordUnreadable):
            answer = obstore.get(self._store, self._url.name, options={**self._same})
            try:
                with target.open("xb") as file:
                    for piece in answer.stream(min_chunk_size=_PIECE_BYTES):
                        file.write(piece)
            except OSError as error:
                raise OutputUnwritable(
                    f"{self._url} cannot be copied to {target.parent}: {error.strerror}.",
                    f"Expected room for its {pluralize(self._size, 'byte')}: a replay reads a file of this machine.",
                    "Make room there, or name another folder: TMPDIR=/path/to/folder.",
                    path=str(target.parent),
                ) from error

    def close(self) -> None:
        """Drop what was fetched."""
        self.closed = True
        self._parts.clear()

    def _fetch(self, first: int, last: int) -> None:
        """Fetch parts at once, and more of them behind those, the longer an object is read in order."""
        self._window = min(self._window * 2, _AHEAD_MAX) if first == self._next else 1
        last = max(last, first + self._window - 1)
        begin = first * PART_BYTES
        found = self._request(begin, min((last + 1) * PART_BYTES, self._size))
        for at in range(0, len(found), PART_BYTES):
            self._parts[(begin + at) // PART_BYTES] = found[at : at + PART_BYTES]
        self._next = last + 1
        while len(self._parts) > _CACHED_PARTS:
            self._parts.popitem(last=False)

    def _request(self, begin: int, end: int) -> bytes:
        import obstore

        options = {"range": (begin, end), **self._same}
        answer = obstore.get(self._store, self._url.name, options=options)
        self._size = answer.meta["size"]
        if answer.meta["e_tag"] is not None:
            self._same = {"if_match": answer.meta["e_tag"]}
        return bytes(answer.bytes())


def list_objects(folder: RecordUrl) -> dict[str, tuple[int, int]]:
    """Return size in bytes and time of change in nanoseconds of the objects in a folder, not below it; E-RECORD-005."""
    with _explain(folder, RecordUnreadable):
        import obstore

        found = obstore.list_with_delimiter(_open_store(str(folder)))["objects"]
    return {
        each["path"]: (each["size"], int(each["last_modified"].timestamp() * 1e9)) for each in found
    }


def write_object(url: RecordUrl, content: bytes | Iterator[bytes], *, replace: bool) -> None:
    """Write an object, which others see when all of it is there.

    Args:
        url: of the object.
        content: its bytes, or pieces of them, which are sent in parts as they come; an exception of theirs takes the
            parts away again.
        replace: an object that is there; pieces always do.

    Raises:
        FileExistsError: there is one, and it is not replaced.
        OutputUnwritable: E-OUTPUT-002.
    """
    with _explain(url, OutputUnwritable):
        import obstore
        from obstore.exceptions import AlreadyExistsError

        try:
            # Parts are small enough for the memory, and 10,000 of them, the most that S3 takes, make 80 GB.
            obstore.put(
                _open_store(str(url.parent)),
                url.name,
                content,
                mode="overwrite" if replace else "create",
                chunk_size=_PIECE_BYTES,
            )
        except AlreadyExistsError as error:
            raise FileExistsError(str(url)) from error


def delete_object(url: RecordUrl) -> None:
    """Delete an object."""
    with _explain(url, OutputUnwritable):
        import obstore

        obstore.delete(_open_store(str(url.parent)), url.name)


@lru_cache(8)
def _open_store(folder: str) -> ObjectStore:
    from obstore.store import from_url

    return from_url(
        folder, retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=60)}
    )


@contextmanager
def _explain(url: RecordUrl, refusal: type[RecordUnreadable | OutputUnwritable]) -> Iterator[None]:
    """Turn what the store, or a missing extra, raises into one refusal."""
    try:
        from obstore.exceptions import BaseError
    except ImportError as error:
        raise ExtraMissing(
            f"{url} needs obstore, which is not installed.",
            "Expected the extra `cloud`.",
            "pip install 'twice[cloud]'",
            extra="cloud",
        ) from error
    try:
        yield
    except (BaseError, FileNotFoundError) as error:
        deed = "written" if refusal is OutputUnwritable else "read"
        raise refusal(
            f"{url} cannot be {deed}: {_find_reason(error)}.",
            "Expected a bucket that is there, and credentials that may use it.",
            "Check the name, the network, and the store's variables: see docs/guides/many-runs.md.",
            path=str(url),
        ) from None  # what the store says may hold a signed address


def _find_reason(error: Exception) -> str:
    """Find, in an error of the store, a reason that holds nothing of it but its codes."""
    text = str(error)
    if "169.254." in text or "metadata" in text:  # where a machine of a cloud asks for its own
        return "there are no credentials"
    codes = [status or code for status, code in _CODE.findall(text)]
    if not codes and type(error).__name__ in _STATUSES:
        codes = [_STATUSES[type(error).__name__]]
    known = [_REASONS[code] for code in reversed(codes) if code in _REASONS]
    if known:
        return known[0]
    return f"the store answered {' '.join(codes)}" if codes else "the store cannot be reached"
