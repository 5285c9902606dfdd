"""What a run hands over besides its state: printed text, captured at descriptor level, and results.

While a session runs in a process of its own, descriptors 1 and 2 point to files. At every compare-point the new bytes
are read back and written into the record, and the compared part of them is added to a running digest: cumulative bytes
are compared, never single writes.

The compared part are the lines, without what differs between equal runs. A stack that is printed shows the functions
that called the program, which differ between a recording and a replay. Standard error names files of the program by
its folder, which moves, source files of packages by theirs, and objects by their addresses. Progress bars show rates,
and overwrite themselves by the clock. Python prints a ``SyntaxWarning`` only when it compiles a module anew. A user
leaves out lines of either stream by a regular expression.

Not covered: output that a C library still holds in its own buffer appears at a later point. A returned value without a
canonical form: its type is kept, and the verdict says that it was not compared.

Invariant: a byte is captured once, in the order in which it reached the descriptor. The same bytes give the same
comparable bytes, however they are cut into pieces.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from twice.errors import TwiceError, UsageError
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, digest_value, new_hasher
from twice.recorder.program import Program
from twice.recorder.record_form import ERRORS, OUTPUT

if TYPE_CHECKING:
    from twice.recorder.redaction.mask import StreamRedactor
    from twice.recorder.redaction.redaction import Redaction
    from twice.recorder.setup import Setup

RESULTS = "results"
"""Key of the ending."""
_CHUNK = 1 << 20
_pread = os.pread  # as it is before a session replaces it
_SUMMARIES_MAX = 10_000
_FOLDERS = re.compile(rb'(?:/[^/\s:"\']+)+/(?=[^/\s:"\']+\.py\b)')
_ADDRESS = re.compile(
    rb"\b(?:0x|(?<=cancel scope ))[0-9a-fA-F]{8,16}\b|(?<=\.\.\.)x?[0-9a-fA-F]{1,16}(?=>)"
)
"""As Python writes an address, as anyio does in the message of an error that it raises, and what ``reprlib`` leaves
of one: ``<__main__.Pro...3a3890>``."""
_TIMES = re.compile(rb"\[-?\d+:\d\d(?::\d\d)?<[^\]\n]*\]")
"""The times and the rate of a progress bar as tqdm draws it."""
_OUR_FRAME = re.compile(
    rb'^ *File "[^"]*/twice/(?:(?:worker|record(?:ing|er)|replaying|replayer|diagnosing|diagnosis|testing|tools|tooling|surfaces|cli)/[^"]*|integrations/[a-z]+_steps)\.py", line \d+, in '
)
_OUR_FOLDER = b"/twice/"
_LINE_MAX = 1 << 13
_OF_FRAME = re.compile(rb"^ {4,}|^ *\[Previous line repeated ")
_COMPILED = re.compile(rb"^\S.*:\d+: SyntaxWarning: ")


class ComparedLines:
    """Selects what is compared of one stream, line by line.

    Args:
        ignored: regular expressions; a line in which one of them matches is not compared.
        folders: of the program, from ``list_folders``; standard error is compared without them.
        is_errors: whether the stream is standard error.
    """

    def __init__(
        self, ignored: Sequence[str] = (), folders: Sequence[str] = (), *, is_errors: bool = False
    ) -> None:
        self._ignored = [re.compile(pattern.encode()) for pattern in ignored]
        self._is_errors, self._folders = is_errors, [os.fsencode(each) for each in folders]
        self._rest = b""
        self._is_in_warning = self._is_in_frame = False
        self._is_whole = not ignored and not is_errors

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return the compared part of the lines that they complete."""
        data = self._rest + data
        if self._is_whole and not self._is_in_frame and _OUR_FOLDER not in data:
            end = data.rfind(b"\n") + 1
            if len(data) - end > _LINE_MAX:  # no line of a stack, and too much to keep
                end = len(data)
            self._rest = data[end:]
            return data[:end]
        *lines, self._rest = data.split(b"\n")
        return b"".join(self._select(line + b"\n") for line in lines)

    def peek_rest(self) -> bytes:
        """Return the compared part of the last line, which has no end yet."""
        return self._select(self._rest, is_last=True) if self._rest else b""

    def _select(self, line: bytes, *, is_last: bool = False) -> bytes:
        if any(pattern.search(line) for pattern in self._ignored):
            return b""
        is_in_frame = _OUR_FRAME.search(line) is not None
        is_in_frame |= self._is_in_frame and _OF_FRAME.search(line) is not None
        if not is_last:
            self._is_in_frame = is_in_frame
        if is_in_frame:
            return b""
        if not self._is_errors:
            return line
        # Python prints the line of source below the warning, indented.
        is_source = self._is_in_warning and line.startswith(b"  ")
        is_warning = _COMPILED.search(line) is not None
        if not is_last:
            self._is_in_warning = is_warning
        if is_warning or is_source:
            return b""
        # A progress bar overwrites itself, as often as its clock says.
        shown = line.removesuffix(b"\n").removesuffix(b"\r").rpartition(b"\r")[2]
        end = line[len(line.rstrip(b"\r\n")) :]
        return _TIMES.sub(b"[...]", _strip(shown, self._folders)) + end


