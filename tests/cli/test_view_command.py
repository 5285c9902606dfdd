"""The address that ``twice view`` prints, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from programs import environ, recorded
from twice.cli.listening import open_browser


def test_a_browser_is_started_without_the_token_in_its_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = list[str]()
    monkeypatch.setattr("webbrowser.open", lambda uri: not started.append(uri))

    with open_browser("http://127.0.0.1:1/?token=secret&more") as is_open:
        (uri,) = started
        page = Path(uri.removeprefix("file://"))
        assert is_open
        assert "secret" not in uri
        assert "http://127.0.0.1:1/?token=secret&amp;more" in page.read_text()
        assert page.parent.stat().st_mode & 0o077 == 0
    assert not page.exists()


@pytest.mark.integration
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
