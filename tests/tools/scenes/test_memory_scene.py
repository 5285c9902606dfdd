"""Claims about the scene in memory: exact ways back, and a refusal by name of what it cannot do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twice.foundation.encoding import decode, encode
from twice.tools.backend import Backend, Restorable, Revertible
from twice.tools.errors import (
    CallRefused,
    SceneArgumentRefused,
    SceneNameTaken,
    SceneNotFound,
    SceneStateForeign,
    SceneUnable,
)
from twice.tools.scenes.memory import MemoryScene
from twice.tools.scenes.mesh import primitive
from twice.tools.scenes.protocol import Lamp, Lens, Scene, Shot, Surface
from twice.tools.scenes.state_file import to_plain
from twice.tools.scenes.transform import Transform

PLACES = {"Box": 0.0, "Ball": 2.0, "Cone": 4.0}
CUBE = primitive("cube", size=2, segments=8, rings=4)


def built(*, names: tuple[str, ...] = ("Box", "Ball", "Cone")) -> MemoryScene:
    scene = MemoryScene()
    for name in names:
        scene.create_object(name, CUBE)
        scene.transform(name, Transform(location=(PLACES[name], 0, 0)))
    scene.create_object("cam", Lens())
    scene.create_object("sun", Lamp("SUN"))
    scene.create_material("red", Surface((1, 0, 0)))
    scene.assign_material("Box", "red")
    scene.create_collection("Group", None)
    scene.create_collection("Inner", "Group")
    scene.link("Box", "Group")
    scene.set_parent("Ball", "Box")
    scene.add_modifier("Cone", "many", "ARRAY", {"count": 2, "x": 0.5})
    return scene


def test_it_is_a_scene_with_both_ways_back() -> None:
    assert all(isinstance(MemoryScene(), kind) for kind in (Backend, Revertible, Restorable, Scene))


def test_the_order_of_making_does_not_count() -> None:
    one, other = built(), built(names=("Cone", "Ball", "Box"))

    assert one.snapshot().tree == other.snapshot().tree


CHANGES: dict[str, Any] = {
    "move": lambda s: s.transform("Box", Transform(location=(1e-6, 0, 0))),
    "delete": lambda s: s.delete_object("Box"),
    "unparent": lambda s: s.set_parent("Ball", None),
    "collection": lambda s: s.create_collection("Other", "Group"),
    "link": lambda s: s.link("Cone", "Group"),
    "mesh": lambda s: s.replace_mesh("Box", primitive("plane", size=1, segments=3, rings=2)),
    "modifier": lambda s: s.add_modifier("Box", "m", "MIRROR", {}),
    "material": lambda s: s.create_material("blue", Surface()),
    "reset": lambda s: s.reset(),
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_every_change_is_seen_and_undone(change: str) -> None:
    scene = built()
    before, checkpoint = scene.fingerprint(), scene.checkpoint()

    for _ in range(2):
        CHANGES[change](scene)
        assert scene.fingerprint() != before
        scene.rollback(checkpoint)
        assert scene.fingerprint() == before


def test_another_scene_takes_a_state_over() -> None:
    scene, other = built(), MemoryScene()
    scene.create_object("Empty", None)
    scene.create_instance("Twin", "Box")
    scene.delete_object("Box")

    other.restore(decode(encode(dict(scene.state()))))

    for each in (scene, other):
        each.transform("Twin", Transform((9, 9, 9)))
        each.create_object("Box2", CUBE)
    assert other.fingerprint() == scene.fingerprint()


def test_a_file_leads_back_and_another_file_does_not(tmp_path: Path) -> None:
    scene = built()
    before = scene.fingerprint()
    scene.save(tmp_path / "a.scene")
    scene.reset()
    scene.load(tmp_path / "a.scene")

    assert scene.fingerprint() == before
    (tmp_path / "b.scene").write_bytes(b"BLENDER-v405")
    with pytest.raises(SceneStateForeign):
        scene.load(tmp_path / "b.scene")
    assert scene.fingerprint() == before


def mutated(document: Any, path: list[int], value: Any) -> Any:
    """Replace one inner value of the document, found by numbers."""
    if not path or not isinstance(document, dict | list) or not document:
        return value
    keys = sorted(document) if isinstance(document, dict) else range(len(document))
    key = keys[path[0] % len(keys)]
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[key] = mutated(document[key], path[1:], value)
    return copy


@settings(max_examples=200)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=7),
    st.sampled_from([None, 0, -1, 2**62, 1.5, "", "Box", b"", b"1234", [], {}, ["meshes", "Nix"]]),
)
def test_a_damaged_state_is_taken_over_whole_or_refused(path: list[int], value: Any) -> None:
    scene = built()
    before = scene.fingerprint()
    document = mutated(scene.state(), path, value)

    try:
        scene.restore(document)
    except CallRefused:
        assert scene.fingerprint() == before
    else:
        assert to_plain(scene.snapshot()) == dict(scene.state())
        assert scene.state()["sections"] == document["sections"]


def test_faces_that_overlap_are_refused_before_they_are_listed() -> None:
    scene = built()
    (block,) = [b for b in scene.state()["sections"]["meshes"] if b[1] == "Box"]
    block[3]["face_starts"]["bytes"] = np.array([0, 24, 0, 24, 0, 24, 24], "<i4").tobytes()

    with pytest.raises(SceneStateForeign, match="overlap"):
        scene.restore(
            {**scene.state(), "sections": {**scene.state()["sections"], "meshes": [block]}}
        )


def test_names_are_kept_or_refused() -> None:
    scene = built()

    for name in ("Box", "red", "Group"):
        with pytest.raises(SceneNameTaken, match=name):
            scene.create_object(name, None)
        with pytest.raises(SceneNameTaken, match=name):
            scene.create_material(name, Surface())
    for name in ("", "x" * 64, "ä" * 32, " x", "a\nb", "\ud800"):
        with pytest.raises(SceneArgumentRefused):
            scene.create_object(name, None)
    scene.create_object("ä" * 31, None)
    assert [scene.holds(name) for name in ("ä" * 31, "Group", "Nix")] == [True, True, False]


def test_deleting_takes_data_along_that_nothing_else_uses() -> None:
    scene = built()
    scene.create_instance("Twin", "Box")
    scene.delete_object("Box")
    assert scene.snapshot().block("meshes", "Box") is not None
    scene.delete_object("Twin")

    assert scene.snapshot().block("meshes", "Box") is None
    block = scene.snapshot().block("objects", "Ball")
    assert block is not None
    assert block.value["parent"] is None
    scene.create_object("Box", CUBE)


def test_what_is_not_there_is_named() -> None:
    scene = built()

    for ask in (
        lambda: scene.delete_object("Nix"),
        lambda: scene.set_parent("Box", "Nix"),
        lambda: scene.link("Box", "Nix"),
        lambda: scene.assign_material("Box", "Nix"),
        lambda: scene.render(Shot("Box", 4, 4, 1, 0)),
    ):
        with pytest.raises(SceneNotFound):
            ask()


def test_nothing_hangs_under_itself() -> None:
    with pytest.raises(SceneArgumentRefused, match="under itself"):
        built().set_parent("Box", "Ball")


def test_what_it_cannot_do_it_says() -> None:
    scene = built()

    with pytest.raises(SceneUnable, match="UNION of 'Box'"):
        scene.boolean("Box", "Cone", "UNION")
    with pytest.raises(SceneUnable, match=r"'Cone' \(ARRAY\)"):
        scene.snapshot(evaluated=True)
    with pytest.raises(SceneUnable, match="what 'cam' sees"):
        scene.render(Shot("cam", 4, 4, 1, 0))


@pytest.mark.parametrize(
    ("kind", "given"),
    [("OCEAN", {}), ("ARRAY", {"levels": 1}), ("SUBSURF", {"levels": 7}), ("SUBSURF", {"levels": 1.5})],
)  # fmt: skip
def test_modifiers_outside_the_list_are_refused(kind: str, given: dict[str, float]) -> None:
    with pytest.raises(SceneArgumentRefused, match="Expected"):
        built().add_modifier("Box", "m", kind, given)


def test_matrices_follow_the_parents() -> None:
    scene = built()
    scene.transform("Box", Transform((1, 2, 3), (0, 0, np.pi / 2), (2, 2, 2)))
    scene.transform("Ball", Transform((1, 0, 0), (0, 0, 0)))
    block = scene.snapshot().block("objects", "Ball")
    assert block is not None

    place = np.array(block.value["matrix_world"]).reshape(4, 4)[:3, 3]

    assert np.allclose(place, [1, 4, 3])
