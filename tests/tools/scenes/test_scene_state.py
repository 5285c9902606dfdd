"""Claims about states: order never counts, every bit does, and a stranger's state is read or refused."""

from __future__ import annotations

import gc
import json
import math
import random
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import TwiceError
from twice.foundation.comparison import Abs
from twice.foundation.encoding import decode, encode
from twice.tools.errors import SceneArgumentRefused, SceneStateForeign, SceneValueRefused
from twice.tools.scenes.difference import compare_scenes, scene_differences
from twice.tools.scenes.state import Block, SceneState, array, float32, scene_state
from twice.tools.scenes.state_file import from_plain, read_state, state_bytes, summarize, to_plain

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | FLOATS.map(float32) | st.text()
    | st.lists(FLOATS).map(lambda xs: array(xs, "<f4")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip
BLOCKS = st.builds(
    Block, st.sampled_from(["MESH", "EMPTY"]), st.text(max_size=5), st.sampled_from(["", "//a.blend"]),
    st.dictionaries(st.sampled_from(["location", "data", "settings"]), VALUES, max_size=3),
)  # fmt: skip
STATES = st.dictionaries(
    st.sampled_from(["objects", "meshes", "other"]),
    st.lists(BLOCKS, max_size=4, unique_by=lambda block: block.key), max_size=3,
)  # fmt: skip


def state(*blocks: Block, profile: dict[str, str] | None = None) -> SceneState:
    return scene_state(profile or {}, {"objects": blocks})


def box(name: str = "Box", **value: Any) -> Block:
    return Block("MESH", name, "", value)


@given(STATES, st.randoms(use_true_random=False))
def test_the_order_of_blocks_never_counts(
    sections: dict[str, list[Block]], shuffle: random.Random
) -> None:
    mixed = {name: shuffle.sample(blocks, len(blocks)) for name, blocks in sections.items()}
    names = shuffle.sample(sorted(mixed), len(mixed))

    one, other = scene_state({}, sections), scene_state({}, {n: mixed[n] for n in names})

    assert (one.tree, one.core_tree) == (other.tree, other.core_tree)


@given(STATES)
def test_plain_data_and_bytes_lead_back_to_the_same_fingerprints(
    sections: dict[str, list[Block]],
) -> None:
    known = scene_state({"version": "1"}, sections)

    read = from_plain(decode(encode(to_plain(known))))

    assert (read.tree, read.core_tree, read.profile) == (known.tree, known.core_tree, known.profile)
    assert not scene_differences(known, read)


@given(FLOATS, st.booleans())
def test_the_next_32_bit_number_is_another_state(number: float, up: bool) -> None:
    beside = float(np.nextafter(np.float32(number), np.float32(math.inf if up else -math.inf)))
    if not math.isfinite(beside) or beside == number:
        return
    one, other = state(box(location=[float32(number)])), state(box(location=[float32(beside)]))

    assert one.fingerprint != other.fingerprint
    assert one.core_fingerprint != other.core_fingerprint


@given(FLOATS)
def test_a_shortest_number_reads_back_to_its_bits(number: float) -> None:
    assert struct.pack("<f", float32(number)) == struct.pack("<f", number + 0.0)


def test_there_is_one_zero() -> None:
    assert math.copysign(1, float32(-0.0)) == 1
    assert array([-0.0], "<f4").tobytes() == bytes(4)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e39])
def test_numbers_without_identity_are_refused(number: float) -> None:
    with pytest.raises(SceneValueRefused, match="finite"):
        float32(number)
    with pytest.raises(SceneValueRefused, match=r"at \[1\]"):
        array([0, number], "<f4")


def test_the_profile_counts_in_full_and_not_in_the_core() -> None:
    one, other = state(box(), profile={"version": "1"}), state(box(), profile={"version": "2"})

    assert one.fingerprint != other.fingerprint
    assert one.core_fingerprint == other.core_fingerprint


def test_settings_count_in_full_and_not_in_the_core() -> None:
    one, other = state(box(settings={"color": 1})), state(box(settings={"color": 2}))

    assert one.fingerprint != other.fingerprint
    assert one.core_fingerprint == other.core_fingerprint


def test_a_moved_object_is_named_with_its_property_and_both_values() -> None:
    moved = state(box(location=[0.0, 1.0]), box("Ball", location=[2.0]))
    still = state(box(location=[1e-06, 1.0]), box("Ball", location=[2.0]))

    (found,) = scene_differences(moved, still)

    assert (found["section"], found["type"], found["name"]) == ("objects", "MESH", "Box")
    assert found["path"] == "objects['Box'].location[0]"
    assert (found["a"], found["b"], found["distance"]) == ("0.0", "1e-06", 1e-6)


