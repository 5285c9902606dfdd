"""What a program asks for when it starts a process: in plain values that a replay compares, and where output goes.

A replay starts no process, and yet the run's output is compared. So a process that would share
descriptor 1 or 2 is given a file in its place; the file's content when the process has ended is
part of what the program learned, and is printed then.

Not for: what a process that outlives its parent (a daemon) prints after that.

Invariant: a secret that is known counts as blanked, so that a replay without it asks the same.
"""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from twice.foundation.digests import Algorithm, digest_value
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.kernel.paths import escape_path
from twice.worker.process import NESTED

STREAMS = ("stdin", "stdout", "stderr")
_DIGEST_DIGITS, _STDERR = 16, 2
_readlink = os.readlink  # the real one: bound before anything is patched
_CONNECTIONS = {
    None: "shared", subprocess.PIPE: "pipe", subprocess.STDOUT: "stdout", subprocess.DEVNULL: "nothing",
}  # fmt: skip
_NUMBERS = count()


def describe_request(layer: EffectLayer, options: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments that a process is started with, in plain values."""
    command, variables = options["args"], options["env"]
    whole = isinstance(command, str | bytes | os.PathLike)
    words = describe_word(command) if whole else tuple(map(describe_word, command))
    return (
        layer.redaction.command(words),
        describe_word(options["executable"]),
        bool(options["shell"]),
        describe_word(options["cwd"]),
        summarise_inherited(layer) if variables is None else _summarise_variables(layer, variables),
        # A descriptor is a number too; an open file may have no hash.
        *(
            _CONNECTIONS.get(one, "file") if isinstance(one, int | None) else "file"
            for one in map(options.get, STREAMS)
        ),
    )


def summarise_inherited(layer: EffectLayer) -> tuple[str, ...] | None:
    """Return ``NAME=digest`` of variables that the program set and a process inherits; None for none."""
    return _summarise_variables(layer, layer.own_variables()) or None


def _summarise_variables(layer: EffectLayer, variables: Mapping[Any, Any]) -> tuple[str, ...]:
    found = []
    for name, value in variables.items():
        plain = layer.redaction.digestible(escape_path(os.fsdecode(value)))
        digest = digest_value(plain, Algorithm.BLAKE3).raw.hex()[:_DIGEST_DIGITS]
        found.append(f"{escape_path(os.fsdecode(name))}={digest}")
    return tuple(sorted(found))


def describe_word(word: Any) -> Any:
    """Return one word of a command as a record keeps it; the path of this Python is ``{python}``."""
    path = os.fspath(word) if isinstance(word, os.PathLike) else word
    if path is not None and path == sys.executable:
        return "{python}"
    return escape_path(path) if isinstance(path, str) else path


def digest_input(layer: EffectLayer, data: Any) -> str | None:
    """Return the digest of a program's input to a process; None for none."""
    if data is None:
        return None
    plain = layer.redaction.digestible(data if isinstance(data, str) else bytes(data))
    return str(digest_value(plain, Algorithm.BLAKE3))


def find_real_pipes(options: dict[str, Any]) -> dict[str, Any]:
    """Return the real pipes, where the program passes one process's pipe to another."""
    behind = {name: getattr(options[name], "behind", lambda: None)() for name in STREAMS}
    return {name: pipe for name, pipe in behind.items() if pipe is not None}


def list_descriptors(options: dict[str, Any]) -> list[int]:
    """Return the program's own descriptors that a process is started with."""
    found = [*options["pass_fds"]]
    for name in STREAMS:
        with suppress(AttributeError, OSError, ValueError):
            stream = options[name]
            if not hasattr(stream, "behind"):  # it would be a pipe of another process of the run
                found.append(stream if isinstance(stream, int) else stream.fileno())
    return found


class InheritedOutput:
    """Files for the run's own descriptors that a process would share; their bytes are taken once."""

    def __init__(self, options: dict[str, Any]) -> None:
        out, err = options["stdout"], options["stderr"]
        self._wanted = {"stdout": _find_descriptor(out, 1), "stderr": _find_descriptor(err, 2)}
        if err == subprocess.STDOUT:
            self._wanted["stderr"] = None
        self._files: dict[int, int] = {}

    def connect(self, options: dict[str, Any]) -> dict[str, Any]:
        """Replace the streams that a process would share by files of twice."""
        changed = dict(options)
        for name, descriptor in self._wanted.items():
            if descriptor is not None:
                if descriptor not in self._files:
                    self._files[descriptor] = _open_file()
                changed[name] = self._files[descriptor]
        return changed

    def read(self, *, ended: bool) -> tuple[bytes, bytes]:
        """Return its output on both streams once it has ended, and only once."""
        if not ended:
            return (b"", b"")
        files, self._files = self._files, {}
        return (_read_closing(files.get(1)), _read_closing(files.get(2)))

    def __del__(self) -> None:
        for file in self._files.values():
            os.close(file)


class GivenFiles:
    """Files of the program's that a process writes by their descriptors, which stay open until it has ended.

    The process moves the position from which the program writes on. A replay starts no process, and moves it to
    the end of the file.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        written = [each for each in list_descriptors(options) if _is_written_file(each)]
        self._sizes = {os.dup(each): os.fstat(each).st_size for each in written}

    def find_sizes(self) -> dict[str, int]:
        """Return where the files are that still have a name, with their sizes when the process started."""
        return {
            _readlink(f"/proc/self/fd/{copy}"): size
            for copy, size in self._sizes.items()
            if os.fstat(copy).st_nlink
        }

    def release(self, *, is_served: bool) -> None:
        """Close the descriptors; behind a process that is served, go on at the end."""
        copies, self._sizes = self._sizes, {}
        for copy in copies:
            if is_served:
                os.lseek(copy, 0, os.SEEK_END)
            os.close(copy)

    def __del__(self) -> None:
        for copy in self._sizes:
            os.close(copy)


def _is_written_file(descriptor: int) -> bool:
    """Return whether a descriptor, other than the run's own output, writes to a file on a disk."""
    if descriptor <= _STDERR:
        return False
    with suppress(OSError):
        access = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
        return stat.S_ISREG(os.fstat(descriptor).st_mode) and access != os.O_RDONLY
    return False


def _find_descriptor(target: Any, own: int) -> int | None:
    """Return which of the run's own descriptors is meant, or None for something else."""
    if target is None:
        return own
    if not isinstance(target, int):
        try:
            target = target.fileno()
        except (AttributeError, OSError, ValueError):
            return None
    return target if target in (1, 2) else None


def _open_file() -> int:
    """Open a file without a name that every writer appends to; draw no random name."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
    session = os.environ.get(NESTED)
    if session:
        Path(session).mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = session or os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  (it has no name a moment later)
    path = Path(folder, f"twice-{os.getpid()}-{next(_NUMBERS)}")
    file = os.open(path, flags, 0o600)
    path.unlink()
    return file


def _read_closing(file: int | None) -> bytes:
    if file is None:
        return b""
    try:
        return os.pread(file, os.fstat(file).st_size, 0)
    finally:
        os.close(file)
