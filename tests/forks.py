"""Sessions and command lines forked from a process that has everything loaded: a tenth of what a fresh one costs.

A server is started for each set of what only a starting interpreter reads (variables, umask, limits), when it is
wanted for the second time, and serves all workers of a run of the tests; it ends with the run. ``Forks.start`` takes the place of
``process.start_interpreter``, here and in forked command lines.

Forks of one server have its addresses, so what depends on addresses does not differ between them, and they share one
measurement of the machine. A test that must see either, or a fresh interpreter, is marked ``fresh``.

    python -P tests/forks.py FOLDER CONTROLLER KIND DIGEST READY      a server
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import hashlib
import importlib
import json
import os
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twice.recorder.environment import fingerprint, probes
from twice.recorder.environment.libraries import load_numpy
from twice.worker import process

if TYPE_CHECKING:
    import click

FORKED = ("twice.recorder", "twice.replayer", "twice.testing")
"""Modules of sessions that may be forks; ``twice.diagnosis`` looks for what depends on addresses."""
COMMANDS = (
    "asset", "branch", "check", "cost", "diagnose", "gate", "ls", "record", "replay", "rerun", "show", "spec", "sweep",
    "vary", "verify",
)  # fmt: skip
"""Commands that a server of command lines has loaded, with their actions."""
READ_AT_START = (
    "PYTHON", "OMP_", "GOMP_", "KMP_", "OPENBLAS", "MKL_", "NUMEXPR", "VECLIB", "BLIS", "GLIBC_", "MALLOC_", "LD_",
    "LANG", "LC_", "NPY_", "ATEN_", "TZ", "COVERAGE",
)  # fmt: skip
"""What names of variables begin with that an interpreter or a library reads once."""
PASSED_TO_CHILDREN = "TWICE_CHILD"
SERVERS_MAX = 24
UNSERVED = "unserved"
"""The file with a line for each interpreter that was started for want of a server: here and in forked commands."""
_SIZE = 64


class Forks:
    """The client's side, in any process of a run of the tests.

    Args:
        folder: of the run.
        controller: the process with which servers end.

    Attributes:
        is_open: whether anything is forked; tests of fresh processes switch it off.
        count: how many were forked for this process.
        unserved: how many more would have been, had their set had a server: which these are depends on the order
            of the tests.
    """

    def __init__(self, folder: Path, controller: int) -> None:
        self.is_open = True
        self.count = self.unserved = 0
        self._folder = folder
        self._controller = controller

    def list_unserved(self) -> list[str]:
        """List the kinds of what was started for want of a server, in this run of the tests and all its processes."""
        file = self._folder / UNSERVED
        return file.read_text().split() if file.exists() else []

    def start(
        self,
        module: str,
        line: int,
        environ: Mapping[str, str],
        *,
        stdin: int | None,
        files: tuple[int, int],
        cwd: str | None,
        python: str,
    ) -> process.Process:
        """Start a session's process, as ``process.start_interpreter`` does."""
        passes_on = any(name.startswith(PASSED_TO_CHILDREN) for name in environ)
        if module in FORKED and python in {"", sys.executable} and not passes_on:
            fork = self._fork("session", [module, str(line)], environ, cwd, [stdin, *files, line])
            if fork is not None:
                return fork
        return process.start_interpreter(
            module, line, environ, stdin=stdin, files=files, cwd=cwd, python=python
        )

    def run_cli(
        self,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        *,
        cwd: str | None,
        given: str | None,
        timeout_s: float,
    ) -> subprocess.CompletedProcess[str] | None:
        """Run a command line to its end, as ``subprocess.run`` would; None where it cannot be a fork."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            reading, writing = os.pipe()
            with os.fdopen(reading), os.fdopen(writing, "w", encoding="utf-8") as pipe:
                stdin = subprocess.DEVNULL if given is None else reading
                files = [stdin, out.fileno(), errors.fileno()]
                fork = self._fork("cli", ["twice", *arguments], environ, cwd, files)
                if fork is None:
                    return None
                pipe.write(given or "")
            try:
                code = fork.wait(timeout_s)
            finally:
                fork.kill()
            told = []
            for file in (out, errors):
                file.seek(0)
                told.append(file.read().decode("utf-8"))
        return subprocess.CompletedProcess(["twice", *arguments], code, *told)

    def _fork(
        self,
        kind: str,
        argv: Sequence[str],
        environ: Mapping[str, str],
        cwd: str | None,
        files: Sequence[int | None],
    ) -> Fork | None:
        if not self.is_open:
            return None
        server = self._connect(kind, environ)
        if server is None:
            self.unserved += 1
            with (self._folder / UNSERVED).open("a") as file:
                file.write(f"{kind}\n")
            return None
        request = {"argv": list(argv), "environ": dict(environ), "cwd": cwd or os.getcwd()}
        status, theirs = os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        with (
            server,
            tempfile.TemporaryFile() as told,
        ):  # an environment may be larger than a message
            told.write(json.dumps(request).encode())
            told.flush()
            given = {None: 0, subprocess.DEVNULL: nothing}
            handed = [given.get(each, each) for each in files]
            socket.send_fds(server, [b"f"], [theirs, told.fileno(), *handed])
            pid = int(server.recv(_SIZE))
        os.close(nothing)
        os.close(theirs)
        self.count += 1
        return Fork(pid, status)

    def _connect(self, kind: str, environ: Mapping[str, str]) -> socket.socket | None:
        own = {name: value for name, value in environ.items() if name.startswith(READ_AT_START)}
        key = repr([kind, sorted(own.items()), _inherited()])
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        place = self._folder / digest
        with (self._folder / f"{digest}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():
                wanted = self._folder / f"{digest}.wanted"
                if not wanted.exists() or len(list(self._folder.glob("*.log"))) >= SERVERS_MAX:
                    wanted.touch()
                    return None  # of a test that varies the surroundings, perhaps
                self._start_server(kind, digest, own)
                place.touch()
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.connect(_address(self._folder, digest))
        return connection

    def _start_server(self, kind: str, digest: str, own: Mapping[str, str]) -> None:
        ready, theirs = os.pipe()
        kept = {"HOME": str(self._folder.parent), "PATH": os.environ["PATH"]}
        command = [
            sys.executable,
            "-P",
            __file__,
            self._folder,
            self._controller,
            kind,
            digest,
            theirs,
        ]
        with (self._folder / f"{digest}.log").open("wb") as log:
            subprocess.Popen(
                list(map(str, command)),
                env={**kept, **own},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs],
                start_new_session=True,
            )
        os.close(theirs)
        with os.fdopen(ready, "rb") as pipe:
            assert pipe.read(), (self._folder / f"{digest}.log").read_text()


class Fork:
    """A fork, as much like ``subprocess.Popen`` as a session needs.

    Args:
        pid: of the fork.
        status: a pipe from which its exit code can be read once it has ended.
    """

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._status, self._lock = status, threading.Lock()
        # As late as that: another thread may be about to look, and would find another file under its number.
        weakref.finalize(self, os.close, status).atexit = False

    def poll(self) -> int | None:
        """Return the exit code, or None as long as it runs."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises ``TimeoutExpired`` as ``Popen`` does."""
        code = self._look(None if timeout is None else timeout * 1000)
        if code is None:
            assert timeout is not None, "without a limit it waits for the end"
            raise subprocess.TimeoutExpired("a fork", timeout)
        return code

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def _look(self, limit_ms: float | None) -> int | None:
        if self.returncode is None:
            poll = select.poll()
            poll.register(self._status, select.POLLIN)
            if poll.poll(limit_ms):
                with self._lock:  # of several threads that look, one reads
                    if self.returncode is None:
                        text = os.read(self._status, _SIZE)
                        self.returncode = (
                            int(text) if text else -signal.SIGKILL
                        )  # its server was killed
        return self.returncode


