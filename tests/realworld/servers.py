"""Real servers on loopback, each in a process of its own, started and stopped by tests."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from programs import reserve_port

HERE = Path(__file__).parent
_POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
_TRIES = 600


@dataclass
class Server:
    """A server process; ``stop`` may be called more than once."""

    process: subprocess.Popen[Any]
    port: int

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            raise AssertionError(f"something still listens on port {self.port}")


@contextlib.contextmanager
def python_server(name: str, *arguments: object) -> Iterator[Server]:
    """One of the servers in ``scripts``: it prints its port when it listens."""
    command = [sys.executable, "-u", str(HERE / "scripts" / name), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = process.stdout.readline()
    assert port, f"{name} did not start"
    server = Server(process, int(port))
    try:
        yield server
    finally:
        server.stop()
        process.stdout.close()


@contextlib.contextmanager
def redis_server(folder: Path) -> Iterator[Server]:
    """Debian's Redis, with nothing kept on disk."""
    binary = shutil.which("redis-server")
    if binary is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    with reserve_port() as port:
        command = [binary, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
        server = Server(process, port)
        try:
            listening(server)
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def postgres_server() -> Iterator[Server]:
    """Debian's PostgreSQL: a cluster of its own, thrown away afterwards; user ``twice``, no password."""
    if not _POSTGRES:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    folder = _POSTGRES[-1].parent
    options: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root.
        names = {one.pw_name for one in pwd.getpwall()}
        options = {"user": "postgres" if "postgres" in names else "nobody", "extra_groups": []}
    place = Path(tempfile.mkdtemp(prefix="twice-pg-"))
    try:
        if options:
            options["group"] = pwd.getpwnam(options["user"]).pw_gid
            os.chown(place, pwd.getpwnam(options["user"]).pw_uid, options["group"])
        data = place / "data"
        initdb = [folder / "initdb", "-D", data, "-U", "twice", "-A", "trust", "-E", "UTF8", "-N"]
        command = [*map(str, initdb), "--locale=C"]
        subprocess.run(
            command, check=True, capture_output=True, cwd=place, env=_environ(place), **options
        )
        with reserve_port() as port:
            command = [
                str(folder / "postgres"), "-D", str(data), "-p", str(port), "-k", str(place), "-F",
                "-c", "listen_addresses=127.0.0.1", "-c", "timezone=UTC",
            ]  # fmt: skip
            process = subprocess.Popen(
                command, stderr=subprocess.DEVNULL, cwd=place, env=_environ(place), **options
            )
            server = Server(process, port)
            try:
                answering(folder / "pg_isready", server)
                yield server
            finally:
                server.stop()
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _environ(home: Path) -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "LC_ALL": "C"}


def listening(server: Server) -> None:
    """Wait until a server takes connections."""
    pause = threading.Event()
    for _ in range(_TRIES):
        assert server.process.poll() is None, "the server ended at once"
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", server.port), 1).close()
            return
        pause.wait(0.05)
    raise AssertionError("the server does not listen")


def answering(pg_isready: Path, server: Server) -> None:
    """Wait until PostgreSQL takes queries."""
    pause = threading.Event()
    command = [str(pg_isready), "-h", "127.0.0.1", "-p", str(server.port), "-q"]
    for _ in range(_TRIES):
        assert server.process.poll() is None, "PostgreSQL ended at once"
        if subprocess.run(command, check=False).returncode == 0:
            return
        pause.wait(0.05)
    raise AssertionError("PostgreSQL does not answer")
