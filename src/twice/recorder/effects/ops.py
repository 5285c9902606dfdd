"""The closed list of operations by which a program reads the world, with their numbers.

A number is written into the record for every read, so it is part of the format and never reused.
Operations that take arguments store them beside the result and compare them in replay.

Invariant: numbers here only ever grow; ``BEHAVIOUR`` rises when the order of effects changes.
"""

from __future__ import annotations

import re

from twice.foundation.dataclass import dataclass

BEHAVIOUR = 2
LOOPS_SINCE = 2
"""The behaviour since which tasks of trio, and what a program asks of a loop's clock, have reads of their own."""

CONNECTIONS = "connections"
"""The name of the part of a snapshot that open connections have."""
MAIN = "main"
"""Key of the actor that runs the program."""
_NUMBERS = re.compile(r":\d+")


def find_lineage(key: str) -> str:
    """Return an actor's key without numbers: actors that were started alike share it."""
    return _NUMBERS.sub("", key)


@dataclass(frozen=True, slots=True)
class Op:
    """One way to read the world."""

    number: int  # what the record stores, 1 to 65535
    name: str  # ``source.operation``, as reports print it
    arguments: bool = False  # whether it has any, which stand beside its result in the record
    fact: bool = False  # whether it is answered by its arguments alone, in any order


