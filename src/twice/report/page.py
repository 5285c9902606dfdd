"""Pages from templates: one HTML file each, with its style inside.

Every expression in a template is escaped. Control characters and halves of surrogates become
visible escapes first, so a page shows them and no reader's program obeys them.

Invariant: a page runs no script and loads nothing. Its policy allows its own style alone, so even a
mistake in a template could load or run nothing.
"""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING

from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: object) -> str:
    """Return a whole page.

    Args:
        template: a name in ``templates/``, without its endings.
        values: what the template names; a missing one is an error.
    """
    return environment().get_template(f"{template}.html.j2").render(values)


@cache
def environment() -> Environment:
    """Return the templates, ready to be filled."""
    import jinja2  # commands that make no page do without it

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("twice.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_show,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["commas"] = "{:,}".format
    style = made.get_template("style.css").render()
    digest = bytes.fromhex(digest_bytes(style.encode(), Algorithm.SHA256).hex)
    made.globals["style_digest"] = base64.b64encode(digest).decode()
    return made


def _show(value: object) -> object:
    # What a macro returns is markup already; its parts came through here before.
    return value if hasattr(value, "__html__") else printable(value)