def _address(folder: Path, digest: str) -> str:
    return f"\0{folder.parent.name}/{digest}"


def _inherited() -> tuple[object, ...]:
    """Return the facts that a process inherits and a fork of another process would not."""
    status = Path("/proc/self/status").read_text("ascii")
    kept = ("Umask", "Uid", "Gid", "SigIgn", "SigBlk", "CapEff", "NoNewPrivs", "Cpus_allowed:")
    rows = tuple(row for row in status.splitlines() if row.startswith(kept))
    names = sorted(name for name in vars(resource) if name.startswith("RLIMIT_"))
    return rows, [resource.getrlimit(getattr(resource, name)) for name in names]


def serve(folder: Path, controller: int, kind: str, digest: str, ready: int) -> None:
    """Load the modules of the forks, fork whenever asked, and report how forks end."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(_address(folder, digest))
    listener.listen(64)
    if kind == "cli":
        from twice.cli.group import main_group

        group = main_group()
        for name in COMMANDS:
            _load_actions(group, name)
        process.starter = Forks(folder, controller).start
    else:
        for module in FORKED:
            importlib.import_module(f"{module}.__main__")
            del sys.modules[f"{module}.__main__"]  # it is run, not imported
        importlib.import_module("twice.recorder.child").load_for_sessions()
        fingerprint.run_probes = probes.run_probes = _run_probes_once()  # type: ignore[attr-defined]
    gc.collect()
    gc.freeze()
    ended, wakes = os.pipe()
    for end in (ended, wakes):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    alive = os.pidfd_open(controller)
    running: dict[int, int] = {}
    os.write(ready, b"r")
    os.close(ready)
    while True:
        found, _, _ = select.select([listener, ended, alive], [], [])
        if alive in found:
            break
        if ended in found:
            os.read(ended, _SIZE)
            _reap(running)
        if listener in found:
            client, _ = listener.accept()
            with client:
                _, (status, *handed), _, _ = socket.recv_fds(client, 1, 8)
                fork = os.fork()
                if fork == 0:
                    for descriptor in (ended, wakes, alive, status, *running.values()):
                        os.close(descriptor)
                    listener.close()
                    client.close()
                    _become(*handed)
                running[fork] = status
                for descriptor in handed:
                    os.close(descriptor)
                client.send(str(fork).encode())
    for fork in running:
        os.kill(fork, signal.SIGKILL)


def _load_actions(group: click.Group, name: str) -> None:
    import click

    command = group.get_command(click.Context(group), name)
    if isinstance(command, click.Group):
        for action in command.list_commands(click.Context(command)):
            _load_actions(command, action)


def _run_probes_once() -> Any:
    """Run the probes in a fork, since they make libraries start threads; the same answer for every fork.

    The modes of the floating-point unit are probed where they are asked for: a program may change them.
    """
    really_run = fingerprint.run_probes  # type: ignore[attr-defined]
    reading, writing = os.pipe()
    fork = os.fork()
    if fork == 0:
        load_numpy()
        with os.fdopen(writing, "w") as file:
            json.dump(really_run(None), file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        found = json.load(file)
    os.waitpid(fork, 0)

    def run_probes(groups: Any = None) -> Any:
        if groups is not None and set(groups) == {"float"}:
            return really_run(groups)
        return {
            name: result
            for name, result in found.items()
            if groups is None or name.partition(".")[0] in groups
        }

    return run_probes


def _reap(running: dict[int, int]) -> None:
    while running:
        fork, status = os.waitpid(-1, os.WNOHANG)
        if fork == 0:
            return
        teller = running.pop(fork)
        try:
            os.write(teller, str(os.waitstatus_to_exitcode(status)).encode())
        except BrokenPipeError:
            pass  # whoever started it is gone
        os.close(teller)


def _become(told: int, stdin: int, stdout: int, stderr: int, *line: int) -> None:
    """Turn a fork into what ``python -P -m MODULE ARGUMENTS`` would be."""
    request = json.loads(os.pread(told, os.fstat(told).st_size, 0))
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for descriptor, number in ((stdin, 0), (stdout, 1), (stderr, 2)):
        os.dup2(descriptor, number)
    for descriptor in (told, stdin, stdout, stderr):
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["environ"])
    os.chdir(request["cwd"])
    time.tzset()
    tempfile.tempdir = None
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    module, *arguments = request["argv"]
    sys.argv = [module, *(map(str, line) if line else arguments)]
    try:
        runpy._run_module_as_main(module)
    except SystemExit as leave:
        if leave.code is not None and not isinstance(leave.code, int):
            print(leave.code, file=sys.stderr)
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    else:
        code = 0
    if not line:  # a command line: nothing of a user's program is left to be taken down
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)  # the interpreter's own way out, from below the frames of the server


if __name__ == "__main__":
    # A fork runs its own module under this module's name, and a program looks through all that is loaded:
    # the server is neither of them.
    sys.path.insert(0, str(Path(__file__).parent))
    server = importlib.import_module("forks")
    del sys.path[0], sys.modules["forks"]
    server.serve(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))
