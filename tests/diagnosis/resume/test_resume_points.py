"""Where a training is killed: behind checkpoints of one file or several, evenly spread."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from twice.diagnosis.resume.file_log import Write
from twice.diagnosis.resume.points import choose_points, group_writes, normalize


def writes_of(*paths: str) -> list[Write]:
    counts: dict[str, int] = {}
    found = []
    for path in paths:
        counts[path] = counts.get(path, 0) + 1
        found.append(Write(path, counts[path]))
    return found


def test_numbers_in_a_path_stand_for_any() -> None:
    assert normalize("out/checkpoint-500/model-00001.pt") == "out/checkpoint-#/model-#.pt"


def test_each_write_of_one_file_is_a_checkpoint() -> None:
    groups = group_writes(writes_of("log.csv", "a.pt", "log.csv", "a.pt"), {"a.pt"})

    assert groups == [[Write("a.pt", 1)], [Write("a.pt", 2)]]


def test_files_that_are_written_together_are_one_checkpoint() -> None:
    written = writes_of("c-1/model.pt", "c-1/rng.pt", "c-2/model.pt", "c-2/rng.pt")

    groups = group_writes(written, {"c-#/model.pt", "c-#/rng.pt"})

    assert [[each.path for each in group] for group in groups] == [
        ["c-1/model.pt", "c-1/rng.pt"],
        ["c-2/model.pt", "c-2/rng.pt"],
    ]


def test_a_checkpoint_without_steps_behind_it_is_no_point() -> None:
    groups = [[Write("a.pt", 1, steps=5)], [Write("a.pt", 2, steps=10)]]

    assert choose_points(groups, 10, 4) == [Write("a.pt", 1, steps=5)]
    assert choose_points(groups, 11, 4) == [write for group in groups for write in group]


def test_where_steps_are_not_known_the_last_checkpoint_is_no_point() -> None:
    assert choose_points(group_writes(writes_of("a", "a", "a"), {"a"}), 0, 9) == writes_of("a", "a")


@given(st.integers(1, 200), st.integers(1, 20))
def test_points_are_in_order_and_as_many_as_can_be(count: int, asked: int) -> None:
    groups = [[Write("a", number, steps=number)] for number in range(1, count + 1)]

    points = choose_points(groups, count + 1, asked)

    assert len(points) == min(count, asked)
    assert points == sorted(set(points), key=lambda each: each.nth)
    assert asked == 1 or points[0].nth == 1
