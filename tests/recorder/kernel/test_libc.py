"""The module can be imported and asked on every system; a refusal is an ``OSError`` with its number."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest
from apart import run_apart

from twice.recorder.kernel import libc

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
ON_ANOTHER_SYSTEM = """
import platform, sys
sys.platform, platform.machine = "darwin", lambda: "arm64"
from twice.recorder.kernel import kept_program, libc, mounts, namespaces, world
assert not libc.has_capability(21)
try:
    namespaces.enter_namespaces()
except namespaces.NamespaceRefused as refused:
    print(refused.reason)
try:
    libc.drop_capabilities()
except OSError as error:
    print(error.errno)
"""


@pytest.mark.integration
def test_on_another_system_everything_is_refused_in_words() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ON_ANOTHER_SYSTEM], capture_output=True, text=True, check=False
    )

    assert ran.stdout == f"namespaces are a feature of Linux\n{errno.ENOSYS}\n", ran.stderr


@linux_only
def test_a_refusal_has_its_number_and_its_place(tmp_path: object) -> None:
    with pytest.raises(OSError) as refused:
        libc.mount("none", f"{tmp_path}/nothing", "tmpfs")

    assert refused.value.errno in {errno.ENOENT, errno.EPERM}
    assert refused.value.filename == f"{tmp_path}/nothing"
    with pytest.raises(OSError) as refused:
        libc.syscall(1 << 20)
    assert refused.value.errno == errno.ENOSYS


@linux_only
def test_no_new_rights_reach_what_is_executed() -> None:
    def run() -> str:
        libc.set_no_new_privs()
        shown = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True)
        return next(line for line in shown.stdout.splitlines() if line.startswith("NoNewPrivs"))

    assert run_apart(run).split() == ["NoNewPrivs:", "1"]


@linux_only
def test_capabilities_can_be_given_up_by_anyone() -> None:
    def run() -> bool:
        libc.drop_capabilities()
        return libc.has_capability(libc.CAP_SYS_ADMIN)

    assert run_apart(run) is False
    assert os.geteuid() != 0 or isinstance(libc.has_capability(libc.CAP_SYS_ADMIN), bool)
