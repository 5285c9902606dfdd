"""Claims about real Blender: equal scenes have equal fingerprints and pixels, whatever stands around."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.heavy

Ask = Callable[..., Any]
JOBS = 15


@pytest.fixture(scope="module")
def reference(ask: Ask) -> Any:
    return ask("fingerprints", {}, PYTHONHASHSEED="0")


def test_a_saved_and_loaded_file_is_the_same_scene(reference: Any) -> None:
    assert reference["loaded"] == []
    assert reference["blocks"] > 50


@pytest.mark.parametrize("seed", range(5))
def test_no_order_of_making_things_counts(ask: Ask, reference: Any, seed: int) -> None:
    order = random.Random(seed).sample(range(JOBS), JOBS)

    found = ask("fingerprints", {"order": order}, PYTHONHASHSEED=str(seed * 1000 + 1))

    assert found["prints"] == reference["prints"]


def test_no_surroundings_count(ask: Ask, reference: Any, tmp_path: Any) -> None:
    found = ask(
        "fingerprints", {}, PYTHONHASHSEED="random", TZ="Asia/Kathmandu", HOME=str(tmp_path),
        LANG="de_DE.UTF-8", TMPDIR=str(tmp_path),
    )  # fmt: skip

    assert found["prints"] == reference["prints"]


@pytest.fixture(scope="module")
def session(ask: Ask) -> Any:
    """What a session answers that asserts by itself how its calls end, and what pictures follow."""
    return ask("tools", {}, PYTHONHASHSEED="0")


def test_the_profile_names_what_results_depend_on(session: Any) -> None:
    assert session["profile"]["version"].startswith("4.5.")
    assert session["profile"].keys() >= {
        "addon:cycles", "build", "driver:cpu", "platform", "python", "threads"
    }  # fmt: skip


def test_two_sessions_in_other_surroundings_and_order_are_equal(
    ask: Ask, session: Any, tmp_path: Any
) -> None:
    other = ask(
        "tools", {"order": [4, 10, 0, 2, 1, 9, 3, 8, 7, 6, 5]}, PYTHONHASHSEED="4711",
        TZ="America/St_Johns", HOME=str(tmp_path),
    )  # fmt: skip

    assert other["prints"] == session["prints"]


def test_one_core_gives_the_same_scene_and_pixels(ask: Ask, session: Any) -> None:
    one = str(min(os.sched_getaffinity(0)))

    assert ask("tools", {}, before=("taskset", "-c", one))["prints"] == session["prints"]


def test_what_blender_does_without_a_word_is_refused_or_mended(ask: Ask) -> None:
    assert ask("traps") == "held"


def test_every_settable_property_is_seen_or_listed(ask: Ask) -> None:
    found = ask("meter", {})

    assert found["unseen"] == []
    assert found["unknown"] == ["Camera.cycles"]  # a custom property, not one of Blender's own
    assert found["kinds"] > 500
    assert found["counts"]["seen"] > 1500


def test_the_meter_finds_a_hole_that_is_not_listed(ask: Ask) -> None:
    found = ask("meter", {"only": "Object", "blind": "pass_index"})

    assert found["unseen"] == ["Object.pass_index"]
