"""Every page of the documentation runs and prints what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages import Block, Page, assert_as_shown, matches_output, read_page

DOCS = Path(__file__).parents[2] / "docs"
GENERATED = "ten-verdicts"  # its script runs what it shows, and tests/zoo compares
PAGES = sorted(
    each for each in (*DOCS.glob("*.md"), *DOCS.glob("guides/*.md")) if each.stem != GENERATED
)


def _case(path: Path) -> object:
    tier = pytest.mark.heavy if read_page(path).tier == "nightly" else pytest.mark.integration
    return pytest.param(path, id=path.stem, marks=tier)


@pytest.mark.parametrize("path", [_case(each) for each in PAGES])
def test_a_page_prints_what_it_shows(path: Path, tmp_path: Path) -> None:
    page = read_page(path)
    for library in page.needs:
        pytest.importorskip(library)

    assert_as_shown(page, tmp_path)


def test_outputs_with_gaps() -> None:
    assert matches_output("a ... c\n...\nend\n", "a b c\n\nx\nend")
    assert matches_output("one\n...\n", "one\n")
    assert not matches_output("one\ntwo\n", "one\n")
    assert not matches_output("one\n", "one\ntwo\n")


def test_a_page_that_is_wrong_is_named(tmp_path: Path) -> None:
    wrong = Page((Block("console", None, "echo one\necho two", 7, None, "three\n"),), (), None)

    with pytest.raises(AssertionError, match="line 7: echo two"):
        assert_as_shown(wrong, tmp_path)
