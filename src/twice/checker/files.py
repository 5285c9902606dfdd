"""Finding the files of a project and reading their text.

Folders are walked in sorted order; environments, caches and hidden folders are passed over. A file
that cannot be read, or is not UTF-8, or is too large, is an answer as well.

Invariant: a file that was asked for is read or comes with the reason why not; none is left out in silence.
"""

from __future__ import annotations

import io
import os
import stat
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from twice.errors import UsageError
from twice.foundation.digests import Algorithm, raw_digest
from twice.foundation.printable import pluralize

SIZE_MAX: Final = 8 * 1024 * 1024
"""In bytes. The parser needs some hundred bytes of memory for each byte of source."""

_SKIPPED: Final = frozenset(
    {"__pycache__", "node_modules", "site-packages", "venv", "__pypackages__"}
)
_MADE: Final = frozenset({"build", "dist"})
"""What a packaging tool makes; below a package they are packages like others."""
_ENVIRONMENTS: Final = frozenset({("pyvenv.cfg", False), ("conda-meta", True)})
"""What stands in a folder of installed packages, whatever it is called; ``env`` is a package of many."""
_PATH_SHOWN: Final = 200
_SUFFIXES: Final = (".py", ".pyw")


@dataclass(frozen=True, slots=True)
class Raw:
    """A file's bytes.

    Args:
        path: where it is, with forward slashes, relative to the working folder where it is below it.
        data: its bytes; None when they could not be read.
        reason: why not.
    """

    path: str
    data: bytes | None
    reason: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes in hexadecimal; "" when there are none."""
        return "" if self.data is None else raw_digest(Algorithm.SHA256)(self.data).hex()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to be read.

    Args:
        path: as findings name it.
        package: the dotted package that it is in.
        size: in bytes, to share the work evenly.
    """

    path: str
    package: str
    size: int


def require_existing(paths: Sequence[Path], command: str) -> None:
    """Refuse paths at which nothing is.

    Args:
        paths: files and folders.
        command: the command that was called, for the example in the error.

    Raises:
        UsageError: E-USE-001: there is no such path, or it cannot be looked at.
    """
    for path in paths:
        try:
            path.stat()
        except (OSError, ValueError) as error:
            shown = (
                repr(str(path))
                if len(str(path)) < _PATH_SHOWN
                else f"{str(path)[:_PATH_SHOWN]!r}..."
            )
            gone = isinstance(error, (FileNotFoundError, NotADirectoryError))
            said = error.strerror if isinstance(error, OSError) else str(error)
            raise UsageError(
                f"There is no file or folder {shown}."
                if gone
                else f"{shown} cannot be read: {said}.",
                "Expected Python files, or folders with Python files in them.",
                f"For example: {command} src",
            ) from error


def find_files(
    paths: Sequence[Path], excluded: Sequence[str], placed: Callable[[str], str] = str
) -> list[str]:
    """Give the Python files in folders, and the files named, each once, sorted.

    Args:
        paths: files and folders.
        excluded: patterns of paths to leave out; a file named by itself is read all the same.
        placed: gives a path as the patterns see it.
    """
    found: dict[str, None] = {}
    for path in paths:
        if path.is_dir():
            for each in _walk(to_shown_path(path), excluded, placed):
                found[each] = None
        else:
            found[to_shown_path(path)] = None
    return sorted(found)


def _walk(top: str, excluded: Sequence[str], placed: Callable[[str], str]) -> Iterator[str]:
    """Yield the Python files below a folder, as findings name them, and unreadable folders."""
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                those = sorted((each.name, each.is_dir(follow_symlinks=False)) for each in entries)
        except OSError:
            yield folder  # Reading it says why not.
            continue
        if folder != top and not _ENVIRONMENTS.isdisjoint(those):
            continue
        prefix = "" if folder == "." else f"{folder}/"
        for name, is_folder in those:
            if is_folder:
                is_made = name in _MADE and ("__init__.py", False) not in those
                if name.startswith(".") or name in _SKIPPED or is_made:
                    continue
            elif not name.endswith(_SUFFIXES):
                continue
            whole = prefix + name
            if excluded and matches(placed(whole), excluded):
                continue
            if is_folder:
                pending.append(whole)
            else:
                yield whole


def to_shown_path(path: Path) -> str:
    """Give a path as outputs show it: relative to the working folder where it is below it."""
    whole = path if path.is_absolute() else Path.cwd() / path
    whole = Path(os.path.normpath(whole))
    try:
        return whole.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return whole.as_posix()


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Say whether a path, a folder above it, or its name matches one of some patterns."""
    if not patterns:
        return False
    parts = path.split("/")
    prefixes = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    tails = ["/".join(parts[start:]) for start in range(1, len(parts))]
    every = [*prefixes, *tails, *parts]
    return any(fnmatchcase(each, pattern.rstrip("/")) for pattern in patterns for each in every)


def measure_size(path: str) -> int:
    """Give a file's size in bytes; 0 when it cannot be asked."""
    try:
        return os.stat(path).st_size  # noqa: PTH116  (once for every file of a project)
    except OSError:
        return 0


def read_file(path: str) -> Raw:
    """Read a file's bytes, or say why that was not possible."""
    try:
        status = os.stat(path)  # noqa: PTH116  (once for every file of a project)
        size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            return Raw(path, None, "it is no regular file that could be read")
        if path.endswith(".ipynb"):
            return Raw(path, None, "it is a notebook: write its code to a file of Python first")
        if size > SIZE_MAX:
            return Raw(path, None, f"it has {pluralize(size, 'byte')}, more than {SIZE_MAX:,}")
        with open(path, "rb") as file:  # noqa: PTH123
            return Raw(path, file.read())
    except OSError as error:
        return Raw(path, None, f"it cannot be read: {error.strerror or error}")


def decode(data: bytes) -> str:
    """Give the text of a source file by its own declaration of encoding.

    Raises:
        ValueError: it is not text in that encoding; the message says which.
    """
    if b"\x00" in data[:4096]:
        raise ValueError("it is binary")
    if data.isascii() and b"coding" not in data[:200]:
        return data.decode("ascii")
    try:
        return data.decode(find_encoding(data))
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise ValueError(f"it is not text: {error}") from error


def find_encoding(data: bytes) -> str:
    """Give the encoding that a source file declares; UTF-8 when it declares none.

    Raises:
        SyntaxError: there is no such encoding, or it is not UTF-8.
    """
    lines = io.BytesIO(data.replace(b"\r", b"\n") if b"\r" in data else data)
    return tokenize.detect_encoding(lines.readline)[0]


def find_package(path: str) -> str:
    """Give the dotted package that a file is in, by the ``__init__.py`` files above it."""
    folder = os.path.dirname(path) or "."  # noqa: PTH120
    return _package(folder)


_PACKAGES: dict[str, str] = {}


def _package(folder: str) -> str:
    known = _PACKAGES.get(folder)
    if known is not None:
        return known
    found = ""
    if os.path.exists(os.path.join(folder, "__init__.py")):  # noqa: PTH110, PTH118
        above, name = os.path.split(folder)
        outer = _package(above) if name not in {"", ".", ".."} and above != folder else ""
        found = f"{outer}.{name}" if outer else name.strip(".")
    _PACKAGES[folder] = found
    return found
