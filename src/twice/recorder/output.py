"""What a run hands over besides its state: printed text, captured at descriptor level, and results.

While a session runs in a process of its own, descriptors 1 and 2 point to files. At every
compare-point the new bytes of standard output are read back, written into the record with a line
index, and added to a running digest: cumulative bytes are compared, never single writes. Which part of
them is compared, ``compared_output`` decides.

Not covered: output that a C library still holds in its own buffer appears at a later point. A returned value
without a canonical form: its type is kept, and the verdict says that it was not compared.

Invariant: a byte is captured once, in the order in which it reached the descriptor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial

from twice.errors import TwiceError
from twice.foundation.comparison import short
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, digest_value, new_hasher
from twice.recorder.compared_output import ComparedLines
from twice.recorder.record_form import ERRORS, OUTPUT
from twice.recorder.redaction.mask import StreamRedactor
from twice.recorder.redaction.redaction import Redaction

RESULTS = "results"
"""Key of the ending."""
_CHUNK = 1 << 20
_SUMMARIES_MAX = 10_000


class CapturedFile:
    """Follows one file that grows, with secrets blanked; for the other arguments see ``OutputCapture``.

    Args:
        descriptor: an open descriptor of the file, readable; its offset is not used, and what it
            points to later does not matter.
    """

    def __init__(
        self,
        descriptor: int,
        algorithm: Algorithm,
        flow: StreamRedactor | None = None,
        *,
        ignored: Sequence[str] = (),
        folders: Sequence[str] = (),
        is_errors: bool = False,
    ) -> None:
        self._flow = flow or Redaction().file(OUTPUT)
        self._begin = partial(ComparedLines, ignored, folders, is_errors=is_errors)
        # The program may close the descriptor, or point it elsewhere for a while.
        self._descriptor = os.dup(descriptor)
        self._algorithm = algorithm
        self._offset = 0
        self._count_from(b"")

    def restart(self, before: bytes) -> None:
        """Count as if these bytes, and nothing that is now in the file, had been printed."""
        self._count_from(before)
        self._offset = os.fstat(self._descriptor).st_size

    def _count_from(self, before: bytes) -> None:
        self._hasher = new_hasher(self._algorithm)
        self._compared = self._begin()
        self._is_empty = True
        self.digest = b""
        self.size = self.lines = 0
        self._add(before)

    def advance(self) -> bytes:
        """Return bytes that came since the last call, and count them in size, lines and digest."""
        end = os.fstat(self._descriptor).st_size
        if end <= self._offset:
            return b""
        pieces = []
        while self._offset < end:
            piece = os.pread(self._descriptor, min(_CHUNK, end - self._offset), self._offset)
            if not piece:  # cut off by the program meanwhile
                break
            pieces.append(piece)
            self._offset += len(piece)
        found = self._flow.next(b"".join(pieces))
        self._add(found)
        return found

    def _add(self, data: bytes) -> None:
        self.size += len(data)
        self.lines += data.count(b"\n")
        hasher, lines = self._hasher, self._compared
        complete = data if lines.is_everything else lines.feed(data)
        self._is_empty = self._is_empty and not complete
        hasher.update(complete)
        # The last line is compared as far as it goes, but more of it may come: it is hashed in a copy.
        if rest := lines.peek_rest():
            hasher = hasher.copy()
            hasher.update(rest)
        self.digest = b"" if self._is_empty and not rest else hasher.digest()[:16]

    def whole(self) -> bytes:
        """Return the content of the file up to the last call of ``advance``."""
        return os.pread(self._descriptor, self._offset, 0)


class Output:
    """The output of a session that captures none, such as inline code in a notebook."""

    def position(self) -> bytes:
        """Return the digest of all compared bytes so far; empty while there are none."""
        return b""

    def leave_errors_out(self) -> None:
        """Stop comparing standard error: processes that a replay does not start write there, too."""

    def printed(self) -> tuple[bytes, bytes]:
        """Return standard output and error up to the last position, from the start, secrets blanked."""
        return b"", b""

    def restart(self, output: bytes, errors: bytes) -> None:
        """Go on as if exactly these bytes had been printed so far."""

    def count(self) -> tuple[int, int] | None:
        """Return bytes of output and errors that are written down so far; None if they are not captured."""
        return None

    def summary(self) -> dict[str, object]:
        """Return sizes in bytes and lines, for the ending; empty if nothing is captured."""
        return {}


class OutputCapture(Output):
    """Standard output and error of this process, as columns of the run.

    Args:
        algorithm: digest of the cumulative bytes.
        journal: called with (kind, payload) for new bytes; None when nothing is written.
        compare_errors: whether standard error joins the compared bytes.
        ignored: regular expressions for lines that are not compared.
        folders: of the program; standard error is compared without them.
        redaction: what is blanked in both before they are compared and written.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        journal: Callable[[str, bytes, int], None] | None,
        *,
        compare_errors: bool = True,
        ignored: Sequence[str] = (),
        folders: Sequence[str] = (),
        redaction: Redaction | None = None,
    ) -> None:
        blank = redaction or Redaction()
        self._output = CapturedFile(1, algorithm, blank.file(OUTPUT), ignored=ignored)
        self._errors = CapturedFile(
            2, algorithm, blank.file(ERRORS), ignored=ignored, folders=folders, is_errors=True
        )
        self._redaction = blank
        self._journal = journal
        self._compare_errors = compare_errors

    def position(self) -> bytes:
        """Digest all bytes so far, with the new ones."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, ValueError, OSError):
                continue  # The program closed or replaced it: the descriptor is what counts.
        new_output, new_errors = self._output.advance(), self._errors.advance()
        if self._journal is not None:
            self._redaction.write(self._journal)
            if new_output:
                self._journal(OUTPUT, new_output, 0)
            if new_errors:
                self._journal(ERRORS, new_errors, 0)
        return self._output.digest + (self._errors.digest if self._compare_errors else b"")

    def leave_errors_out(self) -> None:
        """Stop comparing standard error."""
        self._compare_errors = False

    def printed(self) -> tuple[bytes, bytes]:
        """Return both streams up to the last position, as they were printed but for secrets."""
        output = self._redaction.file(OUTPUT).next(self._output.whole())
        return output, self._redaction.file(ERRORS).next(self._errors.whole())

    def restart(self, output: bytes, errors: bytes) -> None:
        """Write down what is new, and go on from these bytes."""
        self.position()
        self._output.restart(output)
        self._errors.restart(errors)

    def count(self) -> tuple[int, int]:
        """Write down what is new, and count it all."""
        self.position()
        return self._output.size, self._errors.size

    def summary(self) -> dict[str, object]:
        """Return the sizes of both streams."""
        return {
            "output": {"bytes": self._output.size, "lines": self._output.lines},
            "errors": {"bytes": self._errors.size, "lines": self._errors.lines},
        }


@dataclass
class Results:
    """The results of one run.

    Attributes:
        returned: what the program's function returned; None for nothing.
        summaries: names and numbers of ``run.summary``, in the order in which the program gave them.
    """

    returned: object = None
    summaries: list[tuple[str, float]] = field(default_factory=list)

    def describe(self, algorithm: Algorithm) -> dict[str, object]:
        """Return plain values: ``returned`` and ``summaries``, each where there is one; never fail a run.

        Args:
            algorithm: of the digest of the returned value.
        """
        found: dict[str, object] = {}
        if (value := self.returned) is not None:
            described = {"type": f"{type(value).__module__}.{type(value).__qualname__}"}
            try:
                digest = str(digest_value(value, algorithm))
                described |= {"digest": digest, "text": short(value)}
            except (TwiceError, RecursionError):
                pass  # no canonical form, or one that is too deep: the type alone stands
            found["returned"] = described
        if self.summaries:
            summaries = self.summaries[:_SUMMARIES_MAX]
            found["summaries"] = [[name, value.hex()] for name, value in summaries]
        return found
