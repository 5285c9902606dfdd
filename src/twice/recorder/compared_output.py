"""The part of a printed stream that is compared: its lines, without what differs between equal runs.

Standard error names files of the program by its folder, which moves, source files of packages by theirs, and
objects by their addresses. A stack that is printed shows the functions that called the program, which differ between a
recording and a replay. Progress bars show rates, and overwrite themselves by the clock. Python prints a
``SyntaxWarning`` only when it compiles a module anew. A user leaves out lines of either stream by a regular
expression.

Invariant: the same bytes give the same comparable bytes, however they are cut into pieces.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from twice.errors import UsageError
from twice.recorder.program import Program

_FOLDERS = re.compile(rb'(?:/[^/\s:"\']+)+/(?=[^/\s:"\']+\.py\b)')
_ADDRESS = re.compile(rb"\b0x[0-9a-fA-F]{8,16}\b")
_TIMES = re.compile(rb"\[-?\d+:\d\d(?::\d\d)?<[^\]\n]*\]")
"""The times and the rate of a progress bar as tqdm draws it."""
_OUR_FRAME = re.compile(
    rb'^ *File "[^"]*/twice/(?:(?:worker|record(?:ing|er)|replaying|replayer|diagnosing|diagnosis|testing|tooling|surfaces|cli)/[^"]*|integrations/[a-z]+_steps)\.py", line \d+, in '
)
_OF_FRAME = re.compile(rb"^ {4,}|^ *\[Previous line repeated ")
_COMPILED = re.compile(rb"^\S.*:\d+: SyntaxWarning: ")


class ComparedLines:
    """Selects what is compared of one stream, line by line.

    Args:
        ignored: regular expressions; a line in which one of them matches is not compared.
        folders: of the program, from ``list_folders``; standard error is compared without them.
        is_errors: whether the stream is standard error.
    """

    def __init__(self, ignored: Sequence[str], folders: Sequence[str], *, is_errors: bool) -> None:
        self._ignored = [re.compile(pattern.encode()) for pattern in ignored]
        self._is_errors, self._folders = is_errors, [os.fsencode(each) for each in folders]
        self._rest = b""
        self._is_in_warning = self._is_in_frame = False

    @property
    def is_everything(self) -> bool:
        """Return whether every byte is compared as it is."""
        return not self._ignored and not self._is_errors

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return the compared part of the lines that they complete."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        return b"".join(self._select(line + b"\n") for line in lines)

    def peek_rest(self) -> bytes:
        """Return the compared part of the last line, which has no end yet."""
        return self._select(self._rest, is_last=True) if self._rest else b""

    def _select(self, line: bytes, *, is_last: bool = False) -> bytes:
        if any(pattern.search(line) for pattern in self._ignored):
            return b""
        if not self._is_errors:
            return line
        is_ours = _OUR_FRAME.search(line) is not None
        is_of_ours = self._is_in_frame and _OF_FRAME.search(line) is not None
        if not is_last:
            self._is_in_frame = is_ours or is_of_ours
        if is_ours or is_of_ours:
            return b""
        # Python prints the line of source below the warning, indented.
        is_source = self._is_in_warning and line.startswith(b"  ")
        is_warning = _COMPILED.search(line) is not None
        if not is_last:
            self._is_in_warning = is_warning
        if is_warning or is_source:
            return b""
        # A progress bar overwrites itself, as often as its clock says.
        shown = line.removesuffix(b"\n").removesuffix(b"\r").rpartition(b"\r")[2]
        return (
            _TIMES.sub(b"[...]", _strip(shown, self._folders)) + line[len(line.rstrip(b"\r\n")) :]
        )


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


def _strip(text: bytes, folders: Sequence[bytes]) -> bytes:
    """Return a text without the program's folders, folders of source files, and addresses."""
    for folder in folders:
        text = text.replace(folder, b"")
    return _ADDRESS.sub(b"0x...", _FOLDERS.sub(b"", text))


def select_compared(
    data: bytes, ignored: Sequence[str], folders: Sequence[str], *, is_errors: bool
) -> bytes:
    """Return the compared part of a whole stream."""
    lines = ComparedLines(ignored, folders, is_errors=is_errors)
    return data if lines.is_everything else lines.feed(data) + lines.peek_rest()


def parse_ignored_output(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return regular expressions for lines that are not compared.

    Raises:
        UsageError: E-USE-001, for one that is none, or that matches every line.
    """
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
