"""Claims about the scene in memory: exact ways back, and digests that are kept only while they hold."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twice.foundation.encoding import decode, encode
from twice.tools.backend import Backend, Restorable, Revertible
from twice.tools.errors import CallRefused, SceneStateForeign, SceneUnable, SceneValueRefused
from twice.tools.scenes.memory import MemoryScene
from twice.tools.scenes.mesh import primitive
from twice.tools.scenes.protocol import Lamp, Lens, Surface

CUBE = primitive("cube", size=2, segments=8, rings=4)


def built(*, names: tuple[str, ...] = ("Box", "Ball", "Cone")) -> MemoryScene:
    scene = MemoryScene()
    for name in names:
        scene.create_object(name, CUBE)
        scene.transform(name, location=(len(name), 0, 0))
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


def value(scene: MemoryScene, section: str, name: str) -> Any:
    block = scene.snapshot().block(section, name)
    return None if block is None else block.value


def test_it_has_both_ways_back() -> None:
    assert all(isinstance(MemoryScene(), kind) for kind in (Backend, Revertible, Restorable))


def test_the_order_of_making_does_not_count() -> None:
    assert built().fingerprint() == built(names=("Cone", "Ball", "Box")).fingerprint()


CHANGES: dict[str, Callable[[MemoryScene], object]] = {
    "move": lambda s: s.transform("Box", location=(1e-6, 0, 0)),
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


MOVES: dict[str, Callable[[MemoryScene], object]] = {
    **CHANGES,
    "build": lambda s: s.restore(built().state()),
    "hang": lambda s: s.set_parent("Cone", "Ball"),
    "box again": lambda s: s.create_object("Box", None),
    "lamp": lambda s: s.create_object("lamp", Lamp()),
    "look": lambda s: s.fingerprint(),
}


def made_anew(scene: MemoryScene) -> str:
    """The fingerprint of the same scene, by one that has kept nothing."""
    fresh = MemoryScene()
    fresh.rollback(scene.checkpoint())
    return fresh.fingerprint()


@settings(max_examples=60)
@given(st.lists(st.sampled_from([*sorted(MOVES), "checkpoint", "rollback"]), max_size=12))
def test_what_is_kept_from_state_to_state_is_what_would_be_made_anew(moves: list[str]) -> None:
    scene = built()
    checkpoints = [(scene.checkpoint(), scene.fingerprint())]

    for move in moves:
        if move == "checkpoint":
            checkpoints.append((scene.checkpoint(), scene.fingerprint()))
        elif move == "rollback":
            scene.rollback(checkpoints[-1][0])
            assert scene.fingerprint() == checkpoints[-1][1]
        else:
            with suppress(CallRefused):
                MOVES[move](scene)

    assert scene.fingerprint() == made_anew(scene)


def test_nothing_is_kept_of_a_state_without_a_fingerprint() -> None:
    scene = built()
    for name in ("Box", "Ball"):
        scene.transform(name, scale=(1e30, 1e30, 1e30))
    with pytest.raises(SceneValueRefused, match="finite"):
        scene.fingerprint()

    scene.delete_object("cam")
    scene.transform("Box", scale=(1, 1, 1))

    assert scene.fingerprint() == made_anew(scene)


def test_another_scene_takes_a_state_over() -> None:
    scene, other = built(), MemoryScene()
    scene.create_object("Empty", None)
    scene.create_instance("Twin", "Box")
    scene.delete_object("Box")

    other.restore(decode(encode(dict(scene.state()))))

    for each in (scene, other):
        each.transform("Twin", (9, 9, 9))
        each.create_object("Box2", CUBE)
    assert other.fingerprint() == scene.fingerprint()


def test_another_file_changes_nothing(tmp_path: Path) -> None:
    scene = built()
    before = scene.fingerprint()
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
        assert scene.state() == document


def test_faces_that_overlap_are_refused_before_they_are_listed() -> None:
    scene = built()
    state = scene.state()
    (block,) = [block for block in state["sections"]["meshes"] if block[1] == "Box"]
    block[3]["face_starts"]["bytes"] = np.array([0, 24, 0, 24, 0, 24, 24], "<i4").tobytes()

    with pytest.raises(SceneStateForeign, match="overlap"):
        scene.restore(state)


@pytest.mark.parametrize(("field", "strange"), [("color", "abc"), ("color", ""), ("metallic", "")])
def test_a_text_in_place_of_a_number_is_refused(field: str, strange: str) -> None:
    scene = built()
    state = scene.state()
    state["sections"]["materials"][0][3][field] = strange

    with pytest.raises(SceneStateForeign):
        scene.restore(state)


def test_deleting_takes_data_along_that_nothing_else_uses() -> None:
    scene = built()
    scene.create_instance("Twin", "Box")
    scene.delete_object("Box")
    assert value(scene, "meshes", "Box") is not None
    scene.delete_object("Twin")

    assert value(scene, "meshes", "Box") is None
    assert value(scene, "objects", "Ball")["parent"] is None
    scene.create_object("Box", CUBE)


def test_it_does_not_guess_geometry_after_modifiers() -> None:
    with pytest.raises(SceneUnable, match=r"'Cone' \(ARRAY\)"):
        built().snapshot(evaluated=True)


def test_matrices_follow_the_parents() -> None:
    scene = built()
    scene.transform("Ball", (1, 0, 0), (0, 0, 0))
    for angle, place in ((0, [3, 2, 3]), (np.pi / 2, [1, 4, 3])):
        scene.transform("Box", (1, 2, 3), (0, 0, angle), (2, 2, 2))
        matrix = np.array(value(scene, "objects", "Ball")["matrix_world"]).reshape(4, 4)

        assert np.allclose(matrix[:3, 3], place)
