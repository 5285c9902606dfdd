"""Each row of the table of changes, by a change of a sheet that is it, and what follows from it."""

from __future__ import annotations

import pytest
from sheets_written import artifact

from twice.specification.change_table import EDGES, ROWS, list_dependents, list_downstream
from twice.specification.changes import (
    Change,
    ChangeContext,
    SheetChange,
    Step,
    find_step,
    list_changes,
    move_version,
)
from twice.specification.schema import SHEETS

PRESENT = tuple(SHEETS)

A = {"name": "a", "strategy": "lockstep", "how": "x"}
B = {"name": "b", "strategy": "lockstep", "how": "x"}
CLOCK = {
    "source": "clock",
    "what": "clock.time",
    "pattern": "record-and-replay",
    "substitutable": True,
}
FILES = {
    "source": "filesystem",
    "what": "files.read",
    "pattern": "record-and-replay",
    "substitutable": True,
}

# sheet, key, before, after, row, sheets to write anew, whether the class breaks
TABLE = [
    ("00", "sources", ["src"], ["lib", "tools.py"], "00.sources", "", False),
    ("01", "class", "logical", "bit-exact", "01.class", "02 03 04 05 06 07 08 09 10 11 12 13", True),
    ("02", "names", [{"stream": "a", "component": "a"}], [{"stream": "a", "component": "a"}, {"stream": "b", "component": "b"}], "02.propagation", "03 05 06 12", True),
    ("02", "derivation", "rule 1", "rule 2", "02.propagation", "03 05 06 12", True),
    ("03", "slots", [{"stream": "a", "owner": "a", "kind": "numpy"}], [{"stream": "a/1", "owner": "a", "kind": "numpy"}], "03.hierarchy", "02 05 06 12", True),
    ("04", "cadence", "tick", "every=10", "04.cadence", "05 06", False),
    ("04", "components", [{"name": "a"}], [{"name": "a"}, {"name": "b"}], "04.components", "05 06", True),
    ("04", "strategy", "full", "delta", "04.encoding", "05 06 11", True),
    ("04", "encoding", "canonical form 1", "canonical form 2", "04.encoding", "05 06 11", True),
    ("05", "projection", ["a"], ["a", "b"], "05.compare-points", "06 11", False),
    ("06", "operations", [{"kind": "read-only", "operation": "seek", "workload": "x"}], [{"kind": "branching", "operation": "branch", "workload": "x"}], "06.capability", "04 12", True),
    ("07", "subsystems", [A], [{**A, "strategy": "recorded-schedule"}], "07.strategy", "12 13", True),
    ("07", "subsystems", [A], [A, B], "07.component", "12 13", False),
    ("07", "trace_format", "1", "2", "07.trace-format", "06 13", True),
    ("08", "threads", 1, 2, "08.pin", "09 11 12 13", True),
    ("08", "pins", [{"library": "numpy", "version": "1"}], [{"library": "numpy", "version": "2"}], "08.pin", "09 11 12 13", True),
    ("08", "epsilon", "1e-6", "1e-5", "08.tolerance", "01 05 12", True),
    ("09", "driver", "550", "560", "09.knob", "08 11 12 13", True),
    ("10", "inventory", [CLOCK], [{**CLOCK, "pattern": "deterministic-function"}], "10.pattern", "06 12 13", True),
    ("10", "inventory", [CLOCK], [CLOCK, FILES], "10.effect", "06 12", True),
    ("11", "rule", "1", "2", "11.rule", "04 05 08 09 12", True),
    ("11", "hashing", "merkle", "projection", "11.hashing", "05 06", True),
    ("12", "properties", ["seed-isolation"], ["replay-equivalence", "seed-isolation"], "12.property", "", False),
    ("12", "generators", "n to 10", "n to 20", "12.generators", "", True),
    ("13", "justification", "S does", "M is needed", "13.tier", "04 05 07 08 09 10 11 12", True),
    ("13", "relaxations", None, [{"rule": "files"}], "13.relaxation", "", True),
    ("13", "relaxations", None, [], "13.held", "", False),
    ("13", "reevaluate", None, [{"by": "2027-01-31"}], "13.reevaluate", "", False),
]  # fmt: skip


def only(
    sheet: str,
    key: str,
    before: object,
    after: object,
    context: ChangeContext = ChangeContext(present=PRESENT),
) -> Change:
    (change,) = list_changes(sheet, {key: before}, {key: after}, context)
    return change


def told(change: Change) -> SheetChange:
    return SheetChange(change.sheet, "changed", (change,), "1.0.0", "1.0.0")


def owed(change: Change) -> str:
    return " ".join(sorted({each.sheet for each in change.owed}))


