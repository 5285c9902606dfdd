"""Connections that code makes by itself are named; those of the run, of Python and of effects are not."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from programs import cli
from twice.recorder.runrecord import RunRecord

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="system calls are supervised on Linux alone"
    ),
]

C = """
import ctypes, os, socket, struct, subprocess, sys
libc = ctypes.CDLL(None)

def connect(port):
    made = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    address = struct.pack("=HHI8x", socket.AF_INET, socket.htons(port), 0x0100007F)
    answer = libc.connect(made, address, 16)
    libc.close(made)
    return answer

"""


def native(folder: Path, code: str) -> str:
    """Return the record's row about native connections of a program, empty for none."""
    (folder / "program.py").write_text(C + code)
    done = cli("record", "program.py", "--seed", "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    with RunRecord.open(folder / "program.twice") as record:
        assert record.ending is not None
        rows = [row for row in record.ending["inventory"] if row["source"] == "network.native"]
    assert [row["class"] for row in rows] in ([], ["unsupported"])
    return str(rows[0]["why"]) if rows else ""


@pytest.mark.parametrize(
    "code",
    [
        "print(connect(9))",
        "child = os.fork()\nif not child:\n    connect(9)\n    os._exit(0)\nos.waitpid(child, 0)",
        ("import threading\nthread = threading.Thread(target=connect, args=(9,))\n"
        "thread.start(); thread.join()"),
    ],
    ids=["program", "child", "thread"],
)  # fmt: skip
def test_a_connection_of_c_code_is_named_though_it_is_closed_at_once(
    code: str, tmp_path: Path
) -> None:
    assert native(tmp_path, code).startswith("127.0.0.1:9: connected by code other than Python")
    verified = cli("verify", "program.twice", "--no-statement", cwd=tmp_path)
    assert verified.returncode == 2
    assert "--allow network.native" in verified.stdout


@pytest.mark.parametrize(
    "code",
    [
        "listens = socket.create_server(('127.0.0.1', 0)); print(connect(listens.getsockname()[1]))",
        "socket.socket().connect_ex(('127.0.0.1', 9))",
        ("import urllib.request, urllib.error\n"
        "try: urllib.request.urlopen('http://localhost:9')\nexcept urllib.error.URLError: pass"),
        "import twice\n@twice.effect\ndef asks(): return connect(9)\nasks()",
        ("made = libc.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0)\n"
        "libc.connect(made, struct.pack('=H108s', socket.AF_UNIX, b'/nowhere/at/all'), 110)"),
        ("code = 'import socket; socket.socket().connect_ex((\"127.0.0.1\", 9))'\n"
        "subprocess.run([sys.executable, '-c', code])"),
    ],
    ids=["own listener", "Python", "Python by name", "effect", "nobody's path", "served child"],
)  # fmt: skip
def test_what_is_accounted_for_is_not_named(code: str, tmp_path: Path) -> None:
    assert native(tmp_path, code) == ""


def test_somebody_else_s_local_socket_is_named(tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind(path)
        listens.listen()

        found = native(
            tmp_path,
            "made = libc.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0)\n"
            f"libc.connect(made, struct.pack('=H108s', socket.AF_UNIX, {path.encode()!r}), 110)\n"
            "libc.close(made)",
        )

    assert found.startswith(path)
