"""Streams whose every call is one question to the layer: pipes of processes, standard input.

A call of the program (``readline()``, ``read(10)``) is asked and answered whole, not the block that
a buffer underneath would fetch: a run that starts at a snapshot finds no half-read buffer missing.
Iteration, ``readlines``, ``readinto`` and ``writelines`` are made of these calls by ``io`` itself.

Not for: descriptors. What a program does with ``fileno()`` is not governed: a pipe tells it while recording, and the
run cannot pass then.

Invariant: a stream holds no data; the world or the record does.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

Ask = Callable[[str, Any], Any]
"""Called with the method that the program called (``buffer.`` before it on a text stream's bytes)
and its size or its data; gives what the method returns."""


class _Asking(io.IOBase):
    """What all four kinds share."""

    _closed = False

    def __init__(
        self,
        ask: Ask,
        closing: Callable[[], None],
        *,
        behind: Callable[[], Any] = lambda: None,
        on_descriptor: Callable[[], None] = lambda: None,
        encoding: str = "",
        within: str = "",
    ) -> None:
        self.behind, self._on_descriptor = behind, on_descriptor
        self._ask, self._closing, self._within = ask, closing, within
        self._encoding = encoding

    @property
    def closed(self) -> bool:
        """Return whether the program closed it."""
        return self._closed

    def close(self) -> None:
        """Close it here, and in the world where there is one."""
        if not self._closed:
            self._closed = True
            self._closing()

    def fileno(self) -> int:
        """Return the descriptor of the file behind it.

        Raises:
            SealBroken: E-SEAL-001, in a sealed replay.
            UnsupportedOperation: where nothing stands behind it.
        """
        self._on_descriptor()
        real = self.behind()
        if real is None:
            raise io.UnsupportedOperation("fileno")
        return int(real.fileno())

    def ended(self) -> None:
        """Mark the stream as closed: somebody else closed the file behind it."""
        self._closed = True

    def __del__(self) -> None:
        """Do nothing: the end of an object must not show, and the file behind it closes by itself."""

    def _asked(self, method: str, with_: Any) -> Any:
        if self._closed:
            raise ValueError("I/O operation on closed file.")
        return self._ask(self._within + method, with_)


class _Reading(_Asking):
    def readable(self) -> bool:
        """Return True: the stream is read."""
        return True

    def read(self, size: int | None = -1, /) -> Any:
        """Read as the real stream does."""
        return self._asked("read", -1 if size is None else int(size))

    def readline(self, size: int | None = -1, /) -> Any:
        """Read a line as the real stream does."""
        return self._asked("readline", -1 if size is None else int(size))


class _Writing(_Asking):
    def writable(self) -> bool:
        """Return True: the stream is written."""
        return True

    def write(self, data: Any, /) -> int:
        """Write as the real stream does."""
        return int(self._asked("write", data if isinstance(data, str) else bytes(data)))

    def flush(self) -> None:
        """Flush as the real stream does."""
        self._asked("flush", None)

    def close(self) -> None:
        """Close it, and record the error of a broken pipe, too."""
        if not self._closed:
            self._closed = True
            self._ask(self._within + "close", None)


class _Text:
    """What text streams have besides."""

    _ask: Ask
    _closing: Callable[[], None]
    _encoding: str
    _bytes: type[BinaryReader | BinaryWriter]

    @property
    def encoding(self) -> str:
        """Its encoding."""
        return self._encoding

    @property
    def buffer(self) -> Any:
        """Its bytes."""
        return self._bytes(self._ask, self._closing, within="buffer.")


class BinaryReader(_Reading, io.BufferedIOBase):
    """Bytes to read."""

    def read1(self, size: int = -1, /) -> Any:
        """Read as the real stream does."""
        return self._asked("read1", int(size))

    def peek(self, size: int = 0, /) -> Any:
        """Peek as the real stream does."""
        return self._asked("peek", int(size))


class BinaryWriter(_Writing, io.BufferedIOBase):
    """Bytes to write."""


class TextReader(_Text, _Reading, io.TextIOBase):  # type: ignore[override]  # io's is no attribute one could set
    """Text to read."""

    _bytes = BinaryReader


class TextWriter(_Text, _Writing, io.TextIOBase):  # type: ignore[override]  # io's is no attribute one could set
    """Text to write."""

    _bytes = BinaryWriter
