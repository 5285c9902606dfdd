"""Another host name for one process: given whole, or refused with the process as it was."""

from __future__ import annotations

import os
import socket

import pytest
from apart import needs_world, run_apart

from twice.recording.kernel import libc
from twice.recording.surroundings.isolating import rename_host


@needs_world
def test_the_name_is_the_process_s_own() -> None:
    def run() -> tuple[str, int, int]:
        rename_host("elsewhere")
        return socket.gethostname(), os.geteuid(), os.getegid()

    assert run_apart(run) == ("elsewhere", os.geteuid(), os.getegid())
    assert socket.gethostname() != "elsewhere"


@needs_world
@pytest.mark.skipif(os.geteuid() != 0, reason="root without rights may make a namespace and no map")
def test_who_may_not_map_an_id_keeps_its_own() -> None:
    def run() -> tuple[int, int]:
        libc.drop_capabilities()
        with pytest.raises(OSError, match="not permitted"):
            rename_host("elsewhere")
        return os.geteuid(), os.getegid()

    assert run_apart(run) == (os.geteuid(), os.getegid())
