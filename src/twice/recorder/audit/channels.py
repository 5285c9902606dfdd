"""The audit events by which a program reaches the world beside the effects layer, and whose code raised one.

There is one entry for each event by which a program could learn something, or leave something in the world.

Not covered: operations that raise no event. ``native_sockets.py`` looks for C code that makes system calls by itself.

Invariant: an entry looks at its arguments alone, and a line of code that is named is the user's, never a library's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from sys import _getframe
from types import FrameType
from typing import Any, Literal

from twice.foundation import source_files
from twice.foundation.dataclass import dataclass

_getpid = os.getpid  # The real one: bound before anything is patched.
_WIDTH = 120

Wording = Callable[[tuple[Any, ...]], str | None]
"""Puts an event's arguments into words; None when the operation is innocent."""
Innocence = Callable[[tuple[Any, ...]], object]


@dataclass(frozen=True)
class BackChannel:
    """One way out."""

    source: str  # its name in the inventory
    why: str  # what makes it unsupported
    remedy: str  # what to do about it
    users_only: bool = False  # only the user's own code is meant: libraries do it when they load


def _describe(name: str, shown: tuple[int, ...], is_innocent: Innocence | None = None) -> Wording:
    def describe(args: tuple[Any, ...]) -> str | None:
        if is_innocent is not None and is_innocent(args):
            return None
        return f"{name}({', '.join(_shorten(args[at]) for at in shown if at < len(args))})"

    return describe


