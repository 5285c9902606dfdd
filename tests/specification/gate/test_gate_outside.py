"""Evidence outside of the project, or behind a link that leads out of it, is one clear refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gatefacts import TODAY, good_heads
from gatesystems import VECTOR, laid, locked

from twice.specification.errors import SheetRefused
from twice.specification.gate.evidence.context import SourceFacts
from twice.specification.gate.runner import run_gate
from twice.specification.location import FOLDER


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "herd"
    (tmp_path / "elsewhere").mkdir()
    return made


@pytest.mark.parametrize(
    ("number", "values", "words"),
    [
        ("01", {"vector": "/elsewhere/a.twice"}, r"01-.*:\d+: vector names /elsewhere/a.twice, which lies outside"),
        ("13", {"measured": "../elsewhere/cost.json"}, "measured names ../elsewhere/cost.json"),
        ("12", {"tests": ["tests", "../tests::test_one"]}, "tests names ../tests"),
        ("12", {"database": "x/../../elsewhere"}, "by a link, outside|lies.* outside"),
        ("00", {"sources": [".."]}, "sources names .., which"),
        ("10", {"audit": ["../elsewhere"]}, "audit names ../elsewhere"),
        ("01", {"vector": "a\0.twice"}, "vector names a"),
    ],
)  # fmt: skip
def test_what_lies_outside_is_refused_with_its_line(
    project: Path, number: str, values: dict[str, Any], words: str
) -> None:
    heads = good_heads("M")
    heads[number].update(values)
    laid(project, heads)
    locked(project)

    with pytest.raises(SheetRefused, match=words):
        run_gate(project, lambda *_: SourceFacts(), TODAY, only=(1,))


def test_a_link_out_of_the_project_is_refused(project: Path) -> None:
    laid(project, good_heads("M"))
    locked(project)
    (project / VECTOR).parent.mkdir()
    (project / VECTOR).symlink_to(project.parent / "elsewhere" / "a.twice")

    with pytest.raises(SheetRefused, match=r"vector names .*, which lies, by a link, outside"):
        run_gate(project, lambda *_: SourceFacts(), TODAY, only=(1,))


def test_a_folder_of_evidence_that_leads_away_takes_no_report(project: Path) -> None:
    heads = good_heads("M")
    heads["01"]["vector"] = heads["13"]["measured"] = "?"
    laid(project, heads)
    locked(project)
    (project / FOLDER / "evidence").symlink_to(project.parent / "elsewhere")

    with pytest.raises(SheetRefused, match="is a link that leads out of the project"):
        run_gate(project, lambda *_: SourceFacts(), TODAY, only=(1,))


def test_a_sheet_that_is_a_link_out_of_the_project_is_refused(project: Path) -> None:
    laid(project, good_heads("M"))
    locked(project)
    (sheet,) = (project / FOLDER).glob("05-*.md")
    sheet.rename(project.parent / "elsewhere" / "05.md")
    sheet.symlink_to(project.parent / "elsewhere" / "05.md")

    with pytest.raises(SheetRefused, match=r"05-.*\.md:1: the sheet lies, by a link, outside"):
        run_gate(project, lambda *_: SourceFacts(), TODAY, only=(1,))


def test_a_link_inside_of_the_project_is_followed(project: Path) -> None:
    laid(project, good_heads("M"))
    locked(project)
    (project / VECTOR).parent.mkdir()
    (project / VECTOR).symlink_to(project / "a.twice")

    assert run_gate(project, lambda *_: SourceFacts(), TODAY, only=(1,)).checks[0].id == 1
