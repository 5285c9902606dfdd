"""A process is in namespaces of its own, or it is as it was and knows why."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from apart import needs_network, needs_number, needs_world, run_apart

from namespace_probes import probe_network, probe_process_number, probe_world
from twice.recorder.audit.native_sockets import cut_off
from twice.recorder.kernel import libc, namespaces
from twice.recorder.kernel.namespaces import (
    NamespaceRefused,
    bring_loopback_up,
    enter_namespaces,
    give_up_rights,
)

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


def identities() -> dict[str, str]:
    return {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in ("mnt", "net", "user")}


@needs_world
def test_mounts_in_it_are_seen_by_nobody_else(tmp_path: Path) -> None:
    def run() -> bool:
        enter_namespaces()
        libc.mount("tmpfs", str(tmp_path), "tmpfs")
        (tmp_path / "file").write_text("x")
        return (tmp_path / "file").exists()

    before = Path("/proc/self/mountinfo").read_bytes()

    assert run_apart(run)
    assert Path("/proc/self/mountinfo").read_bytes() == before
    assert list(tmp_path.iterdir()) == []


@needs_world
def test_the_process_stays_who_it_was(tmp_path: Path) -> None:
    def run() -> tuple[int, ...]:
        enter_namespaces()
        (tmp_path / "mine").touch()
        return (os.getuid(), os.geteuid(), os.getgid(), (tmp_path / "mine").stat().st_uid)

    user = os.geteuid()
    assert run_apart(run) == (os.getuid(), user, os.getgid(), user)
    assert (tmp_path / "mine").stat().st_uid == user


@needs_network
def test_only_what_is_asked_for_is_entered() -> None:
    def run() -> tuple[dict[str, str], bool]:
        entered = enter_namespaces(mounts=False, network=True)
        return identities(), entered.has_mounts

    here = identities()
    there, has_mounts = run_apart(run)

    assert there["net"] != here["net"]
    assert has_mounts or there["mnt"] == here["mnt"]


@pytest.mark.integration
@needs_network
def test_without_a_network_nothing_is_reached_but_processes_beside() -> None:
    program = """
import socket
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen()
client = socket.create_connection(server.getsockname()); client.send(b"x")
print(server.accept()[0].recv(1))
try:
    socket.create_connection(("192.0.2.1", 9), timeout=5)
except OSError as error:
    print(error.errno)
