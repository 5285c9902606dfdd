"""Programs that touch files by C code: recorded and verified, with a look at what is left behind."""

from __future__ import annotations

import os
import select
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import twice
from programs import HANGS_AFTER_S, environ, write
from twice.replayer.verification import Verification
from twice.replayer.verify import verify

"""Seconds after which a process counts as one that never ends."""

C = """
    import ctypes, errno, os, sys, twice
    from pathlib import Path

    HERE = str(Path(__file__).parent)
    LIBC = ctypes.CDLL(None, use_errno=True)
    LIBC.mmap.restype = ctypes.c_void_p
    LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    LIBC.msync.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    LIBC.lseek.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int]
    LIBC.pread.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
    LIBC.pwrite.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
    NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC

    def c_path(name):
        return os.path.join(os.fsencode(HERE), os.fsencode(name))

    def c_open(name, flags=os.O_RDONLY):
        return LIBC.open(c_path(name), flags, 0o644)

    def c_get(descriptor, size=1 << 16):
        held = ctypes.create_string_buffer(size)
        count = LIBC.read(descriptor, held, size)
        return held.raw[:max(count, 0)]

    def c_put(descriptor, data):
        return LIBC.write(descriptor, data, len(data))

    def c_write(name, data, flags=NEW):
        descriptor = c_open(name, flags)
        assert descriptor >= 0, (name, ctypes.get_errno())
        assert c_put(descriptor, data) == len(data)
        LIBC.close(descriptor)

    def c_read(name, size=1 << 16):
        descriptor = c_open(name)
        if descriptor < 0:
            return None
        data = c_get(descriptor, size)
        LIBC.close(descriptor)
        return data

    def c_error(result):
        return errno.errorcode[ctypes.get_errno()] if result < 0 else 'none'
"""


def write_program(folder: Path, body: str) -> str:
    """Write a program whose main has this body; return its name for ``record``."""
    lines = "".join(f"        {line}\n" for line in body.strip("\n").splitlines())
    # Bytecode of the program would be new in the folder after the first execution.
    (folder / "__pycache__").mkdir(exist_ok=True)
    return write(folder, f"{C}\n    def main(run):\n{lines}")


def record(folder: Path, body: str, **options: Any) -> Path:
    """Record a program whose main has this body to its end; return the record's path."""
    options = {"seed": 1, "out": folder / "a.twice", "allow": ("native",), **options}
    with twice.record(write_program(folder, body), **options) as made:
        assert made.ending is not None
        assert made.ending["how"] == "completed", made.ending
        return made.path


def verify_untouched(path: Path) -> Verification:
    """Verify a record, and require that nothing in its folder changes."""
    with assert_untouched(path.parent):
        return verify(path)


@contextmanager
def assert_untouched(folder: Path) -> Iterator[None]:
    """Require that nothing below a folder is changed while the block runs."""
    before = list_tree(folder)
    yield
    assert list_tree(folder) == before


def list_tree(folder: Path) -> dict[bytes, tuple[object, ...]]:
    """Return every file below a folder, however deep: kind, times, number of names and content."""
    found: dict[bytes, tuple[object, ...]] = {}
    for root, folders, files, descriptor in os.fwalk(os.fsencode(folder)):
        for name in (*folders, *files):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            is_folder = stat.S_ISDIR(status.st_mode)
            found[os.path.join(root, name)] = (
                status.st_mode, status.st_ino, status.st_nlink, status.st_size,
                0 if is_folder else status.st_mtime_ns, _content(name, descriptor, status),
            )  # fmt: skip
    return found


def _content(name: bytes, folder: int, status: os.stat_result) -> bytes:
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(name, dir_fd=folder)
    if not stat.S_ISREG(status.st_mode) or status.st_size > 1 << 24:
        return b""
    with open(os.open(name, os.O_RDONLY | os.O_NOATIME, dir_fd=folder), "rb") as file:
        return file.read()


def run_cli(
    *arguments: object, cwd: Path | None = None, env: dict[str, str | None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own; fail where it hangs."""
    command = [sys.executable, "-m", "twice", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="surrogateescape",
        cwd=cwd, env=environ(env),
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=HANGS_AFTER_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            out, err = process.communicate(timeout=HANGS_AFTER_S)
            pytest.fail(
                f"twice {arguments[0]} hangs; when it was terminated it said {out!r}, {err!r}"
            )
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def run_with_mounts(
    script: str, *arguments: object, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a shell script where it may mount; what it mounts is gone with it.

    Args:
        script: ``$1`` and so on are the arguments, ``twice`` is the command line.
        arguments: of the script.
        cwd: folder to run it in.
    """
    command = ["unshare", "--mount", *(() if not os.geteuid() else ("--map-root-user",))]
    twice_command = f'twice() {{ "{sys.executable}" -m twice "$@"; }}\n'
    return subprocess.run(
        [*command, "/bin/sh", "-c", f"set -e\n{twice_command}{script}", "sh", *map(str, arguments)],
        capture_output=True, text=True, cwd=cwd, env=environ(), timeout=HANGS_AFTER_S, check=False,
    )  # fmt: skip


def can_mount() -> bool:
    """Return whether this system lets these tests mount memory in a namespace."""
    with suppress(OSError):
        return run_with_mounts("mount -t tmpfs none /mnt").returncode == 0
    return False


def find_processes(folder: Path) -> list[str]:
    """Return other processes whose folder for temporary files is this one and that do not end."""
    mark = os.fsencode(f"TMPDIR={folder}")
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with suppress(OSError):
            variables = Path("/proc", name, "environ").read_bytes().split(b"\0")
            if mark in variables and not _has_ended(int(name)):
                found.append(f"{name}: {Path('/proc', name, 'cmdline').read_bytes()!r}")
    return found


def _has_ended(process: int) -> bool:
    """Return whether a process ends by itself before it counts as hanging."""
    ended = os.pidfd_open(process)
    try:
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        return bool(poll.poll(HANGS_AFTER_S * 1000))
    finally:
        os.close(ended)
