"""What a child process that no replay starts did to the program's own things: its open files, the sockets that it asks.

And what a program may put in the place of functions that twice uses itself.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from namespace_probes import list_missing
from programs import verified
from twice.replayer.verification import Verification

MISSING = list_missing()
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(bool(MISSING), reason="; ".join(MISSING)),
]

LOGS = """
    import os, subprocess, sys
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    with open("log.txt", "w") as log, open("log.txt") as reader:
        for word in ("one", "two"):
            print("$ echo", {asked}, file=log, flush=True)
            {starts}
        print("done", file=log, flush=True)
        {reads}
"""
STARTS = {
    "run": "subprocess.run(['echo', word], stdout=log)",
    "descriptor": "subprocess.run(['echo', word], stdout=log.fileno())",
    "both": "subprocess.run(['sh', '-c', 'echo out; echo err >&2'], stdout=log, stderr=subprocess.STDOUT)",
    "handed": "subprocess.run(['sh', '-c', f'echo x >&{log.fileno()}'], pass_fds=[log.fileno()])",
}
LEAVES_A_CHILD = """
    import os, subprocess, time
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    with open("log.txt", "w") as log:
        child = subprocess.Popen(["sh", "-c", "echo one; exec sleep 100"], stdout=log)
    while not os.path.getsize("log.txt"):
        time.sleep(0.02)
    {ends}
"""
ASKS_A_CHILD = """
    import os, socket, subprocess, sys, time
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    serves = ("import socket, time\\ns = socket.socket(socket.AF_UNIX)\\ns.bind('here.sock')\\ns.listen()\\n"
              "made, _ = s.accept()\\nmade.sendall(b'hello')\\ntime.sleep(100)")
    child = subprocess.Popen([sys.executable, "-c", serves])
    while True:
        asks = socket.socket(socket.AF_UNIX)
        try:
            asks.connect("here.sock")
            break
        except (ConnectionRefusedError, FileNotFoundError):
            time.sleep(0.02)
    print(asks.recv(100))
    child.terminate()
    print(child.wait())
"""
WRAPS = """
    import functools, os
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    for name in ("stat", "lstat", "mkdir", "listdir", "rename", "unlink"):
        def wrapped(*arguments, real=getattr(os, name), **options):
            return real(*arguments, **options)
        setattr(os, name, wrapped)
    os.makedirs("folder/below", exist_ok=True)
    with open("folder/below/file.txt", "w") as file:
        file.write("text")
    os.rename("folder/below/file.txt", "folder/file.txt")
    print(os.path.isfile("folder/file.txt"), os.path.isdir("folder"), os.path.exists("none"), os.listdir("folder"))
"""


def verify_body(folder: Path, body: str) -> Verification:
    """Record a program that does this, and verify it once."""
    return verified(folder, f"def main(run):\n{indent(dedent(body), '    ')}")


@pytest.mark.parametrize("starts", STARTS)
@pytest.mark.parametrize("reads", ["print(reader.read())", "pass"], ids=["read", "left"])
@pytest.mark.sample(3)
def test_a_file_that_a_child_writes_by_the_programs_descriptor_is_as_it_was(
    starts: str, reads: str, tmp_path: Path
) -> None:
    source = LOGS.format(asked="word", starts=STARTS[starts], reads=reads)
    assert verify_body(tmp_path, source).result == "PASS"


@pytest.mark.parametrize("ends", ["child.kill()", "child.kill(); child.wait()"])
def test_it_is_though_the_program_does_not_wait_for_the_child(ends: str, tmp_path: Path) -> None:
    assert verify_body(tmp_path, LEAVES_A_CHILD.format(ends=ends)).result == "PASS"


def test_the_programs_own_part_of_such_a_file_is_compared(tmp_path: Path) -> None:
    source = LOGS.format(asked="hex(id(object()))", starts=STARTS["run"], reads="pass")
    verified = verify_body(tmp_path, source)
    assert verified.result == "FAIL"
    assert verified.failure is not None
    assert verified.failure.name == "files"


def test_a_unix_socket_of_a_child_is_recorded(tmp_path: Path) -> None:
    assert verify_body(tmp_path, ASKS_A_CHILD).result == "PASS"


def test_functions_of_os_that_the_program_wraps_are_not_asked_by_twice_again(
    tmp_path: Path,
) -> None:
    assert verify_body(tmp_path, WRAPS).result == "PASS"
