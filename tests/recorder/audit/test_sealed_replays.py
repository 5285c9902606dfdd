"""What reaches the world beside the effects layer is named, fails closed, and is refused in replay.

Where files and processes are seen below Python, less is an escape: ``REPEATED`` says which.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from programs import recorded, write
from twice.cli import main
from twice.errors import FilesUnprotected
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

# What a program does, by the name of the source that it reaches the world through.
ESCAPES = {
    "network.connect": "_socket.socket().connect(('127.0.0.1', 9))",
    "network.listen": "_socket.socket().bind(('127.0.0.1', 0))",
    "network.send": "_socket.socket(type=2).sendto(b'x', ('127.0.0.1', 9))",
    "network.resolve": "_socket.getaddrinfo('name.invalid', 80)",
    "process.fork": "os._exit(0) if not (child := os.fork()) else os.waitpid(child, 0)",
    "process.spawn": "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)",
    "process.signal": "os.kill(os.getppid(), 0)",
    "native.load": "ctypes.CDLL(None).getpid()",
    "files.mmap": "mmap.mmap(os.open(__file__, os.O_RDONLY), 0, access=mmap.ACCESS_READ)",
    "files.sqlite3": "sqlite3.connect('beside.db')",
    "files.open": "io.FileIO('beside.txt', 'a').write(b'x')",
    "files.change": "posix.mkdir(f'beside{tick}')",
}
REPEATED = (
    *(name for name in ESCAPES if name.startswith(("files.", "native."))),
    "network.listen",
    "process.fork",
    "process.spawn",
)
"""What a replay does again in its copy of the files and its own network, where there is a supervisor and a world."""
LEAVES_A_FILE = ("files.sqlite3", "files.open")
PROGRAM = """
import _socket, ctypes, io, mmap, os, posix, sqlite3

def main(run):
    seen = run.track("seen", [])
    for tick in run.ticks(2):
        try:
            {escape}
        except Exception as error:
            seen.append(type(error).__name__)
        except BaseException:
            seen.append("the program caught everything")
"""
LINE = 8


def rows(record: RunRecord, kind: str) -> dict[str, dict[str, Any]]:
    """Rows of a record's inventory of one class, by source."""
    assert record.ending is not None
    return {row["source"]: row for row in record.ending["inventory"] if row["class"] == kind}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def _blind_below_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWICE_WITHOUT", "supervisor,world,number,network,refusal")


