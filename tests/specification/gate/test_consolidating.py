"""A sheet that says something else under the version that sheet 99 cites is not consolidated."""

from __future__ import annotations

from pathlib import Path

import pytest
from gatefacts import good_heads
from gatesystems import Heads, laid, locked

from twice.specification.consolidate import refuse_unmoved
from twice.specification.errors import BumpRefused
from twice.specification.lock import Lock, read_lock
from twice.specification.workspace import FOLDER, Workspace, open_workspace


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

    assert moved.sheets["99"].rows("sheets")[0]["version"] == "0.0.9"
