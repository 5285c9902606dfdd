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

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client, StdioServerParameters

import twice

pytestmark = pytest.mark.heavy

Call = tuple[str, dict[str, Any]]
SOURCE = str(Path(twice.__file__).parents[1])
GROUND: list[Call] = [
    ("mesh.primitive", {"kind": "grid", "name": "Ground", "size": 10.0, "segments": 12}),
    ("displace.noise", {"name": "Ground", "scale": 2.0, "strength": 0.3}),
    ("material.create", {"name": "Paint", "color": [0.8, 0.2, 0.1]}),
]
THINGS: list[list[Call]] = [
    *(
        [
            ("mesh.primitive", {"kind": kind, "name": f"Thing{at}", "size": 0.5 + at / 8}),
            ("object.transform", {"name": f"Thing{at}", "location": [at - 3.0, at / 3, 0.5]}),
            ("material.assign", {"name": f"Thing{at}", "material": "Paint"}),
        ]
        for at, kind in enumerate(["cube", "sphere", "cone", "cylinder", "cube", "sphere"])
    ),
    [("scatter.points", {"target": "Ground", "count": 40, "name": "Seeds"})],
    [("light.create", {"name": "Sun", "kind": "SUN", "energy": 3.0})],
    [("camera.create", {"name": "Eye", "location": [0.0, 0.0, 12.0]})],
    [("object.create", {"name": "Empty"})],
]
LAST: list[Call] = [
    ("object.parent", {"name": "Thing1", "parent": "Empty"}),
    ("modifier.add", {"name": "Thing0", "kind": "BEVEL", "settings": {"width": 0.05}}),
    ("render.pixels", {"camera": "Eye", "width": 48, "height": 48, "samples": 4}),
    ("scene.snapshot", {}),
]


def list_calls(order: int) -> list[Call]:
    """What does not depend on each other in another order."""
    things = random.Random(order).sample(THINGS, len(THINGS))
    return [*GROUND, *(call for thing in things for call in thing), *LAST]


async def serve(python: str, out: Path, calls: list[Call], env: dict[str, str]) -> list[Any]:
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


def ask(python: str, *arguments: str) -> tuple[int, str]:
    """Return the exit code of a command and all that it said."""
    done = subprocess.run(
        [python, "-m", "twice", *arguments],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_two_servers_build_one_scene(blender_python: str, tmp_path: Path) -> None:
    a, b = tmp_path / "one" / "a.twice", tmp_path / "other" / "b.twice"
    for record in (a, b):
        record.parent.mkdir()
    more: list[Call] = [
        ("scene.keep", {"file": "before.state"}),
        ("object.transform", {"name": "Thing2", "location": [-1.0, 2 / 3 + 1e-6, 0.5]}),
        ("scene.diff", {"before": "before.state"}),
        ("scene.snapshot", {}),
    ]
    one = anyio.run(serve, blender_python, a, [*list_calls(1), *more], {"PYTHONHASHSEED": "1"})
    elsewhere = {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"}
    other = anyio.run(serve, blender_python, b, list_calls(2), elsewhere)

    picture, snapshot = one[len(other) - 2 : len(other)]
    assert len(other) >= 29
    assert snapshot["core_fingerprint"] == other[-1]["core_fingerprint"]
    assert picture["pixels"] == other[-2]["pixels"]
    assert one[-1]["core_fingerprint"] != snapshot["core_fingerprint"]
    assert {entry["name"] for entry in one[-2]["differences"]} == {"Thing2"}
    for record in (a, b):
        assert ask(blender_python, "verify", str(record))[1].startswith("PASS")


def test_a_call_that_differs_is_diagnosed(blender_python: str, tmp_path: Path) -> None:
    a, b = tmp_path / "a.twice", tmp_path / "b.twice"
    anyio.run(serve, blender_python, a, GROUND, {})
    call = 'call={tool="displace.noise", arguments={name="Ground", scale=2.0, strength=0.4}}'
    code, said = ask(blender_python, "branch", str(a), "--at", "1", "-o", str(b), "--input", call)
    assert code == 0, said

    code, said = ask(blender_python, "diagnose", str(a), str(b), "--json")

    assert code == 1
    assert '"result": "localised"' in said
    assert '"tick": 1' in said


def test_where_blender_is_not_nothing_can_be_told(blender_python: str, tmp_path: Path) -> None:
    a = tmp_path / "a.twice"
    anyio.run(serve, blender_python, a, GROUND, {})

    code, said = ask(sys.executable, "verify", str(a))

    assert (code, said.split(":")[0]) == (2, "UNKNOWN")
    assert "loaded bpy, not installed here" in said
    code, said = ask(sys.executable, "tools", "verify", "blender", "object.create")
    assert code == 2
    assert "bpy is not installed" in said