@pytest.mark.integration
@pytest.mark.parametrize("source", REPEATED)
@pytest.mark.sample(4)
def test_what_runs_again_in_a_world_is_no_escape(
    source: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with recorded(tmp_path, PROGRAM.format(escape=ESCAPES[source])) as record:
        assert rows(record, "unsupported") == {}
        assert "warning" not in capfd.readouterr().err
        statement = verify(record.path)
    assert (statement.result, statement.failure) == ("PASS", None)


@pytest.mark.integration
@pytest.mark.parametrize("source", [name for name in ESCAPES if name not in REPEATED])
def test_an_escape_is_named_at_once_and_refused_in_replay_though_it_is_caught(
    source: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert_named_and_refused(source, tmp_path, capfd)


@pytest.mark.integration
@pytest.mark.usefixtures("_blind_below_python")
@pytest.mark.parametrize("source", REPEATED)
@pytest.mark.sample(4)
def test_without_a_supervisor_files_and_processes_are_escapes_too(
    source: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert_named_and_refused(source, tmp_path, capfd, is_blind=True)


def assert_named_and_refused(
    source: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], *, is_blind: bool = False
) -> None:
    """Record a program that reaches the world by one source, and replay it."""
    with recorded(tmp_path, PROGRAM.format(escape=ESCAPES[source])) as record:
        row = rows(record, "unsupported")[source]
        assert (row["first"], row["count"], row["allowed"]) == (f"program.py:{LINE}", 2, False)
        told = capfd.readouterr().err
        assert f"warning: {source} at program.py:{LINE}: " in told
        assert f"--allow {source}" in told
        # A file that the listing found changed would be changed again: nothing is executed.
        is_unprotected = is_blind and source in LEAVES_A_FILE
        assert ("files.native" in rows(record, "unsupported")) == is_unprotected
        if is_unprotected:
            with pytest.raises(FilesUnprotected, match="beside"):
                verify(record.path)
            return
        statement = verify(record.path)
    assert (statement.result, statement.exit_code) == ("UNKNOWN", 2)
    assert "a replay refuses what the recorded run did" in statement.caveats[0]
    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.tick) == ("seal", 0)
    assert statement.failure.replayed.startswith("E-SEAL-001 ")
    assert f"was refused at program.py:{LINE}: " in statement.failure.replayed


@pytest.mark.integration
@pytest.mark.usefixtures("_blind_below_python")
@pytest.mark.parametrize("source", ["network.listen", "files.sqlite3", "process.fork"])
@pytest.mark.parametrize("by", ["name", "family"])
@pytest.mark.sample(3)
def test_what_was_allowed_by_name_passes_and_is_shown(
    source: str, by: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name = source if by == "name" else source.partition(".")[0]
    allow = tuple(sorted({name, "files.native"})) if source in LEAVES_A_FILE else (name,)
    with recorded(tmp_path, PROGRAM.format(escape=ESCAPES[source]), allow=allow) as record:
        assert rows(record, "unsupported")[source]["allowed"] is True
        assert record.setup.allow == allow
        if source in LEAVES_A_FILE:
            with pytest.raises(FilesUnprotected, match="beside"):
                verify(record.path)
            return
        statement = verify(record.path)
    assert "warning" not in capfd.readouterr().err
    assert statement.result == "PASS"
    assert any(f"{source} " in caveat and "allowed" in caveat for caveat in statement.caveats)


@pytest.mark.integration
@pytest.mark.usefixtures("_blind_below_python")
@pytest.mark.parametrize("way", ["io.FileIO('beside.txt', 'a')", "posix.open('beside.txt', 65)"])
def test_a_file_that_is_opened_beside_the_layer_is_not_written_by_a_replay(
    way: str, tmp_path: Path
) -> None:
    with recorded(tmp_path, PROGRAM.format(escape=way)) as record:
        path = record.path
    Path("beside.txt").unlink()
    with pytest.raises(FilesUnprotected, match="beside"):
        verify(path)
    assert not Path("beside.txt").exists()


@pytest.mark.integration
def test_a_read_that_nobody_owns_fails_closed_without_a_refusal(tmp_path: Path) -> None:
    source = """
        import ctypes, time

        def main(run):
            pthread = ctypes.CDLL(None)
            seen = run.track("seen", [])
            started = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: time.time())
            for tick in run.ticks(1):
                thread = ctypes.c_ulong()
                pthread.pthread_create(ctypes.byref(thread), None, started, None)
                pthread.pthread_join(thread, None)
    """
    with recorded(tmp_path, source, allow=("native",)) as record:
        statement = verify(record.path)
        assert rows(record, "unsupported")["threads.unowned"]["first"] == "program.py:7"
    assert (statement.result, statement.exit_code, statement.failure) == ("UNKNOWN", 2, None)
    assert statement.caveats[0].startswith("no pass, because a source of the world is not recorded")
    document = statement.to_json()
    assert "threads.unowned" in [row["source"] for row in document["effects"]["inventory"]]


@pytest.mark.integration
def test_what_does_not_reach_the_world_is_not_blamed(tmp_path: Path) -> None:
    source = """
        import asyncio, ctypes, mmap, os, signal, socket, sqlite3, threading, uuid

        async def talk():
            reader, writer = await asyncio.open_connection(sock=PAIR[0])
            writer.write(b"x")
            return (await asyncio.sleep(0, PAIR[1].recv(1)))

        def main(run):
            global PAIR
            seen = run.track("seen", [])
            for tick in run.ticks(2):
                PAIR = socket.socketpair()
                seen.append(asyncio.run(talk()))
                mmap.mmap(-1, 16)
                sqlite3.connect(":memory:").execute("select 1").fetchone()
                thread = threading.Thread(target=uuid.uuid4)
                thread.start(), thread.join()
                open("/dev/null").read(), open("/dev/null", "w").write("x")
                socket.getaddrinfo("127.0.0.1", 80)
                signal.signal(signal.SIGUSR1, lambda *_: seen.append("signalled"))
                os.kill(os.getpid(), signal.SIGUSR1)
                ctypes.c_int(3), ctypes.sizeof(ctypes.c_long)
    """
    with recorded(tmp_path, source) as record:
        assert rows(record, "unsupported") == {}
        statement = verify(record.path)
    assert (statement.result, statement.failure) == ("PASS", None)


@pytest.mark.integration
@pytest.mark.usefixtures("_blind_below_python")
@pytest.mark.parametrize(
    "serves",
    [
        "socket.create_server(('127.0.0.1', 0)).close()",
        "http.server.HTTPServer(('127.0.0.1', 0), None).server_close()",
        "asyncio.run(serve())",
    ],
)
def test_a_socket_that_listens_is_named_and_refused_whoever_makes_it_for_the_program(
    serves: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = f"""
        import asyncio, http.server, socket

        async def serve():
            (await asyncio.start_server(print, "127.0.0.1", 0)).close()

        def main(run):
            for tick in run.ticks(1):
                {serves}
    """
    with recorded(tmp_path, source) as record:
        assert rows(record, "unsupported")["network.listen"]["first"].startswith("program.py:")
        statement = verify(record.path)
    assert "twice.integrations.wsgi" in capfd.readouterr().err
    assert statement.failure is not None
    assert "socket.listen(('127.0.0.1', " in statement.failure.replayed


@pytest.mark.integration
def test_a_port_that_was_in_use_is_in_use_in_replay(tmp_path: Path) -> None:
    taken = socket.create_server(("127.0.0.1", 0))
    source = f"""
        import socket

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(2):
                with socket.socket() as made:
                    try:
                        made.bind(("127.0.0.1", {taken.getsockname()[1]}))
                    except OSError as error:
                        seen.append(str(error))
    """
    with taken, recorded(tmp_path, source) as record:
        taken.close()
        assert verify(record.path).result == "PASS"


@pytest.mark.integration
def test_inside_a_declared_effect_nothing_is_counted(tmp_path: Path) -> None:
    source = """
        import ctypes, os, socket, struct, sqlite3
        import twice

        KEPT = []

        @twice.effect
        def everything(tick):
            libc = ctypes.CDLL(None)
            made = libc.socket(socket.AF_INET, socket.SOCK_DGRAM, 0)
            where = struct.pack("=HHI8x", socket.AF_INET, socket.htons(9), 16777343)
            libc.connect(made, where, 16)
            KEPT.append(sqlite3.connect("beside.db"))
            child = os.fork()
            if not child:
                os._exit(3)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(2):
                seen.append(everything(tick))
    """
    with recorded(tmp_path, source) as record:
        assert rows(record, "unsupported") == {}
        statement = verify(record.path)
    assert (statement.result, statement.failure) == ("PASS", None)


@pytest.mark.integration
def test_a_connection_that_c_code_keeps_is_found_by_its_descriptor(tmp_path: Path) -> None:
    source = """
        import ctypes, socket, struct

        def main(run):
            seen = run.track("seen", [])
            libc = ctypes.CDLL(None)
            for tick in run.ticks(2):
                made = libc.socket(socket.AF_INET, socket.SOCK_DGRAM, 0)
                where = struct.pack("=HHI8x", socket.AF_INET, socket.htons(9), 16777343)
                seen.append(libc.connect(made, where, 16))
    """
    with recorded(tmp_path, source, allow=("native",)) as record:
        row = rows(record, "unsupported")["network.descriptor"]
        assert (row["count"], row["first"]) == (2, "program.py:7")
        statement = verify(record.path)
    assert statement.failure is not None
    assert "a socket connected to ('127.0.0.1', 9)" in statement.failure.replayed


@pytest.mark.parametrize("name", ["sockets", "network.", "library.", ""])
def test_a_name_that_is_none_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = write(tmp_path, PROGRAM.format(escape="pass"))
    with pytest.raises(SystemExit, match="2"):
        main(["record", program, "--seed", "1", "--allow", name])
    told = capsys.readouterr().err
    assert told.startswith(f"E-USE-001  {name!r} is no source of the world")
    assert not list(tmp_path.glob("*.twice"))


@pytest.mark.integration
def test_every_class_stands_in_the_inventory(tmp_path: Path) -> None:
    source = """
        import time

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(2):
                seen.append(time.time())
    """
    with recorded(tmp_path, source) as record:
        assert rows(record, "recorded")["clock.time"]["count"] == 2
        assert {"hash.seed", "threads.numeric", "random.globals"} <= set(rows(record, "eliminated"))