"""

    def run() -> str:
        enter_namespaces(network=True)
        bring_loopback_up()
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        return ran.stdout + ran.stderr

    assert run_apart(run) == f"b'x'\n{errno.ENETUNREACH}\n"


@needs_world
@pytest.mark.skipif(os.geteuid() == 0, reason="root has these rights anyway")
def test_rights_in_the_namespace_are_given_up(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.touch(mode=0)

    def run() -> list[bool]:
        entered = enter_namespaces()
        had = [libc.has_capability(libc.CAP_SYS_ADMIN), os.access(closed, os.R_OK)]
        give_up_rights(entered)
        with pytest.raises(PermissionError):
            closed.read_bytes()
        with pytest.raises(PermissionError):
            libc.mount("tmpfs", str(tmp_path), "tmpfs")
        return [*had, libc.has_capability(libc.CAP_SYS_ADMIN)]

    assert run_apart(run)[0::2] == [True, False]


@needs_network
def test_a_replay_without_a_network_may_do_what_its_user_may(tmp_path: Path) -> None:
    """In a user namespace a process has every right to the files of its user, whatever their modes say."""
    closed = tmp_path / "closed"
    closed.touch(mode=0)

    def run() -> tuple[bool, bool]:
        os.chdir(tmp_path)
        if os.geteuid() == 0:
            nobody = 65534
            os.chown(tmp_path, nobody, nobody)
            os.chown(closed, nobody, nobody)
            os.setgroups([])
            os.setgid(nobody)
            os.setuid(nobody)
            libc.library().prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: as a process of that user begins
        is_cut_off = cut_off()
        try:
            Path(closed.name).read_bytes()
        except PermissionError:
            return is_cut_off, False
        return is_cut_off, True

    assert run_apart(run) == (True, False)


@linux_only
def test_a_process_with_threads_is_refused_and_as_it_was() -> None:
    def run() -> tuple[str, bool, bool]:
        before, over = identities(), threading.Event()
        threading.Thread(target=over.wait).start()
        with pytest.raises(NamespaceRefused) as refused:
            enter_namespaces()
        over.set()
        return refused.value.reason, refused.value.is_entered, identities() == before

    reason, is_entered, is_same = run_apart(run)

    assert reason == "the process has 2 threads; expected one"
    assert (is_entered, is_same) == (False, True)


@needs_world
def test_a_user_who_may_not_is_refused_and_as_before() -> None:
    """Root without capabilities may not map its own id; a user runs into a limit."""

    def run() -> tuple[str, bool, bool]:
        if os.geteuid() != 0:
            enter_namespaces()
            Path("/proc/sys/user/max_user_namespaces").write_text("0")
        libc.drop_capabilities()
        before = identities()
        with pytest.raises(NamespaceRefused) as refused:
            enter_namespaces()
        return refused.value.reason, refused.value.is_entered, identities() == before

    reason, is_entered, is_same = run_apart(run)

    expected = "uid_map: Operation not permitted", "unshare: No space left on device"
    assert reason == expected[os.geteuid() != 0]
    assert (is_entered, is_same) == (False, True)


@linux_only
def test_half_a_namespace_is_never_taken_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> bool:
        def refuse(*_arguments: object) -> None:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(libc, "mount", refuse)
        monkeypatch.setattr(namespaces, "_try_in_child", lambda _flags, **_options: "")
        with pytest.raises(NamespaceRefused) as refused:
            enter_namespaces()
        return refused.value.is_entered

    if probe_world().available:
        assert run_apart(run)


@pytest.mark.integration
@linux_only
def test_probes_leave_the_process_as_it_was() -> None:
    def run() -> tuple[bool, list[object]]:
        before = identities(), os.listdir("/proc/self/fd")
        for probe in (probe_world, probe_process_number, probe_network):
            probe.cache_clear()
        results = [probe() for probe in (probe_world, probe_process_number, probe_network)]
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, 0)
        return (identities(), os.listdir("/proc/self/fd")) == before, results

    is_same, results = run_apart(run)

    assert is_same
    assert all(result.available is not bool(result.reason) for result in results)


@pytest.mark.integration
@needs_world
def test_a_probe_says_what_was_refused() -> None:
    def run() -> tuple[object, ...]:
        if os.geteuid() != 0:
            enter_namespaces()
            Path("/proc/sys/user/max_user_namespaces").write_text("0")
        libc.drop_capabilities()
        namespaces._try_in_child.cache_clear()
        for probe in (probe_world, probe_network):
            probe.cache_clear()
        return probe_world(), probe_network()

    for result in run_apart(run):
        assert not result.available
        assert result.reason.startswith(("uid_map: ", "unshare: "))


@pytest.mark.integration
@needs_number
def test_a_probe_writes_nothing_twice(capfd: pytest.CaptureFixture[str]) -> None:
    def run() -> None:
        sys.stdout = os.fdopen(1, "w", buffering=1 << 16)
        print("once")
        probe_process_number.cache_clear()
        probe_process_number()
        sys.stdout.flush()

    run_apart(run)

    assert capfd.readouterr().out == "once\n"


@linux_only
def test_the_death_of_a_parent_reaches_its_child() -> None:
    reading, writing = os.pipe()

    def run() -> int:
        parent = os.getpid()
        child = os.fork()
        if not child:
            libc.end_with_parent(parent)
            os.write(writing, b"ready")
            signal.pause()
        os.read(reading, 5)
        return child

    run_apart(run)
    os.close(writing)

    assert os.read(reading, 1) == b""
    os.close(reading)


@linux_only
def test_a_child_whose_parent_is_gone_already_ends_at_once() -> None:
    def run() -> int:
        child = os.fork()
        if not child:
            libc.end_with_parent(1 << 22)  # no process has that number
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert run() == 1
