"""A result as HTML: nothing that a program or a record wrote is markup there, or steers the page."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from twice.foundation.html_summary import format_html

HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "</td></table></div><h1>",
    "&lt;b&gt;",
    "\x1b[31mred\x07",
    "\u202egnp.exe",
    "half \ud800 of a pair",
    "$\\require{html}\\href{javascript:alert(1)}{x}$",
]
OURS = {"div", "p", "strong", "table", "tr", "th", "td", "code"}


class Reader(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_shown_and_not_obeyed(text: str) -> None:
    page = format_html(text, 1, text, [(text, text), (text, text, text)], text)
    read = Reader(page)

    assert read.open == []
    assert read.tags <= OURS
    assert read.attributes <= {"class", "style", "scope", "colspan"}
    assert page.replace("\n", "").isprintable()
    assert page.encode()
    assert 'class="tex2jax_ignore mathjax_ignore"' in page, "MathJax typesets what is in dollars"


def test_text_is_whole_until_it_is_very_long() -> None:
    read = Reader(format_html("PASS", 0, "a & b", [("name", "1 < 2"), ("long", "x" * 700)]))

    assert {"PASS", " a & b", "name", "1 < 2"} <= set(read.texts)
    assert f"{'x' * 600}… (100 more characters)" in read.texts


def test_many_facts_are_counted() -> None:
    page = format_html("FAIL", 1, "a", [("caveat", str(at)) for at in range(100)])

    assert page.count("<tr>") == 60
    assert "and 40 more rows" in page


def test_the_colour_is_that_of_the_exit_code_and_text_has_the_pages_own() -> None:
    good, bad, unsure = (format_html("x", code, "", []) for code in (0, 1, 2))

    assert len({good, bad, unsure}) == 3
    assert all(page.count("color:#") == 1 for page in (good, bad, unsure)), "white, on the badge"