def _shorten(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  (somebody's __repr__)
        return f"<{type(value).__name__}>"
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


def _needs_no_server(args: tuple[Any, ...]) -> bool:
    """Return whether a host is an address already, so that no name server is asked."""
    from ipaddress import ip_address

    host = args[0].decode("latin-1") if isinstance(args[0], bytes) else args[0]
    if host is None or isinstance(host, tuple):  # a tuple is of getnameinfo, which does ask
        return host is None
    try:
        ip_address(str(host).partition("%")[0])
    except ValueError:
        return host in ("", "localhost")
    return True


def _describe_database(args: tuple[Any, ...]) -> str | None:
    name = args[0]
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
    in_memory = text in ("", ":memory:") or text.startswith("file::memory:")
    return None if in_memory else f"sqlite3.connect({_shorten(text)})"


_SHOWN_AS = {
    "twice.listen": "socket.listen",
    "twice.accept": "socket.accept",
    "twice.spawn": "multiprocessing.spawn",
    "mmap.__new__": "mmap.mmap",
}
"""Events whose name is not that of the function; those of ``twice`` are raised by sources that replace one."""


def _list_rows(
    channel: BackChannel, *events: str, shown: tuple[int, ...] = (), unless: Innocence | None = None
) -> dict[str, tuple[BackChannel, Wording]]:
    return {
        event: (channel, _describe(_SHOWN_AS.get(event, event), shown, unless)) for event in events
    }


LISTEN, CONNECT, SEND = "network.listen", "network.connect", "network.send"
_EFFECT = "put the call into a function and declare it: @twice.effect"
_SERVICE = (
    "record the application at its boundary: twice.integrations.wsgi, twice.integrations.asgi"
)
_DATABASE = "connect by twice.integrations.dbapi.connect, which is recorded"
_NETWORK = "a connection that the effects layer did not make is not recorded"
_SUBPROCESS = "start it with subprocess.run, which is recorded"
_CHILD = "what a process of the program's own does is not recorded"
_BESIDE = (
    "by a function that stands in no place where programs are recorded, as those of posix and _io"
)
_SEND = BackChannel(SEND, _NETWORK, _EFFECT)
_RESOLVE = BackChannel("network.resolve", "what a name resolves to here is not recorded", _EFFECT)
_FORK = BackChannel("process.fork", _CHILD, "use a thread, or @twice.effect around all of it")
_EXEC = BackChannel("process.exec", "another program takes the place of this one", _SUBPROCESS)
_SPAWN = BackChannel("process.spawn", _CHILD, _SUBPROCESS)
_SIGNAL = BackChannel("process.signal", "what another process makes of it is not recorded", _EFFECT)
_SQLITE = BackChannel("files.sqlite3", "what a database on disk holds is not recorded", _DATABASE)
_LOG = BackChannel("system.log", "what is written to the system's log leaves the run", _EFFECT)
_NATIVE = BackChannel(
    "native.load", "C code that is called by hand reads and writes the world unseen", _EFFECT, users_only=True
)  # fmt: skip
_MMAP = BackChannel(
    "files.mmap",
    "what a mapped file holds, and when it changes, is not recorded",
    "read the file instead",
    users_only=True,
)
_CHANGE = BackChannel(
    "files.change", f"files are changed {_BESIDE}", "call the function of os", users_only=True
)
# Governed changes of files are made by the effects layer, never by the program's own code.
CHANGED_BESIDE = {
    **_list_rows(
        _CHANGE, "os.mkdir", "os.rmdir", "os.remove", "os.truncate", "os.chmod", "os.chown", "os.utime",
        "os.setxattr", "os.removexattr", shown=(0,),
    ),
    **_list_rows(_CHANGE, "os.rename", "os.link", "os.symlink", shown=(0, 1)),
}  # fmt: skip
BACK_CHANNELS: dict[str, tuple[BackChannel, Wording]] = {
    **_list_rows(BackChannel(CONNECT, _NETWORK, _EFFECT), "socket.connect", shown=(1,)),
    **_list_rows(
        BackChannel(LISTEN, "who connects to the program is not recorded", _SERVICE),
        "socket.bind", "twice.listen", shown=(1,),
    ),
    **_list_rows(
        BackChannel("network.accept", "somebody outside of the run connected to it", _SERVICE),
        "twice.accept", shown=(1,),
    ),
    # On a connected socket they have no address: the event of its connecting was seen.
    **_list_rows(
        _SEND, "socket.sendto", "socket.sendmsg", shown=(1,), unless=lambda args: args[1] is None
    ),
    **_list_rows(
        _RESOLVE, "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo",
        shown=(0,), unless=_needs_no_server,
    ),
    **_list_rows(_FORK, "os.fork", "os.forkpty"),
    **_list_rows(_EXEC, "os.exec", shown=(0, 1)),
    **_list_rows(_SPAWN, "os.posix_spawn", shown=(0, 1)),
    **_list_rows(_SPAWN, "os.spawn", shown=(1, 2)),
    **_list_rows(_SPAWN, "twice.spawn", shown=(1,)),
    **_list_rows(_SIGNAL, "os.kill", shown=(0, 1), unless=lambda args: args[0] == _getpid()),
    **_list_rows(_SIGNAL, "os.killpg", shown=(0, 1)),
    **_list_rows(_NATIVE, "ctypes.dlopen", shown=(0,)),
    **_list_rows(_MMAP, "mmap.__new__", shown=(0, 1), unless=lambda args: args[0] == -1),
    "sqlite3.connect": (_SQLITE, _describe_database),
    **_list_rows(_LOG, "syslog.syslog", shown=(1,)),
    **CHANGED_BESIDE,
}  # fmt: skip
"""By event: the back channel that it is, and how the event is described."""

# What raises no event, or one that says too little; ``hook.py`` meets them in other ways.
NATIVE_SOCKET = BackChannel(
    "network.descriptor",
    "a socket appeared that no Python code made",
    "put the call that makes it into a function and declare it: @twice.effect",
)
PIPE = BackChannel(
    "process.descriptor",
    "what goes through the descriptor of a process's pipe is not recorded, and a replay has no such pipe",
    "read the pipe itself, or use communicate()",
)
STARTED = BackChannel("process.start", "a process that a library starts is not recorded", _EFFECT)

_DEVICES = ("/dev/", "/proc/", "/sys/")
_HARMLESS = ("/dev/null", "/dev/zero", "/dev/full", "/dev/fd/", "/dev/std", "/dev/tty")
_ENTROPY_FILES = ("/dev/urandom", "/dev/random", "/dev/hwrng", "/proc/sys/kernel/random/")
_DEVICE = BackChannel(
    "files.device", "what a device or the kernel's own files say is not recorded", _EFFECT, users_only=True
)  # fmt: skip
_ENTROPY = BackChannel(
    "entropy.device", "bytes of a device of entropy are not recorded", "read os.urandom, which is", users_only=True
)  # fmt: skip
_OPENED_BESIDE = BackChannel(
    "files.open",
    f"a file is opened {_BESIDE}, or by io.FileIO itself",
    "open it with open() or os.open()",
    users_only=True,
)
describe_open = _describe("open", (0,))


def find_open_channel(path: object, flags: int, frame: FrameType) -> BackChannel | None:
    """Return the back channel that opening a path is; None for a plain file, and for one of the file source."""
    if not isinstance(path, str | bytes | os.PathLike):
        return None
    name = path if isinstance(path, str) else os.fsdecode(path)
    is_device = name.startswith(_DEVICES)
    if is_device and not flags & 3 and not name.startswith(_HARMLESS):  # for reading
        return _ENTROPY if name.startswith(_ENTROPY_FILES) else _DEVICE
    if not is_users(frame) or is_device or name.endswith(".pyc"):
        return None
    return _OPENED_BESIDE if source_files.is_user_file(name) else None


_Owner = Literal["session", "user", "package", "library"]
_Code = Literal["user", "package", "session", "carrier", "import", "library"]

_PACKAGE = str(Path(source_files.__file__).parents[1]) + os.sep
_INSTALLED = f"{os.sep}site-packages{os.sep}"
# Files of ours that only carry the program's code: what runs under them is the program's.
_CARRYING = tuple(
    _PACKAGE + name.replace("/", os.sep)
    for name in (
        "recorder/effects/actors.py",
        "recorder/effects/environment.py",
        "recorder/effects/files/open_functions.py",
        "recorder/effects/lineage.py",
        "recorder/effects/network/within_run.py",
        "recorder/effects/sqlite.py",
        "recorder/execution.py",
        "recorder/imports.py",
        "recorder/interrupts.py",
        "recorder/session.py",
        "recorder/program.py",
        "recorder/run.py",
        "recorder/audit/",
        "recorder/compare_points.py",
        "diagnosis/tracing/",
    )
)
_codes: dict[str, _Code] = {}


def find_owner(frame: FrameType | None) -> tuple[_Owner, str]:
    """Return who makes the operation under a frame, and the first line of the user's code above it, or "".

    The owner is that of the first code that is not the standard library's. Code of the effects layer and of the record
    makes its operations for the session: they are recorded already, or none of the program's. Importing is a wall: what
    the standard library does while it is imported is its own.
    """
    owner: _Owner | None = None
    while frame is not None:
        code = _classify(frame.f_code.co_filename)
        if code == "user":
            return owner or "user", f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if owner is None:
            if code == "session":
                return "session", ""
            if code == "package":
                owner = "package"
            elif code == "import":
                owner = "library"
        frame = frame.f_back
    return owner or "library", ""


def is_users(frame: FrameType) -> bool:
    """Return whether a frame is the user's own code, so that C code acts for the user directly."""
    return _classify(frame.f_code.co_filename) == "user"


def find_user_frame() -> FrameType | None:
    """Return the innermost frame of the user's code that this thread runs, or None if it runs none."""
    frame: FrameType | None = _getframe(1)
    while frame is not None and not is_users(frame):
        frame = frame.f_back
    return frame


def user_line() -> str:
    """Return the line of the user's code that this thread runs, or an empty text if it runs none."""
    frame = find_user_frame()
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _classify(filename: str) -> _Code:
    code = _codes.get(filename)
    if code is None:
        if filename.startswith("<frozen importlib"):
            code = "import"
        elif source_files.is_ours(filename):
            code = "carrier" if filename.startswith(_CARRYING) else "session"
        elif source_files.is_user_file(filename):
            code = "user"
        else:
            code = "package" if _INSTALLED in filename else "library"
        _codes[filename] = code
    return code
