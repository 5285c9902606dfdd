"""Claims about the scene tools, on a scene in memory: one envelope each, and nothing half done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from twice.tools.scenes import BLENDER, MEMORY, TOOLS
from twice.tools.scenes.memory import MemoryScene
from twice.tools.scenes.protocol import Pixels
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


def test_there_are_two_dozen_tools_and_none_runs_code() -> None:
    names = [tool.name for tool in TOOLS]

    assert len(set(names)) == len(names) == 24
    assert not [name for name in names if "exec" in name or "python" in name]


def test_seeded_are_the_two_that_draw() -> None:
    assert [tool.name for tool in TOOLS if tool.determinism.value != "deterministic"] == [
        "displace.noise", "scatter.points"
    ]  # fmt: skip


def test_both_registries_offer_the_same_tools() -> None:
    assert BLENDER.fingerprint == MEMORY.fingerprint


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("mesh.primitive", {"kind": "cube", "name": "Box"}, "conflict"),
        ("mesh.primitive", {"kind": "torus"}, "invalid_arguments"),
        ("mesh.primitive", {"kind": "cube", "name": "x" * 64}, "invalid_arguments"),
        ("mesh.from_data", {"vertices": [[0, 0, 0]], "faces": [[0, 1, 2]]}, "invalid_arguments"),
        ("mesh.boolean", {"name": "Box", "other": "Ball", "operation": "UNION"}, "capability_missing"),
        ("object.delete", {"name": "Nix"}, "not_found"),
        ("object.parent", {"name": "Box", "parent": "Box"}, "invalid_arguments"),
        ("object.transform", {"name": "Box", "location": [1e7, 0, 0]}, "invalid_arguments"),
        ("displace.noise", {"name": "Ball"}, "seed_required"),
        ("displace.noise", {"name": "cam", "seed": 1}, "invalid_arguments"),
        ("scatter.points", {"target": "sun", "count": 3, "seed": 1}, "invalid_arguments"),
        ("modifier.add", {"name": "Box", "kind": "OCEAN"}, "invalid_arguments"),
        ("modifier.add", {"name": "Box", "kind": "SUBSURF", "settings": {"levels": 9}}, "invalid_arguments"),
        ("material.assign", {"name": "Box", "material": "gold"}, "not_found"),
        ("render.pixels", {"camera": "Box"}, "not_found"),
        ("render.pixels", {"camera": "cam"}, "capability_missing"),
        ("scene.load", {"file": "nothing.scene"}, "invalid_arguments"),
        ("scene.diff", {"before": "nothing.scene"}, "invalid_arguments"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_has_a_code_and_changes_nothing(
    tools: Tools, name: str, arguments: dict[str, Any], code: str
) -> None:
    assert tools.refused(name, **arguments) == code


@pytest.mark.parametrize(
    "file", ["../a", "/etc/passwd", "a/../../b", "", ".", "a//b", "a\\b", "a\n"]
)
@pytest.mark.parametrize("name", ["scene.save", "scene.load", "scene.keep"])
def test_no_file_name_leads_out_of_the_folder(tools: Tools, name: str, file: str) -> None:
    assert tools.refused(name, file=file) == "invalid_arguments"


def test_a_link_does_not_lead_out_either(tools: Tools, tmp_path: Any) -> None:
    (tools.session.backend.folder / "out").symlink_to(tmp_path)

    assert tools.refused("scene.save", file="out/a.scene") == "invalid_arguments"
    assert not list(tmp_path.iterdir())


def test_a_name_is_made_from_the_parameters(tools: Tools) -> None:
    made = tools("mesh.primitive", kind="cube")["object"]

    assert made.startswith("cube_")
    assert Tools()("mesh.primitive", kind="cube")["object"] == made
    assert tools.refused("mesh.primitive", kind="cube") == "conflict"


def test_noise_and_points_follow_the_seed(tools: Tools) -> None:
    def after(seed: int) -> str:
        fresh = Tools()
        fresh("mesh.primitive", kind="sphere", name="Ball")
        fresh("displace.noise", name="Ball", seed=seed)
        fresh("scatter.points", target="Ball", count=9, name="dots", seed=seed)
        return fresh.state

    assert after(1) == after(1)
    assert after(1) != after(2)


def test_scattered_objects_share_data_and_hang_under_the_target(tools: Tools) -> None:
    tools("scatter.points", target="Ball", count=3, name="dot", instance_of="Box", seed=1)

    objects = tools("scene.snapshot", values=True)["sections"]["objects"]
    dots = [entry for entry in objects if entry["name"].startswith("dot-")]
    assert [dot["name"] for dot in dots] == ["dot-0", "dot-1", "dot-2"]
    assert {(dot["value"]["parent"], *dot["value"]["data"]) for dot in dots} == {
        ("Ball", "meshes", "Box")
    }


def test_a_millionth_is_found_and_named(tools: Tools) -> None:
    tools("scene.keep", file="before.scene")
    tools("object.transform", name="Box", location=[0, 1e-6, 0])

    told = tools("scene.diff", before="before.scene")
    near = tools("scene.compare", before="before.scene", within=1e-5)

    assert told["differences"][0]["path"] == "objects['Box'].location[1]"
    assert (told["differences"][0]["a"], told["differences"][0]["b"]) == ("0.0", "1e-06")
    assert (near["same"], near["distance"]) == (True, 1e-6)
    assert "sha256" not in str(near)


def test_two_kept_states_are_told_apart(tools: Tools) -> None:
    tools("scene.keep", file="a.scene")
    tools("object.delete", name="Box")
    tools("scene.keep", file="b.scene")

    told = tools("scene.diff", before="a.scene", after="b.scene")

    assert not told["same"]
    assert "objects['Box']" in [entry["path"] for entry in told["differences"]]
    assert tools("scene.diff", before="b.scene")["same"]


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
    drawn = Pixels(array(np.arange(8 * 6 * 4).reshape(6, 8, 4) % 3, "<f4"))
    monkeypatch.setattr(MemoryScene, "render", lambda _, shot: drawn)

    told = tools("render.pixels", camera="cam", width=8, height=6, file="picture.npy")

    values = np.load(tools.session.backend.folder / "picture.npy")
    assert values.tobytes() == drawn.values.tobytes()
    assert told["covered"] == int((values[..., 3] > 0).sum())
    assert told["pixels"] == drawn.fingerprint
