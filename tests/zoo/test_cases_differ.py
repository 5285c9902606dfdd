"""Every case of the zoo differs as its table says, before anybody diagnoses it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import twice
from cases import CASES, PRECONDITIONS, PROGRAMS, SAMPLE, Case, first_difference
from tiers import sampled
from twice.diagnosis.log_comparison import compare_logs
from twice.replayer.branch_session import branch


def _require(case: Case) -> None:
    for need in case.needs:
        if not PRECONDITIONS[need]():
            pytest.skip(f"{case.name} needs {need}, which this machine does not have")


@pytest.mark.integration
@pytest.mark.parametrize("case", sampled(CASES, SAMPLE, name=lambda case: case.name))
def test_the_two_runs_part_where_the_table_says(
    case: Case, recorded: Callable[[Case], tuple[Path, Path]], tmp_path: Path
) -> None:
    _require(case)
    a, b = recorded(case)
    with twice.open(a) as record_a, twice.open(b) as record_b:
        found = first_difference(record_a, record_b)
        judged = compare_logs(record_a, record_b)
    if case.result == "same":
        assert found is None
    else:
        assert found is not None, "the runs are the same: the case shows nothing"
        assert case.tick in {None, found[0]}
    assert (judged.at is None) == (case.result in {"same", "within-tolerance"})
    assert (judged.within > 0) == (case.result == "within-tolerance")
    if case.resume is not None:
        assert _resumed_again(case, a, tmp_path) == _chain(b)


def _resumed_again(case: Case, a: Path, folder: Path) -> bytes:
    assert case.resume is not None
    with branch(a, at=case.resume, out=folder / "again.twice") as again:
        return _chain(again.path)


def _chain(path: Path) -> bytes:
    with twice.open(path) as record:
        points = record.reader.points
        return bytes(points.point(len(points) - 1).chain)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_guilty_line_is_marked_once(case: Case) -> None:
    assert len(case.lines("guilty")) == (0 if case.result == "same" else 1)


def test_every_program_is_in_the_table() -> None:
    assert [f"{case.name}.py" for case in CASES] == sorted(
        path.name for path in PROGRAMS.glob("*.py")
    )
