"""Real Blender behind the protocol: two servers in other surroundings build one scene, and say so."""

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
    [
        ("camera.create", {"name": "Eye"}),
        ("object.transform", {"name": "Eye", "location": [0.0, 0.0, 12.0]}),
    ],
    [
        ("object.create", {"name": "Empty"}),
        ("object.transform", {"name": "Empty", "scale": [2, 2, 2]}),
    ],
]
LAST: list[Call] = [
    ("object.parent", {"name": "Thing1", "parent": "Empty"}),
    ("modifier.add", {"name": "Thing0", "kind": "BEVEL", "settings": {"width": 0.05}}),
    ("render.pixels", {"camera": "Eye", "width": 48, "height": 48, "samples": 4}),
    ("scene.snapshot", {}),
]


def calls(order: int) -> list[Call]:
    """Thirty calls; what does not depend on each other in another order."""
    things = list(THINGS)
    random.Random(order).shuffle(things)
    paint: Call = ("material.create", {"name": "Paint", "color": [0.8, 0.2, 0.1]})
    return [*GROUND, paint, *(call for thing in things for call in thing), *LAST]


async def built(python: str, out: Path, order: int, extra: list[Call], env: dict[str, str]) -> Any:
    options = ["--session-seed", "11", "--python", python]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "twice", "tools", "serve", "blender", "-o", str(out), *options],
        env={**os.environ, "PYTHONPATH": SOURCE, **env},
        cwd=out.parent,
    )
    found = []
    async with Client(server) as client:
        for tool, arguments in [*calls(order), *extra]:
            answer = await client.call_tool(tool, arguments)
            envelope = answer.structured_content
            assert envelope is not None
            assert envelope["ok"], (tool, envelope)
            found.append(envelope["result"])
    return found


def said(python: str, *arguments: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Return the exit code and output of a command of the interpreter that recorded."""
    done = subprocess.run(
        [python, "-m", "twice", *arguments],
        env={**os.environ, "PYTHONPATH": SOURCE, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_two_servers_build_one_scene(blender_python: str, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    a, b = tmp_path / "one" / "a.twice", tmp_path / "other" / "b.twice"
    kept: list[Call] = [("scene.keep", {"file": "before.state"})]
    moved: list[Call] = [
        ("object.transform", {"name": "Thing2", "location": [-1.0, 2 / 3 + 1e-6, 0.5]}),
        ("scene.diff", {"before": "before.state"}),
        ("scene.snapshot", {}),
    ]
    one = anyio.run(built, blender_python, a, 1, [*kept, *moved], {"PYTHONHASHSEED": "1"})
    elsewhere = {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"}
    other = anyio.run(built, blender_python, b, 2, [], elsewhere)

    assert len(calls(1)) >= 30
    at = len(calls(1)) - 1
    assert one[at]["core_fingerprint"] == other[at]["core_fingerprint"]
    assert one[at - 1]["pixels"] == other[at - 1]["pixels"]
    assert one[-1]["core_fingerprint"] != one[at]["core_fingerprint"]
    places = str(one[-2])
    assert "Thing2" in places
    assert "Thing3" not in places

    assert said(blender_python, "verify", str(a))[1].startswith("PASS")
    assert said(blender_python, "verify", str(b))[1].startswith("PASS")


def test_a_call_that_differs_is_diagnosed(blender_python: str, tmp_path: Path) -> None:
    a, b = tmp_path / "a.twice", tmp_path / "b.twice"
    anyio.run(built, blender_python, a, 1, [], {})
    code, _ = said(
        blender_python, "branch", str(a), "--at", "1", "-o", str(b),
        "--input", 'call={tool="displace.noise", arguments={name="Ground", scale=2.0, strength=0.4}}',
    )  # fmt: skip
    assert code == 0

    code, told = said(blender_python, "diagnose", str(a), str(b), "--json")

    assert code == 1
    assert '"result": "localised"' in told
    assert '"tick": 1' in told
