"""Sheet 99: accepted at the end of a gate that passed, made by bump before, and never of a sheet under a version that others cite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from gatefacts import facts, good_heads
from gatesystems import Heads, laid, locked

from twice.cli import dispatch
from twice.cli.code_facts import read_rules
from twice.specification.changes import Step
from twice.specification.consolidate import (
    find_passed_gate,
    find_unmoved,
    finish_gate,
    list_last_steps,
)
from twice.specification.gate.checks import CHECKS
from twice.specification.gate.model import CheckOutcome
from twice.specification.gate.report import GateReport, GateResult
from twice.specification.gate.runner import judge, read_report, report_path
from twice.specification.gate.staleness import digest_inputs
from twice.specification.location import FOLDER
from twice.specification.lock import Lock, Owed, read_lock
from twice.specification.workspace import Workspace, open_workspace

WHOLE = "99-determinism-and-replay-specification.md"


def judged(project: Path, heads: Heads | None = None) -> GateReport:
    """Judge a whole gate on good facts, as it is before it is stored."""
    said = good_heads("M") if heads is None else heads
    known = facts(project, "M", said)
    inputs = digest_inputs(known.workspace, known.lock)
    return GateReport("herd", "M", [judge(each, known) for each in CHECKS], inputs)


def test_a_gate_that_passed_ends_in_a_sheet_99_that_names_it(tmp_path: Path) -> None:
    kept = finish_gate(judged(tmp_path), tmp_path, read_rules)

    whole = open_workspace(tmp_path).sheets["99"]
    assert (kept.result, whole.text("status")) == (GateResult.PASS, "accepted")
    assert {row["id"] for row in whole.rows("sheets")} == good_heads("M").keys() - {"99"}
    assert '<a id="02-derivation"></a>' in whole.body
    assert read_report(tmp_path, facts(tmp_path / "b").today).moved == ()
    assert list_last_steps(open_workspace(tmp_path)) == []
    assert "99" in read_lock(tmp_path / FOLDER / "spec.lock").sheets


def test_a_second_gate_on_the_same_changes_no_byte(tmp_path: Path) -> None:
    report = judged(tmp_path)
    finish_gate(report, tmp_path, read_rules)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    finish_gate(read_report(tmp_path, facts(tmp_path / "b").today), tmp_path, read_rules)

    assert {path: path.read_bytes() for path in before} == before


def test_without_a_sheet_99_the_gate_makes_one_and_its_report_stands(tmp_path: Path) -> None:
    heads = good_heads("M")
    del heads["99"]
    finish_gate(judged(tmp_path, heads), tmp_path, read_rules)

    assert open_workspace(tmp_path).text("99", "status") == "accepted"
    assert find_passed_gate(open_workspace(tmp_path))[0] is not None


@pytest.mark.parametrize("outcome", [CheckOutcome.FAIL, CheckOutcome.BLOCKED])
def test_a_gate_that_did_not_pass_leaves_sheet_99(tmp_path: Path, outcome: CheckOutcome) -> None:
    report = judged(tmp_path)
    red = [replace(each, outcome=outcome) if each.id == 3 else each for each in report.checks]
    before = (tmp_path / FOLDER / WHOLE).read_bytes()

    finish_gate(replace(report, checks=red), tmp_path, read_rules)

    assert (tmp_path / FOLDER / WHOLE).read_bytes() == before
    assert report_path(open_workspace(tmp_path)).is_file()
    assert list_last_steps(open_workspace(tmp_path)) == ["twice gate"]


def bumped(project: Path, sheet: str | None = None, step: Step = Step.NONE) -> int:
    words = [] if sheet is None else [sheet]
    words += [] if step is Step.NONE else [f"--{step.word}"]
    return dispatch(["spec", "bump", *words, "--project", str(project)])


def test_bump_makes_a_draft_once_every_sheet_is_locked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heads = good_heads("M")
    del heads["99"]
    laid(tmp_path, heads)

    assert bumped(tmp_path) == 0

    assert open_workspace(tmp_path).text("99", "status") == "draft"
    assert "0.1.0, draft: no gate has run" in capsys.readouterr().out
    assert bumped(tmp_path) == 0


def leave_open(heads: Heads) -> None:
    heads["05"]["retention"] = "?"


def leave_out(heads: Heads) -> None:
    del heads["12"]


@pytest.mark.parametrize("change", [leave_open, leave_out])
def test_bump_makes_none_while_other_sheets_come_first(
    tmp_path: Path, change: Callable[[Heads], None]
) -> None:
    heads = good_heads("M")
    del heads["99"]
    change(heads)
    laid(tmp_path, heads)

    bumped(tmp_path)

    assert "99" not in open_workspace(tmp_path).sheets


def test_a_change_that_is_bumped_makes_a_draft_once_nothing_is_owed(tmp_path: Path) -> None:
    finish_gate(judged(tmp_path), tmp_path, read_rules)
    path = tmp_path / FOLDER / "spec.lock"
    owed = Owed("06", "05", "05.compare-points", "it emits them", breaks=False)
    sheet = tmp_path / FOLDER / "05-divergence-protocol.md"
    sheet.write_text(sheet.read_text("utf-8").replace("a year", "a month"), encoding="utf-8")
    path.write_text(replace(read_lock(path), owed=(owed,)).text(), encoding="utf-8")

    assert bumped(tmp_path, "05") == 0
    assert open_workspace(tmp_path).text("99", "status") == "accepted"
    while read_lock(path).owed:
        assert bumped(tmp_path, read_lock(path).owed[0].sheet) == 0

    whole = open_workspace(tmp_path).sheets["99"]
    assert whole.text("status") == "draft"
    assert {str(each["id"]): each["version"] for each in whole.rows("sheets")}["05"] != "1.0.0"


def test_a_lock_that_was_made_anew_leaves_sheet_99_and_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finish_gate(judged(tmp_path), tmp_path, read_rules)
    sheet = tmp_path / FOLDER / "05-divergence-protocol.md"
    sheet.write_text(sheet.read_text("utf-8").replace("a year", "a month"), encoding="utf-8")
    (tmp_path / FOLDER / "spec.lock").unlink()
    before = (tmp_path / FOLDER / WHOLE).read_bytes()

    assert bumped(tmp_path) == 1

    assert (
        "sheet 05 says something else than 99 cites as 05 1.0.0: twice spec bump 05 --patch"
        in capsys.readouterr().out
    )
    assert (tmp_path / FOLDER / WHOLE).read_bytes() == before
    assert bumped(tmp_path, "05", Step.PATCH) == 0
    assert open_workspace(tmp_path).text("99", "status") == "draft"


def test_a_report_of_another_tier_is_no_gate_of_these_sheets(tmp_path: Path) -> None:
    finish_gate(judged(tmp_path), tmp_path, read_rules)
    for number in ("00-scope-and-goals", "01-determinism-class"):
        path = tmp_path / FOLDER / f"{number}.md"
        path.write_text(path.read_text("utf-8").replace('tier: "M"', 'tier: "L"'), encoding="utf-8")

    passed, why = find_passed_gate(open_workspace(tmp_path))

    assert passed is None
    assert "it is of 'herd' at tier M" in why


def workspace(project: Path, version: str = "0.1.0", heads: Heads | None = None) -> Workspace:
    said = heads or good_heads("M")
    for number, head in said.items():
        if number != "99":
            head.setdefault("version", version)
    laid(project, said)
    return open_workspace(project)


def citing(made: Workspace, status: str, digest: str = "") -> Heads:
    """Heads in which sheet 99 cites sheet 04 as it is, or another digest."""
    sheet = made.sheets["04"]
    heads = good_heads("M")
    row = {"id": "04", "version": sheet.version, "digest": digest or str(sheet.digest())}
    heads["99"].update(status=status, sheets=[row])
    return heads


def test_a_sheet_that_says_something_else_under_the_version_that_is_cited_is_refused(
    tmp_path: Path,
) -> None:
    other = citing(workspace(tmp_path), "accepted", f"blake3:{'0' * 64}")
    made = workspace(tmp_path, heads=other)

    assert find_unmoved(made, Lock()) is made.sheets["04"]


def test_a_draft_may_cite_a_sheet_that_was_never_locked_anew(tmp_path: Path) -> None:
    draft = citing(workspace(tmp_path), "draft", f"blake3:{'0' * 64}")
    made = workspace(tmp_path, heads=draft)
    assert find_unmoved(made, Lock()) is None
    locked(tmp_path)

    assert find_unmoved(made, read_lock(tmp_path / FOLDER / "spec.lock")) is made.sheets["04"]


def test_what_did_not_change_or_moved_is_consolidated(tmp_path: Path) -> None:
    made = workspace(tmp_path, heads=citing(workspace(tmp_path), "accepted"))
    assert find_unmoved(made, Lock()) is None
    heads = citing(made, "accepted", f"blake3:{'0' * 64}")
    heads["99"]["sheets"][0]["version"] = "0.0.9"

    moved = workspace(tmp_path, heads=heads)
    assert find_unmoved(moved, Lock()) is None

    assert moved.sheets["99"].rows("sheets")[0]["version"] == "0.0.9"
