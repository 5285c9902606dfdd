"""Real Blender behind the protocol: two servers in other surroundings build one scene, and say so.

Blender crashes beside other threads, so each session is a process of its own by design.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from calls import CHANGES, MAKERS, SHOT

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client, StdioServerParameters

import twice

pytestmark = pytest.mark.heavy

Call = tuple[str, dict[str, Any]]
SOURCE = str(Path(twice.__file__).parents[1])
GROUND: list[Call] = [
    ("mesh.primitive", {"kind": "grid", "name": "Ground", "size": 10.0, "segments": 12}),
    ("displace.noise", {"name": "Ground", "scale": 2.0, "strength": 0.3}),
]


async def serve(python: str, out: Path, calls: list[Call], **env: str) -> list[Any]:
    options = ["--session-seed", "11", "--python", python]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "twice", "tools", "serve", "blender", "-o", str(out), *options],
        env={**os.environ, "PYTHONPATH": SOURCE, **env},
        cwd=out.parent,
    )
    found = []
    async with Client(server) as client:
        for tool, arguments in calls:
            envelope = (await client.call_tool(tool, arguments)).structured_content
            assert envelope is not None
            assert envelope["ok"], (tool, envelope)
            found.append(envelope["result"])
    return found


def record(python: str, out: Path, calls: list[Call] = GROUND, **env: str) -> list[Any]:
    out.parent.mkdir(exist_ok=True)

    async def run() -> list[Any]:
        return await serve(python, out, calls, **env)

    return anyio.run(run)


def ask(python: str, *arguments: object) -> tuple[int, str]:
    """Return the exit code of a command and all that it said."""
    command = [python, "-m", "twice", *map(str, arguments)]
    surroundings = {**os.environ, "PYTHONPATH": SOURCE}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_two_servers_build_one_scene(blender_python: str, tmp_path: Path) -> None:
    found = []
    for seed, zone in (("1", "UTC"), ("77", "Asia/Tokyo")):
        out = tmp_path / seed / "a.twice"
        makers = random.Random(seed).sample(MAKERS, len(MAKERS))
        calls = [*makers, *CHANGES, ("render.pixels", SHOT), ("scene.snapshot", {})]
        *_, picture, snapshot = record(blender_python, out, calls, PYTHONHASHSEED=seed, TZ=zone)
        found.append((picture["pixels"], snapshot["core_fingerprint"]))
        assert ask(blender_python, "verify", out)[1].startswith("PASS")

    assert found[0] == found[1]


def test_a_call_that_differs_is_diagnosed(blender_python: str, tmp_path: Path) -> None:
    a, b = tmp_path / "a.twice", tmp_path / "b.twice"
    record(blender_python, a)
    call = 'call={tool="displace.noise", arguments={name="Ground", scale=2.0, strength=0.4}}'
    code, said = ask(blender_python, "branch", a, "--at", 1, "-o", b, "--input", call)
    assert code == 0, said

    code, said = ask(blender_python, "diagnose", a, b, "--json")

    assert code == 1
    assert '"result": "localised"' in said
    assert '"tick": 1' in said


def test_where_blender_is_not_nothing_can_be_told(blender_python: str, tmp_path: Path) -> None:
    record(blender_python, tmp_path / "a.twice")

    code, said = ask(sys.executable, "verify", tmp_path / "a.twice")

    assert (code, said.split(":")[0]) == (2, "UNKNOWN")
    assert "loaded bpy, not installed here" in said
    code, said = ask(sys.executable, "tools", "verify", "blender", "object.create")
    assert code == 2
    assert "bpy is not installed" in said
