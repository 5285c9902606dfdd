"""``twice mcp --http``: a client with the token is served, and a stranger gets status 401.

It starts a process: the command takes over the signals of its process, and serves until one says stop.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import httpx
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from programs import cli

pytestmark = pytest.mark.integration

LISTING = "import os\nfor each in os.listdir('.'):\n    print(each)\n"
TOKEN = "not-a-secret-but-long-enough"


@contextlib.contextmanager
def served(folder: Path, *options: str) -> Iterator[list[str]]:
    """Start a server on a port that it chooses, and yield the words that it says of itself."""
    with subprocess.Popen(
        [sys.executable, "-m", "twice", "mcp", "--root", str(folder), "--http", "127.0.0.1:0", *options],
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            assert line.startswith("serving http://127.0.0.1:"), line + process.stderr.read()
            yield line.split()
        finally:
            process.terminate()
            assert process.wait(60) == 0


def check_file(url: str, token: str) -> dict[str, Any]:
    """Call a tool that reads."""

    async def work() -> dict[str, Any]:
        head = {"Authorization": f"Bearer {token}"}
        async with (
            create_mcp_http_client(headers=head) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            arguments = {"paths": ["a.py"], "min": "informational"}
            document = (await client.call_tool("check", arguments)).structured_content
            assert isinstance(document, dict)
            return document

    return anyio.run(work)


def test_a_client_with_the_token_is_served_and_a_stranger_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        'seen = [each for each in {"elm", "oak"}]\nopen("a.txt", "w").write(str(seen))\n',
        encoding="utf-8",
    )
    (tmp_path / "token.txt").write_text(TOKEN + "\n", encoding="utf-8")

    with served(tmp_path, "--token-file", str(tmp_path / "token.txt")) as (_, url):
        without = httpx.post(url, json={})
        wrong = httpx.post(url, json={}, headers={"Authorization": f"Bearer {TOKEN[:-1]}"})
        told = check_file(url, TOKEN)

    assert told["answer"]["findings"][0]["path"].endswith("a.py")
    assert (without.status_code, wrong.status_code) == (401, 401)
    assert without.headers["www-authenticate"] == "Bearer"


def test_without_a_file_the_server_makes_a_token_and_prints_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print(1)\n", encoding="utf-8")

    with served(tmp_path) as (_, url, *words):
        assert httpx.post(url.rstrip(","), json={}).status_code == 401
        assert check_file(url.rstrip(","), words[-1])["result"] == "nothing found"


def test_no_other_machine_is_served(tmp_path: Path) -> None:
    done = cli("mcp", "--root", str(tmp_path), "--http", "0.0.0.0:0", cwd=tmp_path)

    assert done.returncode == 2
    assert "0.0.0.0 can be reached from other machines." in done.stderr