TIME = Op(1, "clock.time")
TIME_NS = Op(2, "clock.time_ns")
MONOTONIC = Op(3, "clock.monotonic")
MONOTONIC_NS = Op(4, "clock.monotonic_ns")
PERF_COUNTER = Op(5, "clock.perf_counter")
PERF_COUNTER_NS = Op(6, "clock.perf_counter_ns")
PROCESS_TIME = Op(7, "clock.process_time")
PROCESS_TIME_NS = Op(8, "clock.process_time_ns")
THREAD_TIME = Op(9, "clock.thread_time")
THREAD_TIME_NS = Op(10, "clock.thread_time_ns")
GETTIME = Op(11, "clock.clock_gettime", arguments=True)
GETTIME_NS = Op(12, "clock.clock_gettime_ns", arguments=True)
RUSAGE = Op(13, "clock.getrusage", arguments=True)
SQLITE_NOW = Op(14, "clock.sqlite")
SLEEP = Op(20, "clock.sleep", arguments=True)
WAITED = Op(21, "clock.waited")
LOOP_ROUNDS = Op(22, "loop.rounds")
LOOP_SOCKET = Op(23, "loop.socket")
URANDOM = Op(40, "entropy.urandom", arguments=True)
GETRANDOM = Op(41, "entropy.getrandom", arguments=True)
UUID1 = Op(42, "entropy.uuid1", arguments=True)
SSL_RANDOM = Op(43, "entropy.ssl", arguments=True)
TORCH_SEED = Op(44, "entropy.torch")
SQLITE_RANDOM = Op(45, "entropy.sqlite")
SQLITE_SEED = Op(46, "entropy.sqlite_seed", arguments=True, fact=True)
CALL = Op(60, "call", arguments=True)
VARIABLE = Op(80, "environment.variable", arguments=True)
VARIABLE_NAMES = Op(81, "environment.names")
CWD = Op(82, "environment.getcwd")
HOSTNAME = Op(83, "environment.gethostname")
NODE = Op(84, "environment.node")
UNAME = Op(85, "environment.uname")
USER = Op(86, "environment.getuser")
LOGIN = Op(87, "environment.getlogin")
PID = Op(88, "environment.getpid")
PARENT_PID = Op(89, "environment.getppid")
CPU_COUNT = Op(90, "environment.cpu_count")
PROCESS_CPU_COUNT = Op(91, "environment.process_cpu_count")
AFFINITY = Op(92, "environment.sched_getaffinity", arguments=True)
LOAD = Op(93, "environment.getloadavg")
TIMES = Op(94, "environment.times")
UID = Op(95, "environment.getuid")
EFFECTIVE_UID = Op(96, "environment.geteuid")
GID = Op(97, "environment.getgid")
EFFECTIVE_GID = Op(98, "environment.getegid")
OWN_PID = Op(99, "environment.pid", arguments=True, fact=True)
PROCESSOR = Op(100, "environment.processor", arguments=True, fact=True)
MACHINE_ADDRESS = Op(101, "environment.getnode")
SHOWN_VARIABLE = Op(102, "environment.shown", arguments=True, fact=True)
GROUP = Op(103, "environment.getpgrp", arguments=True, fact=True)
GROUP_OF = Op(104, "environment.getpgid", arguments=True, fact=True)
SESSION_OF = Op(105, "environment.getsid", arguments=True, fact=True)
LISTDIR = Op(120, "files.listdir", arguments=True)
SCANDIR = Op(121, "files.scandir", arguments=True)
FILE_READ = Op(122, "files.read", arguments=True, fact=True)
FILE_OPENED = Op(123, "files.opened", arguments=True, fact=True)
FILE_WRITTEN = Op(124, "files.written", arguments=True, fact=True)
FILES_LEFT = Op(125, "files.left", arguments=True, fact=True)
FILE_CHANGED = Op(126, "files.changed", arguments=True, fact=True)
FILE_STATUS = Op(127, "files.status", arguments=True, fact=True)
ENTRIES = Op(128, "files.entries", arguments=True)
LISTED = Op(129, "files.listed", arguments=True, fact=True)
TEMPORARY_NAME = Op(130, "files.temporary", arguments=True, fact=True)
TEMPORARY_FOLDER = Op(132, "files.temporary_folder", arguments=True, fact=True)
KERNEL_FILE = Op(131, "files.kernel", arguments=True, fact=True)
PROCESS_START = Op(180, "process.start", arguments=True)
PROCESS_COMMUNICATE = Op(181, "process.communicate", arguments=True)
PROCESS_WAIT = Op(182, "process.wait", arguments=True)
PROCESS_POLL = Op(183, "process.poll", arguments=True)
PROCESS_READ = Op(184, "process.read", arguments=True)
PROCESS_WRITE = Op(185, "process.write", arguments=True)
PROCESS_SIGNAL = Op(186, "process.signal", arguments=True)
PROCESS_SYSTEM = Op(187, "process.system", arguments=True)
PROCESS_FILES = Op(188, "process.files", arguments=True, fact=True)
STDIN_READ = Op(200, "stdin.read", arguments=True)
STDIN_ISATTY = Op(201, "stdin.isatty")
GETPASS = Op(202, "stdin.getpass", arguments=True)
RESOLVED = Op(220, "network.resolved", arguments=True, fact=True)
ABOUT = Op(221, "network.about", arguments=True, fact=True)
CONNECT = Op(222, "network.connect", arguments=True)
RECEIVED = Op(223, "network.received", arguments=True)
ENDED = Op(224, "network.ended", arguments=True)
SEND_FAILED = Op(225, "network.send_failed", arguments=True)
BOUND = Op(227, "network.bound", arguments=True, fact=True)
BOUND_NAME = Op(228, "network.bound_name", arguments=True, fact=True)
CLOSED = Op(226, "network.closed", arguments=True)

OPS = {op.number: op for op in list(globals().values()) if isinstance(op, Op)}

MASKED_FROM = CALL.number
"""Clocks and entropy, whose numbers come before, hold no secret: they are written down as they are."""

FACTS = frozenset(op.number for op in OPS.values() if op.fact)
WITH_ARGUMENTS = frozenset(op.number for op in OPS.values() if op.arguments)


def has_cursor(number: int, *, is_main: bool) -> bool:
    """Return whether a snapshot counts an actor's library reads of an operation: the main program's, and all facts."""
    return is_main or number in FACTS
