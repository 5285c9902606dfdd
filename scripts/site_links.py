"""A hook of mkdocs: links that leave ``docs`` become the path in the repository, which has to be there.

The site holds the pages alone; programs, examples and tests that a page cites stand in the repository.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

_LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)#\s]*)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Replace the links of a page.

    Raises:
        PluginError: a file that is cited is not there.
    """
    docs = Path(config["docs_dir"]).resolve()
    folder = (docs / page.file.src_uri).parent

    def replace(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(docs):
            return link[0]
        if not target.exists():
            raise PluginError(f"{page.file.src_uri} cites {link[2]}, which is not there")
        return f"{link[1]} (`{target.relative_to(docs.parent).as_posix()}`)"

    return _LINK.sub(replace, markdown)
