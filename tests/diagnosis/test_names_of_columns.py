"""Two logs are held to the names of their columns as a replay is: chains and roots are over digests alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from programs import recorded
from twice import DeterminismClass, Predicate
from twice.diagnosis.log_comparison import compare_logs, list_components
from twice.recorder.runrecord import RunRecord
from twice.view import run_difference
from twice.view.run_difference import compare_runs

pytestmark = pytest.mark.integration  # real records

PROGRAM = """
    from twice import Abs

    def main(run):
        state, other = {"n": 0.0}, {"n": 0.0}
        run.track("other", other)
        for tick in run.ticks(6):
            if tick == run.config.get("at", 0):
                for name, within in run.config["tracked"]:
                    run.track(name, state, **({"equivalence": Abs(within)} if within else {}))
            state["n"] += run.config.get("step", 1.0)
            if run.config.get("back") and tick == 5:
                state["n"] = 0.0
"""
LOGICAL = Predicate(subsystems={"x": DeterminismClass.LOGICAL})


@contextmanager
def open_records(
    folder: Path, *configs: Mapping[str, object], **policies: object
) -> Iterator[list[RunRecord]]:
    with ExitStack() as opened:
        records = []
        for number, config in enumerate(configs):
            place = folder / str(number)
            place.mkdir()
            made = recorded(place, PROGRAM, config=config, **policies)
            records.append(opened.enter_context(made))
        yield records


@pytest.mark.parametrize("at", [0, 3])
def test_a_component_of_another_name_parts_two_runs_of_equal_states(
    tmp_path: Path, at: int
) -> None:
    config = {"at": at, "tracked": [("x", 0)]}

    with open_records(tmp_path, config, {**config, "tracked": [("y", 0)]}) as records:
        logs = compare_logs(*records)
        shown = compare_runs(*records)

    assert logs.columns == ("x", "y")
    assert logs.at is not None
    assert (logs.at.tick, shown["tick"], shown["columns"]) == (at, at, ["x", "y"])
    assert logs.last_agreement is not None
    assert logs.last_agreement.index == logs.at.index - 1
    assert not logs.reconverges


@pytest.mark.parametrize("tracked", [[("x", 0.5)], [("x", 0)]])
@pytest.mark.parametrize("swap", [False, True])
def test_a_component_that_one_run_alone_has_parts_them_with_a_tolerance_too(
    tmp_path: Path, tracked: list, swap: bool
) -> None:
    configs = [{"at": 2, "tracked": tracked}, {"at": 2, "tracked": []}]

    with open_records(tmp_path, *(reversed(configs) if swap else configs)) as records:
        logs = compare_logs(*records)

    assert (logs.at and logs.at.tick, logs.columns) == (2, ("x",))


def test_a_component_that_no_class_judges_may_be_missing(tmp_path: Path) -> None:
    with open_records(
        tmp_path, {"tracked": [("x", 0)]}, {"tracked": []}, predicate=LOGICAL
    ) as records:
        logs = compare_logs(*records)

    assert logs.at is None


@pytest.mark.parametrize("swap", [False, True])
def test_a_tolerance_that_one_run_alone_states_excuses_no_other_value(
    tmp_path: Path, swap: bool
) -> None:
    configs = [{"tracked": [("x", 0.5)]}, {"tracked": [("x", 0)], "step": 1.001}]

    with open_records(tmp_path, *(reversed(configs) if swap else configs)) as records:
        logs = compare_logs(*records)

    assert (logs.at and logs.at.tick, logs.columns) == (0, ("x",))


def test_a_tolerance_that_one_run_alone_states_is_no_difference_of_equal_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_difference, "_COMPARED_WHOLE", 0)

    with open_records(tmp_path, {"tracked": [("x", 0.5)]}, {"tracked": [("x", 0)]}) as records:
        logs = compare_logs(*records)
        shown = compare_runs(*records)

    assert logs.at is None
    assert shown["tick"] is None


def test_a_long_log_is_compared_whole_where_names_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_difference, "_COMPARED_WHOLE", 0)

    with open_records(tmp_path, {"tracked": [("x", 0)]}, {"tracked": [("y", 0)]}) as records:
        shown = compare_runs(*records)

    assert shown["columns"] == ["x", "y"]


def test_components_of_both_runs_are_known(tmp_path: Path) -> None:
    with open_records(tmp_path, {"tracked": [("x", 0)]}, {"tracked": [("y", 0)]}) as records:
        assert list_components(*records) == ("other", "x", "y")


@pytest.mark.parametrize("back", [True, False])
def test_values_with_a_tolerance_come_together_again_or_do_not(tmp_path: Path, back: bool) -> None:
    config = {"tracked": [("x", 0.5)], "back": back}
    with open_records(tmp_path, config, {**config, "step": 1.9}) as records:
        logs = compare_logs(*records)

    assert (logs.columns, logs.reconverges) == (("x",), back)
