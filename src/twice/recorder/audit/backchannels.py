"""Which audit events reach the world beside the effects layer, what they are called, what to do.

One entry for each event of the interpreter that a program could learn something by, or leave something
in the world with. An entry puts the event's arguments into words, or finds it innocent: a process that
signals itself, a map of memory that is no file's.

Not covered: what raises no event. C code that makes system calls by itself is looked for in another way
(``descriptors.py``, ``clientlibraries.py``).

Invariant: an entry looks at its arguments alone; whose the operation is, others decide.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from twice.foundation.dataclass import dataclass
from twice.recorder.user_code import is_user_file

_getpid = os.getpid  # The real one: bound before anything is patched.
_WIDTH = 120


Words = Callable[[tuple[Any, ...]], str | None]
"""Puts an event's arguments into words; None when the operation is innocent."""


@dataclass(frozen=True)
class BackChannel:
    """One way out.

    Attributes:
        source: its name in the inventory.
        why: what makes it unsupported.
        remedy: what to do about it.
        users_only: whether only the user's own code is meant; libraries do it when they are loaded.
    """

    source: str
    why: str
    remedy: str
    users_only: bool = False


_EFFECT = "put the call into a function and declare it: @twice.effect"
_SERVICE = (
    "record the application at its boundary: twice.integrations.wsgi, twice.integrations.asgi"
)
_DATABASE = "connect by twice.integrations.dbapi.connect, which is recorded"
_NETWORK = "a connection that the effects layer did not make is not recorded"
_SUBPROCESS = "start it with subprocess.run, which is recorded"
_CHILD = "what a process of the program's own does is not recorded"


def _network(name: str) -> Words:
    return lambda args: f"socket.{name}({short(args[1])})"


def _addressed(name: str) -> Words:
    """Describe sending only on an unconnected socket: on a connected one, connecting was seen."""
    return lambda args: None if args[1] is None else f"socket.{name}({short(args[1])})"


def _resolving(name: str) -> Words:
    def words(args: tuple[Any, ...]) -> str | None:
        host = args[0]
        if host is None or _is_number(host):
            return None
        return f"socket.{name}({short(host)})"

    return words


def _is_number(host: object) -> bool:
    """Return whether a host is an address already, so that no name server is asked."""
    from ipaddress import ip_address

    if isinstance(host, bytes):
        host = host.decode("latin-1")
    if isinstance(host, tuple):  # of getnameinfo
        return False
    try:
        ip_address(str(host).partition("%")[0])
    except ValueError:
        return host in ("", "localhost")
    return True


def _plain(name: str, *positions: int) -> Words:
    def words(args: tuple[Any, ...]) -> str:
        told = ", ".join(short(args[at]) for at in positions if at < len(args))
        return f"{name}({told})"

    return words


def _kill(args: tuple[Any, ...]) -> str | None:
    return None if args[0] == _getpid() else f"os.kill({args[0]}, {args[1]})"


def _mapped(args: tuple[Any, ...]) -> str | None:
    return None if args[0] == -1 else f"mmap.mmap({args[0]}, {args[1]})"


def _database(args: tuple[Any, ...]) -> str | None:
    name = args[0]
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
    if text in ("", ":memory:") or text.startswith("file::memory:"):
        return None
    return f"sqlite3.connect({short(text)})"


