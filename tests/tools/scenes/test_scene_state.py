"""Claims about states: order never counts, every bit does, and a stranger's state is read or refused."""

from __future__ import annotations

import gc
import json
import math
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from twice.errors import TwiceError
from twice.foundation.comparison import Abs
from twice.foundation.encoding import decode, encode
from twice.tools.errors import SceneArgumentRefused, SceneStateForeign, SceneValueRefused
from twice.tools.scenes.difference import compare_scenes, scene_differences
from twice.tools.scenes.state import Block, SceneState, array, float32, scene_state
from twice.tools.scenes.state_file import from_plain, read_document, summarize, to_plain

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


def state(*blocks: Block, version: str = "1") -> SceneState:
    return scene_state({"version": version}, {"objects": blocks})


def box(name: str = "Box", **value: Any) -> Block:
    return Block("MESH", name, "", value)


def prints(known: SceneState) -> tuple[str, str]:
    return known.fingerprint, known.core_fingerprint


@given(STATES, st.randoms(use_true_random=False))
def test_the_order_of_blocks_never_counts(
    sections: dict[str, list[Block]], shuffle: random.Random
) -> None:
    mixed = {name: shuffle.sample(blocks, len(blocks)) for name, blocks in sections.items()}
    names = shuffle.sample(sorted(mixed), len(mixed))

    assert prints(scene_state({}, sections)) == prints(
        scene_state({}, {n: mixed[n] for n in names})
    )


@given(STATES)
def test_plain_data_and_bytes_lead_back_to_the_same_fingerprints(
    sections: dict[str, list[Block]],
) -> None:
    known = scene_state({"version": "1"}, sections)

    read = from_plain(decode(encode(to_plain(known))))

    assert prints(read) == prints(known)
    assert not scene_differences(known, read)


@given(FLOATS, st.booleans())
def test_the_next_32_bit_number_is_another_state(number: float, up: bool) -> None:
    beside = float(np.nextafter(np.float32(number), np.float32(math.inf if up else -math.inf)))
    assume(math.isfinite(beside) and beside != number)
    one, other = (prints(state(box(location=[float32(x)]))) for x in (number, beside))

    assert not {*one} & {*other}
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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (state(box()), state(box(), version="2")),
        (state(box(settings={"color": 1})), state(box(settings={"color": 2}))),
    ],
)
def test_profile_and_settings_count_in_full_and_not_in_the_core(
    one: SceneState, other: SceneState
) -> None:
    assert one.fingerprint != other.fingerprint
    assert one.core_fingerprint == other.core_fingerprint


def test_blocks_of_equal_settings_may_share_them() -> None:
    shared = {"color": [1.0]}
    one = state(*(box(name, settings=shared) for name in "ab"))

    assert one.fingerprint == state(*(box(n, settings=dict(shared)) for n in "ab")).fingerprint


def test_what_differs_is_named_with_its_property_and_both_values() -> None:
    moved = state(box(location=[0.0, 1.0]), box("Ball", location=[2.0]))
    still = state(box(location=[1e-06, 1.0]), box("Ball", location=[2.0]), box("New"))

    place, new = scene_differences(moved, still)

    assert (place["section"], place["type"], place["name"]) == ("objects", "MESH", "Box")
    assert place["path"] == "objects['Box'].location[0]"
    assert (place["a"], place["b"], place["distance"]) == ("0.0", "1e-06", 1e-6)
    assert [new[key] for key in ("name", "kind", "a", "b")] == [
        "New",
        "missing",
        "(absent)",
        "MESH",
    ]
    assert scene_differences(moved, still, limit=1) == [place]


def test_a_tolerance_gives_a_distance_and_no_fingerprint() -> None:
    one, other = state(box(location=[0.0])), state(box(location=[1e-6]))

    near, far = (compare_scenes(one, other, within=Abs(limit)) for limit in (1e-5, 1e-7))
    absent = compare_scenes(one, state(box("Other")), within=Abs(1e9))

    assert (near["same"], far["same"], absent["same"]) == (True, False, False)
    assert (near["distance"], absent["distance"]) == (1e-6, None)
    assert "location" in near["where"]
    assert "sha256" not in str(near)


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


def of_value(value: Any) -> Any:
    return [["x", "y", "", {"v": value}]]


NESTED: dict[str, Any] = {}
for _ in range(100_000):
    NESTED = {"v": NESTED}


@pytest.mark.parametrize(
    ("section", "why"),
    [
        (1, "not iterable"),
        ([["x", "y", ""]], "expected 4"),
        ([["x", 1, "", {}]], "a name is of type int"),
        ([["x", "y", "", {}]] * 2, "two blocks"),
        (of_value(1j), "complex"),
        (of_value(math.inf), "inf"),
        (of_value({"array": "<f4", "shape": [2**30], "bytes": b"1"}), "buffer"),
        (of_value({"array": "<f4", "shape": [-1], "bytes": b"1234"}), "shape"),
        (of_value({"array": "O", "shape": [1], "bytes": b"1"}), "'O'"),
        (of_value(NESTED), "recursion"),
    ],
    ids=range(10),
)
def test_a_document_that_is_no_state_is_refused_with_the_reason(section: Any, why: str) -> None:
    with pytest.raises(SceneStateForeign, match=why):
        from_plain({"format": "scene-state-1", "profile": {}, "sections": {"a": section}})


def test_another_format_and_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "junk").write_bytes(b"\x80\x04junk")
    (tmp_path / "folder").mkdir()

    with pytest.raises(SceneStateForeign, match="format"):
        from_plain({"format": "scene-state-2", "profile": {}, "sections": {}})
    with pytest.raises(SceneStateForeign, match="not a scene state"):
        read_document(tmp_path / "junk")
    for name in ("nothing", "folder"):
        with pytest.raises(SceneArgumentRefused):
            read_document(tmp_path / name)


def test_the_collector_rests_while_digests_are_made_and_goes_on_after_it() -> None:
    made = state(*(Block("EMPTY", f"thing {at}", "", {"at": [[at]]}) for at in range(3000)))
    looked: list[str] = []
    gc.collect()
    gc.callbacks.append(lambda phase, _: looked.append(phase))
    try:
        assert made.fingerprint
    finally:
        gc.callbacks.pop()
    assert looked.count("start") <= 1, "at most once, when all is done"
    assert gc.isenabled()