def _strip(text: bytes, folders: Sequence[bytes]) -> bytes:
    """Return a text without the program's folders, folders of source files, and addresses."""
    for folder in folders:
        text = text.replace(folder, b"")
    return _ADDRESS.sub(b"0x...", _FOLDERS.sub(b"", text))


def list_folders(*programs: Program) -> tuple[str, ...]:
    """Return the folders of a program, as it was recorded and as it is executed, deepest first."""
    found = set()
    for program in programs:
        for root in (Path(program.root or ".").absolute(), program.folder().absolute()):
            found |= {root, root.resolve()}
            if program.kind in {"function", "script"}:
                found |= {(root / program.target).parent, (root / program.target).resolve().parent}
    texts = (f"{each}/" for each in map(str, found) if each != "/")
    return tuple(sorted(texts, key=lambda text: (-len(text), text)))


def select_of_message(message: str, folders: Sequence[str]) -> str:
    """Return the part of an exception's message that is compared."""
    content = message.encode("utf-8", "surrogateescape")
    return _strip(content, list(map(os.fsencode, folders))).decode("utf-8", "surrogateescape")


def select_compared(
    data: bytes, ignored: Sequence[str], folders: Sequence[str], *, is_errors: bool
) -> bytes:
    """Return the compared part of a whole stream."""
    lines = ComparedLines(ignored, folders, is_errors=is_errors)
    return lines.feed(data) + lines.peek_rest()


def parse_ignored_output(patterns: Sequence[str]) -> tuple[str, ...]:
    """Check regular expressions for lines that are not compared; E-USE-001 for one that is none, or matches every line."""
    for pattern in patterns:
        try:
            matches_all = re.compile(pattern.encode()).search(b"") is not None
        except (re.error, OverflowError) as error:
            raise UsageError(
                f"{pattern!r} is not a regular expression: {error}.",
                "Expected a Python regular expression that is searched for in each line.",
                "For example: --ignore-output 'took [0-9.]+ s'",
            ) from None
        if matches_all:
            raise UsageError(
                f"{pattern!r} matches every line, so that no output would be compared.",
                "Expected a regular expression for the lines that may differ.",
                "For example: --ignore-output 'took [0-9.]+ s'",
            )
    return tuple(patterns)


class PrintedDigest:
    """The digest of the compared part of one stream, however it is cut into pieces.

    Args:
        algorithm: of the digest.
        begin: makes what selects the compared lines.

    Attributes:
        digest: 16 bytes over what was added so far, empty if nothing of it is compared.
        size: bytes that were added.
        lines: line ends that were added.
    """

    def __init__(
        self, algorithm: Algorithm, begin: Callable[[], ComparedLines] = ComparedLines
    ) -> None:
        self._algorithm, self._begin = algorithm, begin
        self._count_from(b"")

    def _count_from(self, before: bytes) -> None:
        self._hasher, self._compared = new_hasher(self._algorithm), self._begin()
        self._is_empty = True
        self.digest = b""
        self.size = self.lines = 0
        self.add(before)

    def add(self, data: bytes) -> None:
        """Count the next bytes."""
        self.size += len(data)
        self.lines += data.count(b"\n")
        hasher, lines = self._hasher, self._compared
        complete = lines.feed(data)
        self._is_empty = self._is_empty and not complete
        hasher.update(complete)
        # The last line is compared as far as it goes, but more of it may come: it is hashed in a copy.
        if rest := lines.peek_rest():
            hasher = hasher.copy()
            hasher.update(rest)
        self.digest = b"" if self._is_empty and not rest else hasher.digest()[:16]


