"""The address that ``twice view`` prints, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from programs import environ, recorded

pytestmark = pytest.mark.integration


def test_the_first_line_opens_the_page_and_an_interrupt_ends_it(tmp_path: Path) -> None:
    with recorded(tmp_path, "def main(run): run.track('x', {})") as record:
        # A process of its own: it serves until a signal comes.
        process = subprocess.Popen(
            [sys.executable, "-m", "twice", "view", str(record.path), "--no-browser"],
            stdout=subprocess.PIPE,
            env=environ(),
            text=True,
        )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    with urllib.request.urlopen(address, timeout=60) as answer:
        assert answer.status == 200
    process.send_signal(signal.SIGINT)

    rest, _ = process.communicate(timeout=60)

    assert (process.returncode, rest) == (0, "")
