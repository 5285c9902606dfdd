"""The frame of a page: escaping, sections, tables, style, and the policy that forbids the rest.

Invariant: text becomes markup only through ``escape``; the policy allows this one style and nothing
else, so even a mistake here could load or run nothing.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence

from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import printable
from twice.report.style import STYLE


def escape(text: object) -> str:
    """Text as markup; control characters and surrogates become visible escapes."""
    return html.escape(printable(text))


def document(title: str, body: Iterable[str]) -> str:
    """A whole page.

    Args:
        title: plain text.
        body: markup.
    """
    digest = digest_bytes(STYLE.encode(), Algorithm.SHA256)
    allowed = base64.b64encode(bytes.fromhex(digest.hex)).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body><main>",
            *body,
            "</main></body>",
            "</html>",
            "",
        ]
    )


def section(title: str, *parts: str, note: str = "") -> str:
    """A section with a heading; empty parts are left out, and so is a section of nothing."""
    inside = "\n".join(part for part in parts if part)
    if not inside:
        return ""
    said = f'<p class="note">{escape(note)}</p>' if note else ""
    return f"<section><h2>{escape(title)}</h2>{said}\n{inside}\n</section>"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values; values are plain text."""
    inside = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    return f"<dl>{inside}</dl>" if inside else ""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of plain text; empty when there is no row."""
    cells = ["<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    if not cells:
        return ""
    named = "".join(f"<th>{escape(name)}</th>" for name in head)
    return (
        f'<div class="wide"><table><thead><tr>{named}</tr></thead>'
        f"<tbody>{''.join(cells)}</tbody></table></div>"
    )


def _cell(value: object) -> str:
    return "(none)" if value is None else escape(value)


def paragraphs(texts: Iterable[str], kind: str = "") -> str:
    """Each text as a paragraph."""
    named = f' class="{kind}"' if kind else ""
    return "".join(f"<p{named}>{escape(text)}</p>" for text in texts)


def preformatted(text: str) -> str:
    """Lines as they are, each escaped."""
    rows = "\n".join(escape(row) for row in text.splitlines())
    return f"<pre>{rows}</pre>" if rows else ""


def command(text: str) -> str:
    """A command to run next."""
    return f'<p class="next">next <code>{escape(text)}</code></p>'