class CapturedFile(PrintedDigest):
    """Follows one file that grows, with secrets blanked.

    The descriptor is open and readable; its offset is not used, and what it points to later does not matter. ``begin``
    makes what selects the compared lines. ``offset`` is the end of what was counted, in the file.
    """

    def __init__(
        self,
        descriptor: int,
        algorithm: Algorithm,
        flow: StreamRedactor,
        begin: Callable[[], ComparedLines] = ComparedLines,
    ) -> None:
        super().__init__(algorithm, begin)
        self._flow = flow
        # The program may close the descriptor, or point it elsewhere for a while.
        self._descriptor = os.dup(descriptor)
        self.offset = 0

    def restart(self, before: bytes) -> None:
        """Count as if these bytes, and nothing that is now in the file, had been printed."""
        self._count_from(before)
        self.offset = os.fstat(self._descriptor).st_size

    def advance(self) -> bytes:
        """Return bytes that came since the last call, and count them in size, lines and digest."""
        # Asked at every compare-point: to ask for the size would take five times as long.
        if not _pread(self._descriptor, 1, self.offset):
            return b""
        end = os.fstat(self._descriptor).st_size
        pieces = []
        while self.offset < end:
            piece = os.pread(self._descriptor, min(_CHUNK, end - self.offset), self.offset)
            if not piece:  # cut off by the program meanwhile
                break
            pieces.append(piece)
            self.offset += len(piece)
        found = self._flow.next(b"".join(pieces))
        self.add(found)
        return found

    def whole(self) -> bytes:
        """Return the content of the file up to the last call of ``advance``."""
        return os.pread(self._descriptor, self.offset, 0)


class Output:
    """The output of a session that captures none, such as inline code in a notebook."""

    compares_errors = False
    """Whether standard error is a part of the position."""

    def position(self) -> bytes:
        """Return the digest of all compared bytes so far; empty while there are none."""
        return b""

    def ends(self) -> tuple[int, int] | None:
        """Return where the last position lies in the files of output and errors, or None if they are not captured."""
        return None

    def leave_errors_out(self) -> None:
        """Stop comparing standard error: processes that a replay does not start write there, too."""

    def printed(self) -> tuple[bytes, bytes]:
        """Return standard output and error up to the last position, from the start, secrets blanked."""
        return b"", b""

    def restart(self, output: bytes, errors: bytes) -> None:
        """Write down what is new, and go on as if exactly these bytes had been printed so far."""

    def count(self) -> tuple[int, int] | None:
        """Write down what is new; return all bytes of output and errors, or None if they are not captured."""
        return None

    def summary(self) -> dict[str, object]:
        """Return sizes in bytes and lines, for the ending; empty if nothing is captured."""
        return {}


class OutputCapture(Output):
    """Standard output and error of this process, as columns of the run.

    Args:
        setup: how they are compared.
        journal: called with (kind, payload, actor) for new bytes; None when nothing is written.
        folders: of the program; standard error is compared without them.
        redaction: blanks secrets in both before they are compared and written.
    """

    def __init__(
        self,
        setup: Setup,
        journal: Callable[[str, bytes, int], None] | None,
        folders: Sequence[str],
        redaction: Redaction,
    ) -> None:
        output = partial(ComparedLines, setup.ignored_output)
        errors = partial(ComparedLines, setup.ignored_output, folders, is_errors=True)
        self._output = CapturedFile(1, setup.algorithm, redaction.file(OUTPUT), output)
        self._errors = CapturedFile(2, setup.algorithm, redaction.file(ERRORS), errors)
        self._redaction, self._journal = redaction, journal
        self.compares_errors = setup.compare_errors

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
        return self._output.digest + (self._errors.digest if self.compares_errors else b"")

    def ends(self) -> tuple[int, int]:
        """Return where the last position lies in the two files."""
        return self._output.offset, self._errors.offset

    def leave_errors_out(self) -> None:
        """Stop comparing standard error."""
        self.compares_errors = False

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
    """The value that the program's function returned, None for nothing, and ``run.summary``'s names and numbers in order."""

    returned: object = None
    summaries: list[tuple[str, float]] = field(default_factory=list)

    def describe(self, algorithm: Algorithm) -> dict[str, object]:
        """Return plain values: ``returned`` and ``summaries``, each where there is one; never fail a run."""
        # Not above: whoever reads a setup or a record loads this file.
        from twice.foundation.comparison import short

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
