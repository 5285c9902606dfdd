"""What changed since versions were last moved, what is owed, and that the lock says what sheets say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sheets_written import artifact

from twice.specification.changes import (
    Step,
    acknowledge,
    bump_version,
    compare_sheet,
    to_lock_entry,
)
from twice.specification.errors import BumpRefused, SheetRefused, SheetVersion
from twice.specification.lock import Lock, Locked, Owed, read_lock
from twice.specification.schema import SHEETS
from twice.specification.sheet import Sheet
from twice.specification.workspace import Workspace


def settled(*numbers: str, tier: str = "M") -> tuple[Workspace, Lock]:
    """Sheets that are locked as they are."""
    sheets = {
        number: artifact(number, {"tier": tier} if number in {"00", "01"} else {})
        for number in numbers
    }
    lock = Lock({number: to_lock_entry(sheet) for number, sheet in sheets.items()})
    return Workspace(Path(), sheets), lock


def saying(workspace: Workspace, number: str, key: str, value: object) -> Workspace:
    sheet = workspace.sheets[number].with_value(key, value)  # type: ignore[arg-type]
    return replace(workspace, sheets={**workspace.sheets, number: sheet})


def with_sheet(workspace: Workspace, sheet: Sheet) -> Workspace:
    return replace(workspace, sheets={**workspace.sheets, sheet.number: sheet})


@pytest.mark.parametrize("number", SHEETS)
def test_nothing_changed_right_after_locking(number: str) -> None:
    workspace, lock = settled(number)

    told = compare_sheet(workspace, lock, number)

    assert (told.state, told.found, told.is_honest) == ("same", (), True)


def test_a_change_is_seen_until_its_version_moves() -> None:
    workspace, lock = settled("01", "02", "03", "05", "06", "12")
    workspace = saying(workspace, "02", "derivation", "rule 2")

    before = compare_sheet(workspace, lock, "02")
    sheet, after, _ = bump_version(workspace, lock, "02", Step.NONE)

    assert (before.state, before.needed, before.is_honest) == ("changed", Step.MAJOR, False)
    assert sheet.version == "1.0.0"
    assert [each.sheet for each in after.owed] == ["03", "05", "06", "12"]
    assert compare_sheet(with_sheet(workspace, sheet), after, "02").state == "same"


@pytest.mark.parametrize("step", [Step.PATCH, Step.MINOR])
def test_a_step_that_is_too_small_is_refused(step: Step) -> None:
    workspace, lock = settled("01", "02")
    workspace = saying(workspace, "02", "derivation", "rule 2")

    with pytest.raises(BumpRefused, match=r"too small for sheet 02: derivation changed") as caught:
        bump_version(workspace, lock, "02", step)

    assert "--major" in caught.value.remedy


def test_any_change_of_01_is_major() -> None:
    workspace, lock = settled("01")
    workspace = saying(workspace, "01", "tolerates", ["text", "tolerates"])

    assert compare_sheet(workspace, lock, "01").needed is Step.MAJOR


def test_a_version_moved_by_hand_is_held_against_what_changed() -> None:
    workspace, lock = settled("01", "02")
    workspace = saying(workspace, "02", "derivation", "rule 2")

    small = compare_sheet(saying(workspace, "02", "version", "0.1.1"), lock, "02")
    large = compare_sheet(saying(workspace, "02", "version", "1.0.0"), lock, "02")
    back = compare_sheet(saying(workspace, "02", "version", "0.0.9"), lock, "02")

    assert [(each.state, each.is_honest) for each in (small, large, back)] == [
        ("bumped", False),
        ("bumped", True),
        ("bumped", False),
    ]


def test_a_change_does_not_permit_itself() -> None:
    workspace, lock = settled("01", "05")
    workspace = saying(workspace, "01", "tolerates", ["05.retention"])
    workspace = saying(workspace, "05", "retention", "for ever")

    assert compare_sheet(workspace, lock, "05").breaks


def test_a_sheet_that_is_gone_is_told() -> None:
    workspace, lock = settled("01", "02")
    gone = replace(workspace, sheets={"01": workspace.sheets["01"]})

    told = compare_sheet(gone, lock, "02")

    assert (told.state, told.needed, told.is_honest) == ("gone", Step.MAJOR, False)


def test_moving_a_version_pays_what_is_owed() -> None:
    workspace, lock = settled("01", "04", "05", "06")
    workspace = saying(workspace, "04", "cadence", "episode")
    sheet, lock, _ = bump_version(workspace, lock, "04", Step.NONE)
    workspace = with_sheet(workspace, sheet)
    assert [each.sheet for each in lock.owed] == ["05", "06"]

    sheet, lock, told = bump_version(workspace, lock, "05", Step.NONE)

    assert (told.state, sheet.version) == ("same", "0.1.1")
    assert [each.sheet for each in lock.owed] == ["06"]


def test_a_version_without_a_change_or_a_debt_is_refused() -> None:
    workspace, lock = settled("01", "04")

    with pytest.raises(BumpRefused, match="says what it said"):
        bump_version(workspace, lock, "04", Step.NONE)
    assert bump_version(workspace, lock, "04", Step.MINOR)[0].version == "0.2.0"


def test_bumping_again_after_a_kill_between_the_two_files_gives_the_same() -> None:
    workspace, lock = settled("01", "02")
    workspace = saying(workspace, "02", "derivation", "rule 2")
    sheet, after, _ = bump_version(workspace, lock, "02", Step.NONE)

    again, later, _ = bump_version(with_sheet(workspace, sheet), lock, "02", Step.NONE)

    assert (again.source, later.text()) == (sheet.source, after.text())


@pytest.mark.parametrize(
    ("tier", "key", "value", "fine"),
    [
        ("S", "strategy", "delta", True),
        ("M", "strategy", "delta", False),
        ("M", "cadence", "tick", True),
    ],
)
def test_what_breaks_the_class_is_not_acknowledged_from_tier_m_on(
    tier: str, key: str, value: str, fine: bool
) -> None:
    workspace, lock = settled("01", "04", "05", "06", tier=tier)
    workspace = saying(workspace, "04", key, value)
    sheet, lock, _ = bump_version(workspace, lock, "04", Step.NONE)
    workspace = with_sheet(workspace, sheet)

    if not fine:
        with pytest.raises(BumpRefused, match="breaks the class"):
            acknowledge(workspace, lock, "05", "points do not depend on it")
        return
    after = acknowledge(workspace, lock, "05", "points do not depend on it")

    assert "05" not in {each.sheet for each in after.owed}
    assert after.acknowledged[0]["reason"] == "points do not depend on it"


def test_what_nobody_owes_is_not_acknowledged() -> None:
    workspace, lock = settled("01", "05")

    with pytest.raises(BumpRefused, match="Sheet 05 owes nothing"):
        acknowledge(workspace, lock, "05", "x")


VALUES = st.recursive(
    st.one_of(st.text(max_size=5), st.integers(-9, 9), st.booleans()),
    lambda each: st.one_of(
        st.lists(each, max_size=2), st.dictionaries(st.text(max_size=3), each, max_size=2)
    ),
    max_leaves=4,
)
OWED = st.builds(
    Owed,
    *[st.sampled_from(sorted(SHEETS))] * 2,
    st.just("x"),
    st.text(max_size=3),
    st.booleans(),
)


@given(
    st.dictionaries(
        st.sampled_from(sorted(SHEETS)),
        st.builds(
            Locked,
            st.just("1.0.0"),
            st.just("blake3:0"),
            st.dictionaries(st.text(max_size=3), VALUES),
        ),
    ),
    st.lists(OWED, max_size=3),
)
def test_a_lock_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, sheets: dict[str, Locked], owed: list[Owed]
) -> None:
    path = (
        tmp_path_factory.getbasetemp() / "spec.lock"
    )  # a folder for each example takes longer than to read it
    lock = Lock(sheets).owing(tuple(owed))
    path.write_text(lock.text(), encoding="utf-8")

    assert read_lock(path).text() == lock.text()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", SheetRefused),
        ("[]", SheetRefused),
        ("<<<<<<< ours\n", SheetRefused),
        ('{"format": "twice.spec-lock/1"}', SheetRefused),
        ('{"format": "twice.spec-lock/9"}', SheetVersion),
        (
            '{"format": "twice.spec-lock/1", "sheets": {"01": 3}, "owed": [], "acknowledged": []}',
            SheetRefused,
        ),
        ("[" * 100_000, SheetRefused),
    ],
)
def test_a_broken_lock_is_refused(tmp_path: Path, text: str, error: type[Exception]) -> None:
    path = tmp_path / "spec.lock"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(error, match=r"spec\.lock"):
        read_lock(path)


def test_no_lock_is_an_empty_one(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "spec.lock") == Lock()
