"""What is compared, by class and by tolerance: equal, within, outside, and not judged at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import names, recorded, verified
from twice.foundation.determinism_class import Predicate
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

# Entropy read past the governed functions: another number in every process, 64 bits of it, so that two never agree by chance.
DRIFTING = """
    import os
    from twice.foundation.comparison import Abs

    class Level:
        def __init__(self):
            self.drift = int.from_bytes(__import__("posix").urandom(8)) * 2.0**-64 * 1e-7

        def state(self):
            return {{"level": 1.0 + self.drift}}

    def main(run):
        level = Level()
        {track}
        for tick in run.ticks(3):
            {compare}
"""


def drifting(folder: Path, *, track: str = "", compare: str = "pass", **options: object):
    return verified(folder, DRIFTING.format(track=track, compare=compare), **options)


def test_a_compared_value_within_its_tolerance_passes_and_is_counted(tmp_path: Path) -> None:
    statement = drifting(
        tmp_path, compare='run.compare("level", 1.0 + level.drift, within=Abs(1e-6))'
    )
    assert (statement.result, statement.exit_code) == ("PASS", 0)
    assert statement.counts["within_tolerance"] == 3
    assert statement.counts["failed"] == 0


def test_a_compared_value_outside_of_its_tolerance_fails_with_both_values(tmp_path: Path) -> None:
    statement = drifting(
        tmp_path, compare='run.compare("level", 1.0 + level.drift, within=Abs(1e-18))'
    )
    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.tick) == ("level", 0)
    assert float(statement.failure.recorded) != float(statement.failure.replayed)


def test_a_component_with_a_tolerance_is_compared_by_value(tmp_path: Path) -> None:
    track = 'run.track("level", level, equivalence=Abs({}))'
    within = drifting(tmp_path, track=track.format(1e-6))
    assert (within.result, within.counts["within_tolerance"]) == ("PASS", 5)
    outside = drifting(tmp_path, track=track.format(1e-18), force=True)
    assert outside.result == "FAIL"
    assert outside.failure is not None
    assert outside.failure.columns == ("level",)


def test_a_value_without_tolerance_must_be_equal(tmp_path: Path) -> None:
    statement = drifting(tmp_path, compare='run.compare("level", 1.0 + level.drift)')
    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert statement.failure.name == "level"


def test_the_logical_class_judges_decisions_and_passes_over_state(tmp_path: Path) -> None:
    statement = drifting(
        tmp_path,
        track='run.track("level", level)',
        compare='run.compare("size", round(level.drift, 3))',
        predicate=Predicate.parse(["logical"], "host"),
    )
    assert (statement.result, statement.counts["within_tolerance"]) == ("PASS", 0)


def test_the_logical_class_fails_on_a_decision(tmp_path: Path) -> None:
    statement = drifting(
        tmp_path,
        compare='run.compare("size", level.drift)',
        predicate=Predicate.parse(["logical"], "host"),
    )
    assert statement.result == "FAIL"


@pytest.mark.parametrize(
    ("classes", "result"),
    [
        (["bit-exact", "level=logical"], "PASS"),
        (["logical", "level=bit-exact"], "FAIL"),
        (["logical"], "PASS"),
        (["bit-exact"], "FAIL"),
    ],
    ids=" ".join,
)
def test_each_subsystem_is_judged_by_its_own_class(
    tmp_path: Path, classes: list[str], result: str
) -> None:
    statement = drifting(
        tmp_path,
        track='run.track("level", level)',
        predicate=Predicate.parse(classes, "host"),
    )
    assert statement.result == result
    document = statement.to_json()
    wanted = "logical" if "level=logical" in classes or classes == ["logical"] else "bit-exact"
    assert document["classes"]["level"]["class"] == wanted


def test_a_compare_and_a_component_of_one_name_do_not_mix(tmp_path: Path) -> None:
    statement = drifting(
        tmp_path,
        track='run.track("level", level)',
        compare='run.compare("level", 1.0, within=Abs(1.0))',
    )
    assert statement.result == "FAIL"
    with RunRecord.open(statement.path) as record:
        assert (0, "level") in names(record)


def test_judging_by_another_class_than_the_recorded_one(tmp_path: Path) -> None:
    from twice.replayer.verify import verify

    statement = drifting(tmp_path, track='run.track("level", level)')
    assert statement.result == "FAIL"
    again = verify(statement.path, predicate=Predicate.parse(["logical"], "host"))
    assert again.result == "PASS"


LOOSER = """
    from pathlib import Path
    from twice.foundation.comparison import Abs

    LATER = __import__('posix').access({later!r}, 0)
    WITHIN = Abs(1e9 if LATER else 0.1)

    def main(run):
        {track}
        for tick in run.ticks(2):
            {body}
"""


@pytest.mark.parametrize(
    ("track", "body"),
    [
        ("pass", 'run.compare("level", 5.0 * LATER, within=WITHIN)'),
        ('level = run.track("level", [0.0], equivalence=WITHIN)', "level[0] = 5.0 * LATER"),
    ],
)
def test_a_program_cannot_loosen_its_tolerance_after_the_fact(
    tmp_path: Path, track: str, body: str
) -> None:
    later = tmp_path / "later"
    source = LOOSER.format(later=str(later), track=track, body=body)
    with recorded(tmp_path, source) as record:
        assert verify(record.path).result == "PASS"
        later.touch()
        statement = verify(record.path)
    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert statement.failure.columns == ("level",)


def test_a_value_that_is_called_like_a_column_is_compared_by_the_logical_class(
    tmp_path: Path,
) -> None:
    statement = drifting(
        tmp_path,
        compare='run.compare("streams", level.drift)',
        predicate=Predicate.parse(["logical"]),
    )
    assert statement.result == "FAIL"