@pytest.mark.parametrize(
    ("sheet", "key", "before", "after", "row", "sheets", "breaks"),
    TABLE,
    ids=lambda each: str(each)[:20],
)
def test_a_change_is_the_row_that_lists_it(
    sheet: str, key: str, before: object, after: object, row: str, sheets: str, breaks: bool
) -> None:
    change = only(sheet, key, before, after)

    assert (change.row, owed(change), change.breaks) == (row, sheets, breaks)
    assert told(change).needed is (Step.MAJOR if breaks else Step.MINOR)


def test_a_relaxed_rule_is_seen_in_its_trades() -> None:
    change = only("13", "trades", [], [{"chosen": "fast"}])

    assert (change.row, change.breaks, change.owed) == ("13.relaxed", True, ())


def test_every_row_has_a_test_here() -> None:
    tested = {row for *_, row, _, _ in TABLE} | {"13.relaxed", "00.tier"}

    assert {row.id for row in ROWS} == tested


def test_the_tier_of_00_concerns_01_and_13() -> None:
    change = only("00", "tier", "S", "M")

    assert (change.row, change.breaks) == ("00.tier", True)
    assert {"01", "13"} <= set(owed(change).split())


@pytest.mark.parametrize("sheet", SHEETS)
def test_whatever_is_not_listed_breaks_the_class(sheet: str) -> None:
    listed = {key for row in ROWS if row.sheet == sheet for key in row.keys}
    keys = [item.key for item in SHEETS[sheet].items if item.decides and item.key not in listed]
    for key in [*keys, *([] if "text" in listed else ["text"])]:
        change = only(sheet, key, "a", "b")

        assert (change.row, change.breaks) == ("unlisted", True)
        assert set(owed(change).split()) == set(list_dependents(sheet)) - {"99"}


@pytest.mark.parametrize("tolerated", ["retention", "05.retention"])
def test_01_tolerates_a_change_by_name(tolerated: str) -> None:
    context = ChangeContext(frozenset({tolerated}), present=PRESENT)

    change = only("05", "retention", "a", "b", context)

    assert (change.breaks, owed(change)) == (False, "")
    assert told(change).needed is Step.PATCH


def test_01_tolerates_no_change_of_itself_and_no_other_sheets_key() -> None:
    itself = ChangeContext(frozenset({"text", "tolerates", "01.text"}), present=PRESENT)
    another = ChangeContext(frozenset({"04.retention"}), present=PRESENT)

    assert only("01", "text", "a", "b", itself).breaks
    assert only("05", "retention", "a", "b", another).breaks


@pytest.mark.parametrize("name", ["cadence", "04.cadence"])
def test_a_sheets_own_events_go_before_the_table(name: str) -> None:
    context = ChangeContext(own={name: True}, present=PRESENT)

    change = only("04", "cadence", "tick", "episode", context)

    assert change.breaks
    assert "class_breaking" in change.why


def test_only_sheets_that_are_there_are_owed() -> None:
    change = only("04", "cadence", "a", "b", ChangeContext(present=("04", "05")))

    assert owed(change) == "05"


def test_the_graph_has_no_circle_and_01_is_under_all_but_00() -> None:
    for number in SHEETS:
        assert number not in list_downstream(number)
    assert set(list_downstream("01")) == set(SHEETS) - {"00", "01"}
    assert {below for _, below in EDGES} <= set(SHEETS)


# The workflow table of the seed, written down once more: row, checks
@pytest.mark.parametrize(
    ("row", "checks"),
    [
        ("02.propagation", {3, 4, 6, 16}),
        ("00.sources", set(range(1, 18))),
        ("01.class", set(range(1, 18))),
        ("13.tier", set(range(1, 18))),
        ("04.encoding", {5, 6, 7, 15}),
        ("05.compare-points", {6}),
        ("06.capability", {5, 7, 16}),
        ("10.effect", {14, 16}),
        ("07.component", {11}),
        ("08.pin", {12, 13, 15}),
        ("13.relaxed", {17}),
    ],
)
def test_a_row_runs_its_checks_again(row: str, checks: set[int]) -> None:
    (listed,) = [each for each in ROWS if each.id == row]
    change = Change(listed.sheet, "", None, None, row, listed.breaks, "", (), listed.checks)

    assert checks <= set(told(change).checks) <= set(range(1, 18))


def test_keys_of_rows_are_keys_of_their_sheets_that_decide() -> None:
    for row in ROWS:
        sheet = artifact(row.sheet)
        for key in row.keys:
            item = sheet.schema.item(key)
            assert key == "text" or (item is not None and item.decides), (row.id, key)


@pytest.mark.parametrize(
    ("before", "step", "after"),
    [
        ("1.2.3", Step.MAJOR, "2.0.0"),
        ("1.2.3", Step.MINOR, "1.3.0"),
        ("1.2.3", Step.PATCH, "1.2.4"),
    ],
)
def test_versions_move_by_steps(before: str, step: Step, after: str) -> None:
    assert move_version(before, step) == after
    assert find_step(before, after) is step
    assert find_step(after, before) is find_step(before, before) is Step.NONE
