"""Two records are compared by what they hold: forged roots and chains neither hide a difference nor make one."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from forging import content_of, write

import twice
from programs import recorded
from twice.diagnosis.diagnose import diagnose
from twice.errors import RecordForeign

COUNTS = """
    def main(run):
        held = run.track("held", [0])
        for tick in run.ticks(6):
            held[0] += 1
            print("tick", tick)
"""
LAST = 7
ZEROS = bytes(16)

Point = tuple[tuple[str, ...], int, str, bytes, bytes, bytes]
Change = Callable[[Point], Point]


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    with recorded(tmp_path, textwrap.dedent(COUNTS)) as record:
        assert len(record.reader.points) == LAST + 1
        return record.path


def forge(sound: Path, *places: int, change: Change) -> Path:
    """Write the record anew with changed points."""
    content, forged = content_of(sound), sound.with_name("forged.twice")
    points = [change(each) if at in places else each for at, each in enumerate(content.points)]
    write(replace(content, points=points), forged)
    return forged


def other_states(point: Point) -> Point:
    return (*point[:5], bytes(len(point[5])))


def other_tick(point: Point) -> Point:
    return (point[0], point[1] + 1, *point[2:])


def other_name(point: Point) -> Point:
    return (*point[:2], "other", *point[3:])


def other_root(point: Point) -> Point:
    return (*point[:3], ZEROS, *point[4:])


def other_chain(point: Point) -> Point:
    return (*point[:4], ZEROS, point[5])


@pytest.mark.parametrize(
    ("at", "change"),
    [(3, other_states), (3, other_tick), (3, other_name), (LAST, other_chain)],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_chains_that_say_otherwise_than_the_digests_are_refused(
    sound: Path, at: int, change: Change, is_first: bool
) -> None:
    forged = forge(sound, at, change=change)
    pair = (forged, sound) if is_first else (sound, forged)

    with pytest.raises(RecordForeign, match=rf"of compare-point {at} .* in .*forged.twice is not"):
        diagnose(*pair, lines=False)


def test_a_root_that_no_comparison_needs_makes_no_difference(sound: Path) -> None:
    assert diagnose(forge(sound, 3, change=other_root), sound, lines=False).result == "same"


def test_runs_come_together_again_by_their_digests_alone(sound: Path) -> None:
    forged = forge(
        sound,
        *range(3, LAST + 1),
        change=lambda point: other_states(other_chain(point)),
    )

    found = diagnose(forged, sound, lines=False)

    assert found.compare_point is not None
    assert found.compare_point.index == 3
    assert not found.reconverges


@pytest.mark.parametrize("change", [other_states, other_root, other_chain])
def test_a_branch_begins_with_no_forged_point(sound: Path, change: Change) -> None:
    forged, out = forge(sound, 3, change=change), sound.with_name("new.twice")

    with pytest.raises(RecordForeign, match="of compare-point 3 "):
        twice.branch(forged, at=4, out=out)

    assert not out.exists()
