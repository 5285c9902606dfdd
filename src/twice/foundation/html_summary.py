"""A result as a piece of HTML that a notebook shows: its verdict, its facts, the next command.

The styles stand in the elements, and text has the colour of the page around it, so a light and a dark page can both
show it. Nothing is loaded, and no script runs. A program or a stranger's record may have written any of the texts.

Invariant: every text is escaped, and stays in the cell that it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from twice.foundation.printable import pluralize, printable_lines

_COLOURS: Final = ("#1f7a4d", "#c8362b", "#8a5c00")
"""By exit code: it holds, it does not, unknown. White text is readable on each, and each on white and on black."""
_TEXT_MAX: Final = 600
_FACTS_MAX: Final = 60
# Without these classes a page with MathJax would typeset what is between two dollar signs.
_OPEN: Final = '<div class="tex2jax_ignore mathjax_ignore" style="border-left:4px solid {};padding:2px 12px;margin:4px 0">'
_BADGE: Final = '<strong style="background:{};color:#fff;padding:1px 8px;border-radius:4px">'
_TABLE: Final = '<table style="border-collapse:collapse;margin:6px 0;table-layout:auto">'
_CELL: Final = "text-align:left;vertical-align:top;padding:1px 16px 1px 0;white-space:pre-wrap;overflow-wrap:anywhere"
_CODE: Final = '<code style="background:transparent;color:inherit">'


def format_html(
    verdict: str,
    exit_code: int,
    headline: str,
    facts: Iterable[Sequence[object]],
    command: str = "",
) -> str:
    """Return a result as HTML.

    Args:
        verdict: its word or words.
        exit_code: 0 for what holds, 1 for what does not, 2 for unknown.
        headline: of which thing it is the verdict.
        facts: a name, and a value or the values of two sides.
        command: to type next; empty for none.
    """
    colour, rows = _COLOURS[exit_code], [*facts]
    badge = f"{_BADGE.format(colour)}{_escape(verdict)}</strong>"
    lines = [
        _OPEN.format(colour),
        f'<p style="margin:2px 0">{badge} {_escape(headline)}</p>',
        _TABLE,
        *map(_format_row, rows[:_FACTS_MAX]),
        "</table>",
    ]
    if len(rows) > _FACTS_MAX:
        lines.append(f"<p>and {pluralize(len(rows) - _FACTS_MAX, 'more row')}</p>")
    if command:
        lines.append(f'<p style="margin:2px 0">next: {_CODE}{_escape(command)}</code></p>')
    return "\n".join([*lines, "</div>"])


def _format_row(fact: Sequence[object]) -> str:
    name, *values = fact
    span = ' colspan="2"' if len(values) == 1 else ""
    cells = "".join(f'<td{span} style="{_CELL}">{_escape(each)}</td>' for each in values)
    return f'<tr><th scope="row" style="{_CELL};font-weight:600;min-width:9em">{_escape(name)}</th>{cells}</tr>'


def _escape(value: object) -> str:
    text = str(value)
    more = len(text) - _TEXT_MAX
    cut = f"{text[:_TEXT_MAX]}… ({pluralize(more, 'more character')})" if more > 0 else text
    return escape(printable_lines(cut))
