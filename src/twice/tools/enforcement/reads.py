"""Which functions and which audit events read or change the world, and which need that is.

C functions are known by module and name, not by identity, so that a name bound early and one that a
recorded run has replaced are both seen. Functions of Python are known by their code.

Invariant: every need that is named here is one of ``needs.WORLD``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import date
from functools import partial
from opcode import opmap
from types import FrameType
from typing import Any, Final, NamedTuple

from twice.recorder.effects.layer import EffectLayer


class Read(NamedTuple):
    """One operation that reads or changes the world."""

    need: str
    words: str


_CLOCKS = [
    f"{name}{suffix}"
    for name in (
        "time",
        "monotonic",
        "perf_counter",
        "process_time",
        "thread_time",
        "clock_gettime",
    )
    for suffix in ("", "_ns")
]
_CLOCK_WITHOUT = {"localtime": 1, "gmtime": 1, "ctime": 1, "asctime": 1, "strftime": 2}
"""Functions of ``time`` that read the clock when they are given fewer arguments than this."""
_NOW = frozenset({"now", "utcnow", "today"})
_ENVIRONMENT = (
    "getcwd", "getcwdb", "getpid", "getppid", "getpgid", "getpgrp", "getsid", "uname", "cpu_count", "process_cpu_count",
    "sched_getaffinity", "getpriority", "getloadavg", "times", "getuid", "geteuid", "getresuid", "getgid", "getegid",
    "getresgid", "getlogin", "ctermid", "getgroups", "sysconf", "confstr", "statvfs", "umask", "get_terminal_size",
)  # fmt: skip
_DRAWS = frozenset({"random", "getrandbits"})
_OF_MODULES: Final = {
    "time": dict.fromkeys([*_CLOCKS, *_CLOCK_WITHOUT], "clock"),
    "posix": {
        **dict.fromkeys(_ENVIRONMENT, "environment"),
        "urandom": "entropy",
        "getrandom": "entropy",
    },
    "_uuid": {"generate_time_safe": "entropy"},
    "_ssl": {"RAND_bytes": "entropy"},
    "resource": {"getrusage": "clock", "getrlimit": "environment"},
    "_signal": {"getitimer": "clock", "setitimer": "clock"},
    "pwd": dict.fromkeys(("getpwuid", "getpwnam", "getpwall"), "environment"),
    "grp": dict.fromkeys(("getgrgid", "getgrnam", "getgrall"), "environment"),
    "gc": dict.fromkeys(("get_count", "get_stats"), "environment"),
    "sys": dict.fromkeys(("getrefcount", "getallocatedblocks"), "environment"),
}
_CALL = opmap.get("CALL", -1)
SUSPECTS: Final = frozenset(
    {*_NOW, *_DRAWS, *(name for names in _OF_MODULES.values() for name in names)}
)
"""Names of C functions that are worth a look."""


def c_read(function: Any, frame: FrameType) -> Read | None:
    """Return the read of a C function with a suspicious name, called from a frame, or None."""
    name, owner = function.__name__, getattr(function, "__self__", None)
    module = getattr(function, "__module__", None)
    if isinstance(module, str):
        need = _OF_MODULES.get(module, {}).get(name)
        if need is None:
            return None
        if enough := _CLOCK_WITHOUT.get(name):
            # The instruction says how many arguments there are; where it does not, the call counts as one that reads.
            code, at = frame.f_code.co_code, frame.f_lasti
            if code[at] == _CALL and code[at + 1] >= enough:
                return None
        return Read(need, f"{'os' if module == 'posix' else module}.{name}")
    if name in _NOW and isinstance(owner, type) and issubclass(owner, date):
        return Read("clock", f"{owner.__name__}.{name}")
    if name in _DRAWS and owner is global_random():
        return Read("entropy", f"the global generator of random ({name})")
    return None


def global_random() -> Any:
    """Return the generator behind ``random.random``; None if the module is not loaded."""
    return getattr(sys.modules.get("random"), "_inst", None)


def _check_environ(frame: FrameType) -> Read | None:
    if frame.f_locals.get("self") not in (None, os.environ, getattr(os, "environb", None)):
        return None
    key = frame.f_locals.get("key")
    return Read("environment", "os.environ" if key is None else f"os.environ[{key!r:.60}]")


def _check_seeding(frame: FrameType) -> Read | None:
    given = frame.f_locals
    system = getattr(sys.modules.get("random"), "SystemRandom", ())
    if given.get("a") is not None or isinstance(given.get("self"), system):
        return None
    return Read("entropy", "random.Random without a seed")


def _check_governed(frame: FrameType) -> Read | None:
    """Return a read that the effects layer of a recorded run answers, or None."""
    name = frame.f_locals["op"].name
    source, _, what = name.partition(".")
    need = _OF_SOURCES.get(source, "listing" if what in _LISTINGS else None)
    return None if need is None or name in {"clock.sleep", "clock.waited"} else Read(need, name)


_OF_SOURCES = {
    "clock": "clock",
    "entropy": "entropy",
    "environment": "environment",
    "process": "processes",
    "network": "network",
}
_LISTINGS = frozenset({"listdir", "scandir", "entries", "listed"})

_Reader = Callable[[FrameType], Read | None]


def python_reads() -> dict[int, _Reader]:
    """Readers by identity of the code that asks the world; made when a watch goes up."""
    environ: Any = os._Environ
    found: dict[int, _Reader] = {
        id(environ.__getitem__.__code__): _check_environ,
        id(environ.__iter__.__code__): _check_environ,
        id(environ.__len__.__code__): _check_environ,
        id(EffectLayer.read.__code__): _check_governed,
        id(EffectLayer.read_lenient.__code__): _check_governed,
        id(EffectLayer.fact.__code__): _check_governed,
    }
    random = sys.modules.get("random")
    if random is not None:
        found[id(random.Random.seed.__code__)] = _check_seeding
    platform = sys.modules.get("platform")
    if platform is not None:  # It asks the system once, and remembers.
        found[id(platform.uname.__code__)] = lambda _: Read("environment", "platform.uname")
    return found


PYTHON_SUSPECTS: Final = frozenset(
    {"__getitem__", "__iter__", "__len__", "read", "read_lenient", "fact", "seed", "uname", "run"}
)
"""Names of Python functions that are worth a look; ``run`` is where a thread begins."""

_INTERNET = (2, 10, 30)  # AF_INET and AF_INET6 of Linux and macOS


def _check_open(args: tuple[Any, ...]) -> Read | None:
    path = os.fsdecode(args[0]) if isinstance(args[0], str | bytes) else ""
    if path.startswith(("/dev/urandom", "/dev/random", "/dev/hwrng")):
        return Read("entropy", f"open({path!r})")
    return None


_ALWAYS = {
    "network": (
        "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
        "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo",
    ),
    "processes": (
        "subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec",
        "os.system", "os.killpg", "pty.spawn",
    ),
    "listing": ("os.listdir", "os.scandir"),
    "environment": ("socket.gethostname", "os.putenv", "os.unsetenv", "os.chdir", "sys.setprofile"),
}  # fmt: skip
EVENTS: Final[dict[str, Callable[[tuple[Any, ...]], Read | None]]] = {
    "open": _check_open,
    "socket.__new__": lambda args: (
        Read("network", "socket.socket") if args[1] in _INTERNET else None
    ),
    "os.kill": lambda args: None if args[0] == os.getpid() else Read("processes", "os.kill"),
    **{
        name: partial(lambda read, _: read, Read(need, name))
        for need, names in _ALWAYS.items()
        for name in names
    },
}
"""Audit events that are worth a look, with what their arguments say."""
