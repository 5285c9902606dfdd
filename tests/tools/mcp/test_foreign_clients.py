"""Clients of other libraries, on both generations of the SDK, get the envelopes that its own client gets."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from test_serving import CALLS, OUTCOMES, SERVE, served

import environments
import twice
from programs import HANGS_AFTER_S
from twice.replayer.verify import verify

FIRST_SDK = ("langchain-mcp-adapters==0.3.2", "mcp-use==1.7.1", "mcp==1.30.0")
CLIENTS = {
    "fastmcp": ("fastmcp==4.2.3",),
    "langchain-mcp-adapters": FIRST_SDK,
    "mcp-use": FIRST_SDK,
}


@pytest.mark.heavy  # environments with libraries of their own
@pytest.mark.parametrize("way", ["stdio", "http"])
@pytest.mark.parametrize("library", CLIENTS)
def test_a_foreign_client_gets_the_envelopes(library: str, way: str, tmp_path: Path) -> None:
    python, why = environments.interpreter_with(*CLIENTS[library])
    if why:
        pytest.skip(why)
    options = ["-o", str(tmp_path / "a.twice"), "--session-seed", "7"]
    calls = [
        call for call in CALLS if call[0] != "nope"
    ]  # LangChain asks for no tool that is not there

    def talk(where: object) -> tuple[list[str], list[dict[str, object]]]:
        done = subprocess.run(
            [python, Path(__file__).with_name("foreign_clients.py"), library, *map(json.dumps, (where, calls))],
            env={**os.environ, "MCP_USE_ANONYMIZED_TELEMETRY": "false"},
            capture_output=True, text=True, check=False, timeout=HANGS_AFTER_S,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found: tuple[list[str], list[dict[str, object]]] = json.loads(done.stdout.splitlines()[-1])
        return found

    if way == "stdio":  # Clients hand little of their own environment on.
        source = f"PYTHONPATH={Path(twice.__file__).parents[1]}"
        names, found = talk(["env", source, *SERVE, *options])
    else:
        with served("--http", "127.0.0.1:0", *options) as url:
            names, found = talk(url)

    told = [each["result"] if each["ok"] else each["error"]["code"] for each in found]
    assert len(names) == 13
    assert [told[0], *told[2:]] == [2, *(each for each in OUTCOMES if each != "not_found")]
    with twice.trusting(tmp_path / "a.twice"):  # The server had another home than this test.
        assert verify(tmp_path / "a.twice").result == "PASS"