def short(value: object) -> str:
    """Return a value as text, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  (somebody's __repr__)
        return f"<{type(value).__name__}>"
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


LISTEN, ACCEPT, CONNECT = "network.listen", "network.accept", "network.connect"
_RESOLVERS = ("getaddrinfo", "gethostbyname", "gethostbyaddr", "getnameinfo")
_ENTRIES: list[tuple[dict[str, Words], BackChannel]] = [
    (
        {"socket.connect": _network("connect")},
        BackChannel(CONNECT, _NETWORK, _EFFECT),
    ),
    (
        {"socket.bind": _network("bind"), "twice.listen": _network("listen")},
        BackChannel(LISTEN, "who connects to the program is not recorded", _SERVICE),
    ),
    (
        {"twice.accept": _network("accept")},
        BackChannel(ACCEPT, "somebody outside of the run connected to it", _SERVICE),
    ),
    (
        {"socket.sendto": _addressed("sendto"), "socket.sendmsg": _addressed("sendmsg")},
        BackChannel("network.send", _NETWORK, _EFFECT),
    ),
    (
        {f"socket.{name}": _resolving(name) for name in _RESOLVERS},
        BackChannel("network.resolve", "what a name resolves to here is not recorded", _EFFECT),
    ),
    (
        {"os.fork": _plain("os.fork"), "os.forkpty": _plain("os.forkpty")},
        BackChannel("process.fork", _CHILD, "use a thread, or @twice.effect around all of it"),
    ),
    (
        {"os.exec": _plain("os.exec", 0, 1)},
        BackChannel("process.exec", "another program takes the place of this one", _SUBPROCESS),
    ),
    (
        {
            "os.posix_spawn": _plain("os.posix_spawn", 0, 1),
            "os.spawn": _plain("os.spawn", 1, 2),
            "twice.spawn": _plain("multiprocessing.spawn", 1),
        },
        BackChannel("process.spawn", _CHILD, _SUBPROCESS),
    ),
    (
        {"os.kill": _kill, "os.killpg": _plain("os.killpg", 0, 1)},
        BackChannel("process.signal", "what another process makes of it is not recorded", _EFFECT),
    ),
    (
        {"ctypes.dlopen": _plain("ctypes.dlopen", 0)},
        BackChannel(
            "native.load",
            "C code that is called by hand reads and writes the world unseen",
            _EFFECT,
            users_only=True,
        ),
    ),
    (
        {"mmap.__new__": _mapped},
        BackChannel(
            "files.mmap",
            "what a mapped file holds, and when it changes, is not recorded",
            "read the file instead",
            users_only=True,
        ),
    ),
    (
        {"sqlite3.connect": _database},
        BackChannel("files.sqlite3", "what a database on disk holds is not recorded", _DATABASE),
    ),
    (
        {"syslog.syslog": _plain("syslog.syslog", 1)},
        BackChannel("system.log", "what is written to the system's log leaves the run", _EFFECT),
    ),
]
_ONE_PATH = (
    "mkdir",
    "rmdir",
    "remove",
    "truncate",
    "chmod",
    "chown",
    "utime",
    "setxattr",
    "removexattr",
)
_TWO_PATHS = ("rename", "link", "symlink")
_BESIDE = (
    "by a function that stands in no place where programs are recorded, as those of posix and _io"
)
_CHANGE = BackChannel(
    "files.change", f"files are changed {_BESIDE}", "call the function of os", users_only=True
)
OPENED_BESIDE = BackChannel(
    "files.open",
    f"a file is opened {_BESIDE}, or by io.FileIO itself",
    "open it with open() or os.open()",
    users_only=True,
)
CHANGED_BESIDE: dict[str, Words] = {
    **{f"os.{name}": _plain(f"os.{name}", 0) for name in _ONE_PATH},
    **{f"os.{name}": _plain(f"os.{name}", 0, 1) for name in _TWO_PATHS},
}
"""Changes of files, by event; governed ones are made by the effects layer, never by the program's own code."""
_ENTRIES.append((CHANGED_BESIDE, _CHANGE))
BACK_CHANNELS: dict[str, tuple[BackChannel, Words]] = {
    event: (channel, words) for events, channel in _ENTRIES for event, words in events.items()
}


_ENTROPY_FILES = ("/dev/urandom", "/dev/random", "/dev/hwrng", "/proc/sys/kernel/random/")
_DEVICES = ("/dev/", "/proc/", "/sys/")
_HARMLESS = ("/dev/null", "/dev/zero", "/dev/full", "/dev/fd/", "/dev/std", "/dev/tty")

_DEVICE = BackChannel(
    "files.device",
    "what a device or the kernel's own files say is not recorded",
    _EFFECT,
    users_only=True,
)
_ENTROPY = BackChannel(
    "entropy.device",
    "bytes of a device of entropy are not recorded",
    "read os.urandom, which is",
    users_only=True,
)


said_to_open = _plain("open", 0)


def is_input(path: object) -> bool:
    """Return whether a path is one of the program's files, as the file source sees it."""
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, str | bytes):
        return False
    name = os.fsdecode(path)
    return is_user_file(name) and not name.startswith(_DEVICES) and not name.endswith(".pyc")


def opened(path: object) -> BackChannel | None:
    """Return the back channel that opening a path for reading is; None for a plain file."""
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not isinstance(path, str) or not path.startswith(_DEVICES) or path.startswith(_HARMLESS):
        return None
    return _ENTROPY if path.startswith(_ENTROPY_FILES) else _DEVICE
