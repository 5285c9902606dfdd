"""Paths of files: which belong to the machine and not to the run, and the links that they lead through.

Packages, the system and compiled Python have their place in a record by the fingerprint of the environment.
Reads of them are not noted; writes are, unless they only fill a cache of compiled code.

Links that were met are reported: whoever changes one changes what a program reads.

A name is bytes to the system. Python gives the bytes that are not UTF-8 as lone surrogates, which no text of a
record may hold. Each stands in a record as NUL and two hexadecimal digits: no name of a file has a NUL of its own.
What a program makes of such a name, a state or an output say, is the program's to encode.

Not for: files that Python opens; ``effects.files.places`` decides about those.

Invariant: no file is opened, and nothing below the program's own folder is a system file; ``unescape_path`` undoes ``escape_path``.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import AnyStr, Final, NamedTuple

_readlink, _lstat, _stat = os.readlink, os.lstat, os.stat
_SHARED_MEMORY = "/dev/shm/"  # noqa: S108  (files there are files of the run)
_DEVICES = ("/proc/", "/sys/", "/dev/")
_SYSTEM = (
    "/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/", "/etc/", "/boot/", "/snap/",
    "/nix/store/",
)  # fmt: skip
_PACKAGE = re.compile(r"/(?:site-packages|dist-packages|__pycache__)/|/lib/python3(?:\.\d+t?)?/")
_COMPILED = (".pyc", ".pyo")
_COMPILED_FOLDER = "/__pycache__"

_LINKS_MAX = 40

_UNDECODED: Final = re.compile("[\udc80-\udcff]")
_KEPT: Final = re.compile("\0([89a-f][0-9a-f])")
_FIRST: Final = 0xDC00  # The surrogate of a byte is this and the byte.


def escape_path(name: AnyStr) -> AnyStr:
    """Convert a name, or a path, to its recorded form; bytes stay as they are."""
    if isinstance(name, bytes):
        return name
    if name.isascii():
        return name
    return _UNDECODED.sub(lambda match: f"\0{ord(match[0]) - _FIRST:02x}", name)


def unescape_path(name: AnyStr) -> AnyStr:
    """Convert a name from its recorded form to the one that the program sees."""
    if isinstance(name, bytes):
        return name
    if "\0" not in name:
        return name
    return _KEPT.sub(lambda match: chr(_FIRST + int(match[1], 16)), name)


def parent_folder(path: str) -> str:
    """Return the folder of an absolute path."""
    return path.rpartition("/")[0] or "/"


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def is_device(path: str) -> bool:
    """Return whether a path is no file on a disk: a device, or the kernel's own."""
    return path.startswith(_DEVICES) and not path.startswith(_SHARED_MEMORY)


def is_compiled(path: str) -> bool:
    """Return whether a path is a cache of compiled Python, or the folder of one."""
    return (
        path.endswith(_COMPILED) or f"{_COMPILED_FOLDER}/" in path
        or path.endswith(_COMPILED_FOLDER)
    )  # fmt: skip


# os.path asks os.stat by its name, where a program may have put a function of its own that asks twice again.


def is_folder(path: str) -> bool:
    """Return whether a folder is at a path, and no link to one."""
    return stat.S_ISDIR(_read_mode(_lstat, path))


def is_link(path: str) -> bool:
    """Return whether a link is at a path."""
    return stat.S_ISLNK(_read_mode(_lstat, path))


def is_present(path: str) -> bool:
    """Return whether anything is at a path, be it a link that leads nowhere."""
    return _read_mode(_lstat, path) != 0


def leads_to_folder(path: str) -> bool:
    """Return whether a folder is at a path, or where its links lead."""
    return stat.S_ISDIR(_read_mode(_stat, path))


def leads_to_file(path: str) -> bool:
    """Return whether a regular file is at a path, or where its links lead."""
    return stat.S_ISREG(_read_mode(_stat, path))


def _read_mode(read: Callable[[str], os.stat_result], path: str) -> int:
    try:
        return read(path).st_mode
    except (OSError, ValueError):
        return 0


class PackagePaths:
    """Tells files of the machine from files of the run.

    What lies in one of ``roots``, folders of the program, is the run's, unless it is an installed package.
    """

    def __init__(self, roots: Iterable[str] = ()) -> None:
        prefixes = {sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix)}
        prefixes.add(os.path.realpath(sys.base_prefix))
        libraries = [
            f"{prefix}/{part}/" for part in ("lib", "share") for prefix in sorted(prefixes)
        ]
        own = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
        self._libraries = (*libraries, f"{own}/")
        self._roots = tuple(f"{root.rstrip('/')}/" for root in roots if root not in {"", "/"})

    def is_of_machine(self, path: str) -> bool:
        """Return whether reading this file is no input of the run."""
        if path.startswith(self._libraries) or is_compiled(path):
            return True
        if _PACKAGE.search(path) is not None or is_device(path):
            return True
        return path.startswith(_SYSTEM) and not f"{path}/".startswith(self._roots)


class ResolvedPath(NamedTuple):
    """An absolute path without links, as ``os.fsdecode`` gives it, and the links that were followed, in order."""

    path: str
    links: tuple[str, ...] = ()


def follow_links(path: str, at: Callable[[str], str] | None = None) -> ResolvedPath:
    """Return an absolute path without links, and those that were followed.

    By functions that nobody replaced, which ``os.path.realpath`` is not built on. ``at`` tells the path that a place
    has in an overlay.
    """
    links: list[str] = []
    done = ""
    waiting = [part for part in path.split("/") if part][::-1]
    while waiting:
        part = waiting.pop()
        if part == ".":
            continue
        if part == "..":
            done = done.rpartition("/")[0]
            continue
        here, target = f"{done}/{part}", ""
        there = here if at is None else at(here)
        if len(links) < _LINKS_MAX and is_link(there):
            with suppress(OSError):  # it has gone since
                target = _readlink(there)
        if not target:
            done = here
            continue
        links.append(here)
        if target.startswith("/"):
            done = ""
        waiting += [piece for piece in target.split("/") if piece][::-1]
    return ResolvedPath(done or "/", tuple(links))
