"""``run.effects``'s front for what is not a clock or entropy: asked by name, answered whole, strict.

For programs that say what they want of the world instead of having it intercepted, and for sessions in
the user's own process, where names may have been bound before. Each call is one declared effect
(``calls.py``): its arguments are compared in replay, its answer comes from the record, and what it does
happens while recording alone.

Not for: handles. A connection or a process that lives on between calls belongs to the standard library,
which is governed too.

Invariant: in replay nothing is read, started, fetched or written.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from twice.recorder.effects.calls import governed_call
from twice.recorder.effects.layer import EffectLayer


class _Asked:
    def __init__(self, layer: EffectLayer) -> None:
        self._layer = layer


class Variables(_Asked):
    """``run.effects.env``: environment variables."""

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return a variable's value, or the default."""
        found = governed_call(self._layer, "env.get", os.environ.get, name)
        return default if found is None else str(found)

    def __getitem__(self, name: str) -> str:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found


class Files(_Asked):
    """``run.effects.fs``: whole files."""

    def names(self, folder: str | os.PathLike[str]) -> list[str]:
        """Return the names in a folder, sorted."""
        found: list[str] = governed_call(self._layer, "fs.names", _names, os.fspath(folder))
        return found

    def read(self, path: str | os.PathLike[str]) -> bytes:
        """Read a file's bytes, and store them in the record."""
        found: bytes = governed_call(self._layer, "fs.read", _read, os.fspath(path))
        return found

    def write(self, path: str | os.PathLike[str], data: bytes) -> int:
        """Write a file, while recording alone; how many bytes were written."""
        count: int = governed_call(self._layer, "fs.write", _write, os.fspath(path), data)
        return count


class Response(NamedTuple):
    """What a server answered.

    Attributes:
        status: of HTTP, 200 and the like; of an error too.
        headers: name and value, in their order.
        body: its bytes.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Net(_Asked):
    """``run.effects.net``: whole requests."""

    def fetch(
        self,
        url: str,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float = 30.0,
    ) -> Response:
        """Ask a server by HTTP: GET, or POST with data; ``timeout`` in seconds.

        Raises:
            OSError: no answer came (``urllib.error.URLError``); in replay the same.
        """
        import urllib.error  # noqa: F401  (loaded, so that its exceptions can be raised again)

        asked = (url, data, dict(headers or {}), timeout)
        return Response(*governed_call(self._layer, "net.fetch", _fetch, *asked))


class Finished(NamedTuple):
    """How a process ended.

    Attributes:
        code: its exit code; below zero the signal that ended it.
        out: what it wrote to standard output.
        err: what it wrote to standard error.
    """

    code: int
    out: bytes
    err: bytes


class Processes(_Asked):
    """``run.effects.process``: whole processes."""

    def run(self, command: Sequence[str], input: bytes = b"") -> Finished:  # noqa: A002  (as subprocess has it)
        """Run a command to its end, without a shell.

        Raises:
            OSError: it could not be started; in replay the same.
        """
        ended = governed_call(self._layer, "process.run", _run, list(command), input)
        return Finished(*ended)


class Stdin(_Asked):
    """``run.effects.stdin``: what is typed or piped in."""

    def read(self) -> str:
        """Read the rest of standard input."""
        found: str = governed_call(self._layer, "stdin.read", sys.stdin.read)
        return found

    def line(self) -> str:
        """Read the next line with its end; return an empty text after the last."""
        found: str = governed_call(self._layer, "stdin.line", sys.stdin.readline)
        return found


def _names(folder: str) -> list[str]:
    return sorted(os.listdir(folder))  # noqa: PTH208  (by text, as it was asked)


def _read(path: str) -> bytes:
    return Path(path).read_bytes()


def _write(path: str, data: bytes) -> int:
    return Path(path).write_bytes(data)


def _run(command: list[str], data: bytes) -> tuple[int, bytes, bytes]:
    ended = subprocess.run(command, input=data, capture_output=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


def _fetch(
    url: str, data: bytes | None, headers: dict[str, str], timeout: float
) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, data=data, headers=headers), timeout=timeout) as answer:  # noqa: S310
            return answer.status, tuple(answer.headers.items()), answer.read()
    except HTTPError as answer:
        return answer.code, tuple(answer.headers.items()), answer.read()
