"""Standard input, and streams whose every call is one question to the layer.

Covered: ``read``, ``readline``, ``readlines`` and iteration of ``sys.stdin``, the same of
``sys.stdin.buffer``, ``input()``, and ``sys.stdin.isatty()``; whoever asks, because there is only one
standard input and a library that reads it reads it for the program. ``getpass.getpass``, by the program or a library:
the record holds stars, as many as the typed text has bytes. Its prompt on standard error is written again in replay.

A call of the program (``readline()``, ``read(10)``) is asked and answered whole, not the block that
a buffer underneath would fetch: a run that starts at a snapshot finds no half-read buffer missing.
Iteration, ``readlines``, ``readinto`` and ``writelines`` are made of these calls by ``io`` itself. Pipes of processes
are such streams too. What a program does with their ``fileno()`` is not governed: a pipe tells it while recording,
and the run cannot pass then.

Not covered: descriptor 0 read by itself (``os.read(0)``, ``open(0)``), ``sys.__stdin__``, what a
process that the program starts reads from it, ``input()`` at a terminal in the user's own process, terminals that
are read in another way (``/dev/tty`` opened by hand, ``curses``).

Invariant: a stream holds no data; the world or the record does. In replay nothing is read from this process's input.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from operator import attrgetter
from sys import _getframe
from types import ModuleType
from typing import Any, TextIO, cast

from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.outcomes import RETURNED, Outcome, given, outcome_of
from twice.recorder.effects.patches import Patch

Ask = Callable[[str, Any], Any]
"""Called with the method that the program called (``buffer.`` before it on a text stream's bytes)
and its size or its data; gives what the method returns."""


class _Asking(io.IOBase):
    """The four kinds' common part."""

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
        return self._closed

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._closing()

    def fileno(self) -> int:
        self._on_descriptor()
        real = self.behind()
        if real is None:
            raise io.UnsupportedOperation("fileno")
        return int(real.fileno())

    def mark_ended(self) -> None:
        """Mark the stream as closed: somebody else closed the file behind it."""
        self._closed = True

    def __del__(self) -> None:
        """Do nothing: the end of an object must not show, and the file behind it closes by itself."""

    def _ask_open(self, method: str, with_: Any) -> Any:
        if self._closed:
            raise ValueError("I/O operation on closed file.")
        return self._ask(self._within + method, with_)


class _Reading(_Asking):
    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> Any:
        return self._ask_open("read", -1 if size is None else int(size))

    def readline(self, size: int | None = -1, /) -> Any:
        return self._ask_open("readline", -1 if size is None else int(size))


class _Writing(_Asking):
    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        return int(self._ask_open("write", data if isinstance(data, str) else bytes(data)))

    def flush(self) -> None:
        self._ask_open("flush", None)

    def close(self) -> None:
        """Close it, and record the error of a broken pipe, too."""
        if not self._closed:
            self._closed = True
            self._ask(self._within + "close", None)


class _Text:
    _ask: Ask
    _closing: Callable[[], None]
    _encoding: str
    _bytes: type[BinaryReader | BinaryWriter]

    @property
    def encoding(self) -> str:
        return self._encoding

    @property
    def buffer(self) -> Any:
        return self._bytes(self._ask, self._closing, within="buffer.")


class BinaryReader(_Reading, io.BufferedIOBase):
    """Bytes to read."""

    def read1(self, size: int = -1, /) -> Any:
        """Read as the real stream does."""
        return self._ask_open("read1", int(size))

    def peek(self, size: int = 0, /) -> Any:
        """Peek as the real stream does."""
        return self._ask_open("peek", int(size))


class BinaryWriter(_Writing, io.BufferedIOBase):
    """Bytes to write."""


class TextReader(_Text, _Reading, io.TextIOBase):  # type: ignore[override]  # io's is no attribute one could set
    """Text to read."""

    _bytes = BinaryReader


class TextWriter(_Text, _Writing, io.TextIOBase):  # type: ignore[override]  # io's is no attribute one could set
    """Text to write."""

    _bytes = BinaryWriter


class StandardInput(TextReader):
    """Stands for ``sys.stdin`` during a session: a layer answers its reads, in place of what stood there before."""

    mode = "r"

    def __init__(self, layer: EffectLayer, real: Any) -> None:
        self._layer, self._real = layer, real
        encoding = getattr(real, "encoding", None) or "utf-8"
        super().__init__(self._question, real.close, behind=lambda: real, encoding=encoding)

    @property
    def name(self) -> Any:
        """Its name."""
        return getattr(self._real, "name", "<stdin>")

    def isatty(self) -> bool:
        """Return whether it is a terminal, or was one when the run was recorded."""
        asker = _getframe(1).f_code
        return bool(self._layer.ask(ops.STDIN_ISATTY, self._real.isatty, asker))

    def _question(self, method: str, size: int) -> Any:
        def live() -> Outcome:
            return outside(outcome_of, attrgetter(method)(self._real), size)  # type: ignore[no-any-return]

        actor = self._layer.actor()
        if actor is None:
            self._layer.count_ungoverned(ops.STDIN_READ)
        return given(self._layer.read(actor, ops.STDIN_READ, live, (method, size)))


def patches(layer: EffectLayer) -> list[Patch]:
    """Return the patch of standard input for a session; nothing if the process has none."""
    if sys.stdin is None:  # a process may be started without one
        return []
    stand_in = StandardInput(layer, sys.stdin)
    return [Patch(sys, "stdin", stand_in, lambda stream: stream.isatty())]


def password_patches(layer: EffectLayer, module: ModuleType) -> list[Patch]:
    """Return the patches of ``getpass``, once it is loaded."""
    real = module.getpass

    def getpass(prompt: str = "Password: ", stream: Any = None, **options: Any) -> str:
        typed: list[Outcome] = []

        def live() -> object:
            errors = _Tee(sys.stderr)
            with redirect_stderr(cast(TextIO, errors)):
                outcome = outside(outcome_of, real, prompt, stream, **options)
            typed.append(outcome)
            if outcome[0] == RETURNED:
                outcome = (RETURNED, layer.redaction.hide_typed(outcome[1], ops.GETPASS.name))
            return (*outcome, errors.written)

        actor = layer.actor()
        if actor is None:
            layer.count_ungoverned(ops.GETPASS)
            return str(real(prompt, stream, **options))
        answer: Any = layer.read(actor, ops.GETPASS, live, str(prompt))
        *told, written = answer
        if not typed and written and sys.stderr is not None:
            sys.stderr.write(written)
        return str(given(typed[0] if typed else tuple(told)))

    return [Patch(module, "getpass", getpass)]


class _Tee:
    """Keeps what is written to a stream, and lets it through."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream, self.written = stream, ""

    def write(self, text: str) -> int:
        self.written += text
        return len(text) if self._stream is None else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
