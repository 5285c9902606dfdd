"""A lock that was deleted and laid anew says so, and nothing vouches for it but what was accepted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from gatefacts import facts, good_heads
from gatesystems import Heads, laid, locked

from twice.errors import BumpRefused
from twice.specifying.consolidating import refuse_unmoved
from twice.specifying.gate.checks import CHECKS
from twice.specifying.gate.model import CheckOutcome
from twice.specifying.gate.runner import judge
from twice.specifying.history import first_locked, history_of
from twice.specifying.lock import Lock, read_lock
from twice.specifying.workspace import FOLDER, Workspace, open_workspace

VERSIONING = next(each for each in CHECKS if each.id == 9)


def workspace(project: Path, version: str = "0.1.0", heads: Heads | None = None) -> Workspace:
    said = heads or good_heads("M")
    for number, head in said.items():
        if number != "99":
            head.setdefault("version", version)
    laid(project, said)
    return open_workspace(project)


def citing(made: Workspace, status: str, digest: str = "") -> Heads:
    """Heads in which sheet 99 cites sheet 04 as it is, or another digest."""
    sheet = made.artifacts["04"]
    heads = good_heads("M")
    row = {"id": "04", "version": sheet.version, "digest": digest or str(sheet.digest())}
    heads["99"].update(status=status, sheets=[row])
    return heads


def test_a_sheet_that_was_only_laid_down_has_no_past(tmp_path: Path) -> None:
    made = workspace(tmp_path)

    assert history_of(made, "04") == ""
    assert first_locked(made, Lock(), "04", "").anew == {}


def test_a_version_that_moved_shows_that_there_was_a_lock(tmp_path: Path) -> None:
    made = workspace(tmp_path, "0.2.0")

    with pytest.raises(BumpRefused, match=r"it was locked before: its version is 0\.2\.0"):
        first_locked(made, Lock(), "04", "")


def test_an_accepted_sheet_99_shows_that_there_was_a_lock(tmp_path: Path) -> None:
    draft = workspace(tmp_path, heads=citing(workspace(tmp_path), "draft"))
    accepted = workspace(tmp_path, heads=citing(draft, "accepted"))

    assert history_of(draft, "04") == ""
    assert history_of(accepted, "04") == "sheet 99 was accepted with it"
    assert history_of(accepted, "05") == ""


def test_a_report_whose_versions_passed_shows_that_there_was_a_lock(tmp_path: Path) -> None:
    made = workspace(tmp_path)
    (made.folder / "evidence").mkdir()
    said = {"checks": [{"id": 9, "outcome": "pass"}], "inputs": {made.artifacts["04"].path: "?"}}
    (made.folder / "evidence" / "gate.json").write_text(json.dumps(said), encoding="utf-8")

    assert history_of(made, "04") == "a gate has passed its versions"
    assert history_of(made, "05") == ""


def test_a_lock_laid_anew_says_so_until_the_version_moves(tmp_path: Path) -> None:
    made = workspace(tmp_path, "0.2.0")
    path = tmp_path / "spec.lock"

    anew = first_locked(made, Lock(), "04", "a disk was lost")
    path.write_text(anew.text(), encoding="utf-8")
    moved = read_lock(path).with_sheet("04", anew.sheets["04"])

    assert read_lock(path) == anew
    assert anew.anew == {"04": "a disk was lost"}
    assert moved.anew == {}
    assert '"anew"' not in moved.text()


@pytest.mark.parametrize(
    ("status", "outcome"), [("draft", CheckOutcome.FAIL), ("accepted", CheckOutcome.PASS)]
)
def test_check_9_speaks_of_a_lock_laid_anew(
    tmp_path: Path, status: str, outcome: CheckOutcome
) -> None:
    heads = citing(workspace(tmp_path, "1.0.0"), status)
    known = facts(tmp_path, heads=heads)

    judged = judge(VERSIONING, replace(known, lock=known.lock.laid_anew("04", "lost")))

    assert judged.outcome is outcome
    told = judged.reason or " ".join(judged.evidence)
    assert "04 was laid anew (lost)" in told


def test_a_sheet_that_says_something_else_under_the_version_that_is_cited_is_refused(
    tmp_path: Path,
) -> None:
    other = citing(workspace(tmp_path), "accepted", f"blake3:{'0' * 64}")
    made = workspace(tmp_path, heads=other)

    with pytest.raises(BumpRefused, match=r"Sheet 04 is at .* and says something else"):
        refuse_unmoved(made, Lock())


def test_a_draft_may_cite_a_sheet_that_was_never_locked_anew(tmp_path: Path) -> None:
    draft = citing(workspace(tmp_path), "draft", f"blake3:{'0' * 64}")
    made = workspace(tmp_path, heads=draft)
    refuse_unmoved(made, Lock())
    locked(tmp_path)

    with pytest.raises(BumpRefused):
        refuse_unmoved(made, read_lock(tmp_path / FOLDER / "spec.lock"))


def test_what_did_not_change_or_moved_is_consolidated(tmp_path: Path) -> None:
    made = workspace(tmp_path, heads=citing(workspace(tmp_path), "accepted"))
    refuse_unmoved(made, Lock())
    heads = citing(made, "accepted", f"blake3:{'0' * 64}")
    heads["99"]["sheets"][0]["version"] = "0.0.9"

    moved = workspace(tmp_path, heads=heads)
    refuse_unmoved(moved, Lock())

    assert moved.artifacts["99"].rows("sheets")[0]["version"] == "0.0.9"
