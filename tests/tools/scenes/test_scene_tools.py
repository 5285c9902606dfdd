"""Claims about the scene tools, on a scene in memory: one envelope each, and nothing half done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from twice.tools.scenes import BLENDER, MEMORY, TOOLS
from twice.tools.scenes.memory import MemoryScene
from twice.tools.scenes.protocol import digest_pixels
from twice.tools.scenes.state import array
from twice.tools.session import Session


class Tools:
    """A session on a scene in memory."""

    def __init__(self) -> None:
        self.session = Session(MEMORY, MEMORY.open_backend())

    def __call__(self, name: str, /, **arguments: Any) -> Any:
        envelope = self.session.call(name, arguments)
        assert envelope["ok"], envelope
        return envelope["result"]

    def refused(self, name: str, /, **arguments: Any) -> str:
        before = self.session.backend.fingerprint()
        envelope = self.session.call(name, arguments)
        assert not envelope["ok"], envelope
        assert self.session.backend.fingerprint() == before
        return str(envelope["error"]["code"])

    @property
    def state(self) -> str:
        return str(self("scene.snapshot")["fingerprint"])


@pytest.fixture
def tools() -> Tools:
    tools = Tools()
    tools("mesh.primitive", kind="cube", name="Box")
    tools("mesh.primitive", kind="sphere", name="Ball", segments=12, rings=8)
    tools("camera.create", name="cam", location=[0, 0, 10])
    tools("light.create", kind="SUN", name="sun")
    return tools


def test_both_registries_offer_the_same_tools_and_none_runs_code() -> None:
    names = [tool.name for tool in TOOLS]
    drawing = [tool.name for tool in TOOLS if tool.determinism.value != "deterministic"]

    assert len(set(names)) == len(names) == 24
    assert drawing == ["displace.noise", "scatter.points"]
    assert not [name for name in names if "exec" in name or "python" in name]
    assert BLENDER.fingerprint == MEMORY.fingerprint


UNION = {"name": "Box", "other": "Ball", "operation": "UNION"}
LEVELS: dict[str, Any] = {"name": "Box", "kind": "SUBSURF"}
REFUSED: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "conflict": [
        ("mesh.primitive", {"kind": "cube", "name": "Box"}),
        ("material.create", {"name": "Box"}),
        ("collection.create", {"name": "sun"}),
    ],
    "invalid_arguments": [
        ("mesh.primitive", {"kind": "torus"}),
        *(("object.create", {"name": name}) for name in ("x" * 64, "ä" * 32, "", " x", "a\nb", "\ud800")),
        ("mesh.from_data", {"vertices": [[0, 0, 0]], "faces": [[0, 1, 2]]}),
        ("object.parent", {"name": "Box", "parent": "Box"}),
        ("object.transform", {"name": "Box", "location": [1e7, 0, 0]}),
        ("displace.noise", {"name": "cam", "seed": 1}),
        ("scatter.points", {"target": "sun", "count": 3, "seed": 1}),
        ("modifier.add", {"name": "Box", "kind": "OCEAN"}),
        ("modifier.add", {"name": "Box", "kind": "ARRAY", "settings": {"levels": 1}}),
        ("modifier.add", {**LEVELS, "settings": {"levels": 7}}),
        ("modifier.add", {**LEVELS, "settings": {"levels": 1.5}}),
        ("scene.load", {"file": "nothing.scene"}),
        ("scene.diff", {"before": "nothing.scene"}),
    ],
    "not_found": [
        ("object.delete", {"name": "Nix"}),
        ("object.parent", {"name": "Box", "parent": "Nix"}),
        ("collection.link", {"name": "Box", "collection": "Nix"}),
        ("material.assign", {"name": "Box", "material": "gold"}),
        ("render.pixels", {"camera": "Box"}),
    ],
    "capability_missing": [("mesh.boolean", UNION), ("render.pixels", {"camera": "cam"})],
    "seed_required": [("displace.noise", {"name": "Ball"})],
}  # fmt: skip


@pytest.mark.parametrize("code", sorted(REFUSED))
def test_what_cannot_be_done_has_a_code_and_changes_nothing(tools: Tools, code: str) -> None:
    for name, arguments in REFUSED[code]:
        assert tools.refused(name, **arguments) == code, (name, arguments)


@pytest.mark.parametrize("name", ["scene.save", "scene.load", "scene.keep"])
def test_no_file_name_leads_out_of_the_folder(tools: Tools, name: str, tmp_path: Any) -> None:
    (tools.session.backend.folder / "out").symlink_to(tmp_path)

    for file in ("../a", "/etc/passwd", "a/../../b", "", ".", "a//b", "a\\b", "a\n", "out/a.scene"):
        assert tools.refused(name, file=file) == "invalid_arguments"
    assert not list(tmp_path.iterdir())


def test_noise_and_points_follow_the_seed() -> None:
    states = []
    for seed in (1, 1, 2):
        fresh = Tools()
        fresh("mesh.primitive", kind="sphere", name="Ball")
        fresh("displace.noise", name="Ball", seed=seed)
        fresh("scatter.points", target="Ball", count=9, name="dots", seed=seed)
        states.append(fresh.state)

    assert states[0] == states[1] != states[2]


def test_scattered_objects_share_data_and_hang_under_the_target(tools: Tools) -> None:
    tools("scatter.points", target="Ball", count=3, name="dot", instance_of="Box", seed=1)

    objects = tools("scene.snapshot", values=True)["sections"]["objects"]
    dots = [each for each in objects if each["name"].startswith("dot-")]
    assert [each["name"] for each in dots] == ["dot-0", "dot-1", "dot-2"]
    assert {each["value"]["parent"] for each in dots} == {"Ball"}
    assert all(each["value"]["data"] == ["meshes", "Box"] for each in dots)


def test_a_millionth_is_found_and_named(tools: Tools) -> None:
    tools("scene.keep", file="before.scene")
    tools("object.transform", name="Box", location=[0, 1e-6, 0])
    tools("scene.keep", file="after.scene")

    told = tools("scene.diff", before="before.scene", after="after.scene")
    near = tools("scene.compare", before="before.scene", within=1e-5)

    assert told["differences"][0]["path"] == "objects['Box'].location[1]"
    assert (told["differences"][0]["a"], told["differences"][0]["b"]) == ("0.0", "1e-06")
    assert (near["same"], near["distance"]) == (True, 1e-6)
    assert tools("scene.diff", before="after.scene")["same"]


def test_saved_reset_and_loaded_is_the_same_scene(tools: Tools) -> None:
    before = tools.state
    tools("scene.save", file="a.scene")
    tools("scene.reset")
    assert tools.state != before
    assert tools("scene.load", file="a.scene")["objects"] == 4

    assert tools.state == before


def test_a_picture_is_told_by_its_pixels_and_written_when_wanted(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = array(np.arange(8 * 6 * 4).reshape(6, 8, 4) % 3, "<f4")
    monkeypatch.setattr(MemoryScene, "render", lambda _, shot: drawn)

    told = tools("render.pixels", camera="cam", width=8, height=6, file="picture.npy")

    values = np.load(tools.session.backend.folder / "picture.npy")
    assert values.tobytes() == drawn.tobytes()
    assert told["covered"] == int((values[..., 3] > 0).sum())
    assert told["pixels"] == digest_pixels(drawn)
