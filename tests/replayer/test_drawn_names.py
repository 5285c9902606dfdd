"""Names that the C library drew: one file under two names, where it holds the same."""

from __future__ import annotations

import pytest

from twice.recorder.kernel.file_state import ABSENT, FileState
from twice.replayer.file_report import DifferingFile, match_drawn_names

FOLDER = FileState("folder")
ONE, OTHER = FileState("file", "blake3:1", 3), FileState("file", "blake3:2", 3)


def recorded(path: str, state: FileState) -> DifferingFile:
    return (path, state, ABSENT, "kind of file")


def replayed(path: str, state: FileState) -> DifferingFile:
    return (path, ABSENT, state, "written only in the replay")


def test_a_folder_with_a_drawn_name_is_the_recorded_one_with_all_that_lies_in_it():
    rows = [
        recorded("/tmp/blender_x2cwjm", FOLDER),
        recorded("/tmp/blender_x2cwjm/quit.blend", ONE),
        replayed("/tmp/blender_bs5Vam", FOLDER),
        replayed("/tmp/blender_bs5Vam/quit.blend", ONE),
        replayed("/home/someone/out.csv", ONE),
    ]
    rest, pairs = match_drawn_names(rows)
    assert rest == rows[-1:]
    assert pairs == [("/tmp/blender_x2cwjm", "/tmp/blender_bs5Vam")]


def test_several_of_one_program_are_matched_by_what_they_hold():
    rows = [
        recorded("/tmp/part-aaaaaa", ONE),
        recorded("/tmp/part-bbbbbb", OTHER),
        replayed("/tmp/part-cccccc", OTHER),
        replayed("/tmp/part-dddddd", ONE),
    ]
    assert match_drawn_names(rows)[0] == []


@pytest.mark.parametrize(
    "rows",
    [
        [recorded("/tmp/x_aaaaaa", ONE), replayed("/tmp/x_bbbbbb", OTHER)],
        [recorded("/tmp/x_aaaaaa", ONE), replayed("/tmp/y_bbbbbb", ONE)],
        [recorded("/tmp/x_aaaaaa", ONE), replayed("/tmp/x_bbbbb", ONE)],
        [recorded("/home/a/x_aaaaaa", ONE), replayed("/home/a/x_bbbbbb", ONE)],
        [recorded("/tmp/x_aaaaaa", ONE)],
        [
            recorded("/tmp/x_aaaaaa", FOLDER),
            recorded("/tmp/x_aaaaaa/one", ONE),
            replayed("/tmp/x_bbbbbb", FOLDER),
        ],
        [
            recorded("/tmp/x_aaaaaa", ONE),
            replayed("/tmp/x_bbbbbb", ONE),
            replayed("/tmp/x_cccccc", ONE),
        ],
    ],
    ids=["content", "stem", "length", "folder", "missing", "less in it", "one more"],
)
def test_what_differs_in_more_than_a_drawn_name_stays_a_difference(rows: list[DifferingFile]):
    assert match_drawn_names(rows)[0]