def test_what_stands_on_one_side_only_is_named() -> None:
    (found,) = scene_differences(state(box()), state(box(), box("New")))

    assert found["name"] == "New"
    assert (found["kind"], found["a"], found["b"]) == ("missing", "(absent)", "MESH")


def test_differences_stop_at_their_limit() -> None:
    many = [box(f"b{i}", location=[float(i)]) for i in range(20)]

    assert len(scene_differences(state(), state(*many), limit=7)) == 7


def test_a_tolerance_gives_a_distance_and_no_fingerprint() -> None:
    one, other = state(box(location=[0.0])), state(box(location=[1e-6]))

    near, far = (compare_scenes(one, other, within=Abs(limit)) for limit in (1e-5, 1e-7))

    assert (near["same"], far["same"]) == (True, False)
    assert near["distance"] == 1e-6
    assert "location" in near["where"]
    assert "sha256" not in str(near)


def test_no_tolerance_covers_what_is_not_there() -> None:
    verdict = compare_scenes(state(box()), state(box("Other")), within=Abs(1e9))

    assert (verdict["same"], verdict["distance"]) == (False, None)


def test_a_summary_is_short_and_plain() -> None:
    known = state(box(positions=array([[0, 1, 2]], "<f4")), Block("MESH", "Box", "//a.blend", {}))

    told = summarize(known, values=True)

    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["fingerprint"] == known.fingerprint
    assert [entry.get("id") for entry in told["sections"]["objects"]] == [None, "//a.blend"]
    assert set(told["sections"]["objects"][0]["value"]["positions"]) == {"array", "shape", "digest"}


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    | st.binary(max_size=9) | st.sampled_from(["scene-state-1", "<f4", "objects"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["format", "profile", "sections", "objects", "array", "shape", "bytes", "x"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(JUNK, JUNK)
def test_a_strangers_document_is_read_or_refused(document: Any, sections: Any) -> None:
    for strange in (document, {"format": "scene-state-1", "profile": {}, "sections": sections}):
        try:
            state = from_plain(strange)
        except TwiceError:
            continue
        assert state.fingerprint.startswith("sha256:")


@pytest.mark.parametrize(
    ("section", "why"),
    [
        (1, "not iterable"),
        ([["x", "y", ""]], "expected 4"),
        ([["x", 1, "", {}]], "a name is of type int"),
        ([["x", "y", "", {}]] * 2, "two blocks"),
        ([["x", "y", "", {"v": 1j}]], "complex"),
        ([["x", "y", "", {"v": math.inf}]], "inf"),
        ([["x", "y", "", {"v": {"array": "<f4", "shape": [2**30], "bytes": b"1"}}]], "buffer"),
        ([["x", "y", "", {"v": {"array": "<f4", "shape": [-1], "bytes": b"1234"}}]], "shape"),
        ([["x", "y", "", {"v": {"array": "O", "shape": [1], "bytes": b"1"}}]], "'O'"),
    ],
)
def test_a_document_that_is_no_state_is_refused_with_the_reason(section: Any, why: str) -> None:
    with pytest.raises(SceneStateForeign, match=why):
        from_plain({"format": "scene-state-1", "profile": {}, "sections": {"a": section}})


def test_endless_nesting_and_another_format_are_refused() -> None:
    nested: dict[str, Any] = {}
    for _ in range(100_000):
        nested = {"v": nested}

    for sections in ({"a": [["x", "y", "", nested]]}, {}):
        with pytest.raises(SceneStateForeign):
            from_plain(
                {"format": f"scene-state-{2 - len(sections)}", "profile": {}, "sections": sections}
            )


def test_a_kept_state_is_the_one_that_is_read(tmp_path: Any) -> None:
    known = state(box(positions=array(np.zeros((0, 3)), "<f4")))
    (tmp_path / "a.scene").write_bytes(state_bytes(known))

    assert read_state(tmp_path / "a.scene").fingerprint == known.fingerprint


def test_a_file_that_is_no_state_is_refused(tmp_path: Any) -> None:
    (tmp_path / "junk").write_bytes(b"\x80\x04junk")
    (tmp_path / "folder").mkdir()

    with pytest.raises(SceneStateForeign, match="not a scene state"):
        read_state(tmp_path / "junk")
    for name in ("nothing", "folder"):
        with pytest.raises(SceneArgumentRefused):
            read_state(tmp_path / name)


def test_the_collector_rests_while_a_tree_is_made_and_goes_on_after_it() -> None:
    things = [Block("EMPTY", f"thing {at}", "", {"at": [[at]]}) for at in range(3000)]
    made = scene_state({}, {"objects": things})
    looked: list[str] = []
    gc.collect()
    gc.callbacks.append(lambda phase, _: looked.append(phase))
    try:
        assert len(made.tree.blocks["objects"]) == 3000
    finally:
        gc.callbacks.pop()
    assert looked.count("start") <= 1, "at most once, when all is done"
    assert gc.isenabled()
