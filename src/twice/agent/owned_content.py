"""Content of ours in a file: the file from end to end, a section between marks, or the entry of a server in JSON.

Invariant: what is written into a file of the user leaves every other character of a text, and every other value of
settings, as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from twice.agent.pack import LAYOUTS, SERVER
from twice.errors import ConfigError

SECTION: Final = "AGENTS.md"
_SERVERS: Final = "mcpServers"


class WholeFile:
    """A file that is ours from its first byte to its last.

    Attributes:
        current: our content in it now; None if there is none.
        made: which part would be ours besides the content, as ``PackEntry`` has it.
    """

    made = ""

    def __init__(self, path: str, text: str | None) -> None:
        self.path = path
        self.text = text or ""
        self.current: str | None = text

    def insert(self, content: str) -> str:
        """Return the file with new content of ours."""
        return content

    def remove(self, made: str) -> str | None:
        """Return the file without our content; None if nothing of the user is left in it."""
        del made
        return None


class _MarkedSection(WholeFile):
    """A section between two marks in a text of the user."""

    begin, end = "<!-- twice: begin -->", "<!-- twice: end -->"

    def __init__(self, path: str, text: str | None) -> None:
        super().__init__(path, text)
        counts = self.text.count(self.begin), self.text.count(self.end)
        self.found = re.search(
            rf"{re.escape(self.begin)}\r?\n(.*?)\r?\n{re.escape(self.end)}(\r?\n|\Z)", self.text, re.DOTALL
        )  # fmt: skip
        if counts != (0, 0) and (counts != (1, 1) or self.found is None):
            raise ConfigError(
                f"{path} has {counts[0]} of the mark {self.begin!r} and {counts[1]} of {self.end!r}, or not in order.",
                "Expected both marks once, each on a line of its own, or neither.",
                f"Remove the marks from {path} and run the command again.",
            )
        self.current = self.found[1] if self.found else None

    def insert(self, content: str) -> str:
        block = f"{self.begin}\n{content}\n{self.end}\n"
        if self.found:
            return self.text[: self.found.start()] + block + self.text[self.found.end() :]
        gap = "" if not self.text else "\n" if self.text.endswith("\n") else "\n\n"
        return self.text + gap + block

    def remove(self, made: str) -> str | None:
        assert self.found is not None, "only a section that was found is removed"
        above, below = self.text[: self.found.start()], self.text[self.found.end() :]
        left = above.removesuffix("\n") + below if above.endswith("\n\n") else above + below
        return None if made == "file" and not left.strip() else left


class _TomlSection(_MarkedSection):
    """A table of a server in TOML settings; the marks are comments."""

    begin, end = "# twice: begin", "# twice: end"

    def __init__(self, path: str, text: str | None) -> None:
        super().__init__(path, text)
        document = _parse_toml(path, self.text)
        if self.current is None and SERVER in _as_object(path, document.get("mcp_servers", {})):
            self.current = ""  # The user has an entry of that name: it is left.

    def insert(self, content: str) -> str:
        text = super().insert(content)
        _parse_toml(self.path, text)
        return text


class _JsonEntry(WholeFile):
    """The entry of the server in JSON settings."""

    def __init__(self, path: str, text: str | None) -> None:
        super().__init__(path, text)
        self.document: dict[str, Any] = {}
        if text is not None and text.strip():
            try:
                self.document = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise _refuse_settings(path, str(error)) from error
        servers = _as_object(path, _as_object(path, self.document).get(_SERVERS, {}))
        self.made = "" if _SERVERS in self.document else "key"
        self.current = dump_sorted(servers[SERVER]) if SERVER in servers else None

    def insert(self, content: str) -> str:
        servers = {**self.document.get(_SERVERS, {}), SERVER: json.loads(content)}
        return self._write({**self.document, _SERVERS: servers})

    def remove(self, made: str) -> str | None:
        document = dict(self.document)
        servers = {name: each for name, each in document[_SERVERS].items() if name != SERVER}
        document[_SERVERS] = servers
        if made and not servers:
            del document[_SERVERS]
        return None if made == "file" and not document else self._write(document)

    def _write(self, document: Mapping[str, Any]) -> str:
        indent = re.search(r"\n([ \t]+)", self.text)
        return json.dumps(document, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


_FORMS: Final[Mapping[str, type[WholeFile]]] = {
    SECTION: _MarkedSection,
    **{
        PurePosixPath(each.settings).name: _TomlSection if each.settings.endswith(".toml") else _JsonEntry
        for each in LAYOUTS.values() if each.settings
    },
}  # fmt: skip
"""How content of ours is part of a file, by the file's name."""


def find_content(path: str, text: str | None) -> WholeFile:
    """Find our content in a file.

    Args:
        path: of the file, relative to the project.
        text: of the file; None if it does not exist.

    Raises:
        ConfigError: E-CONFIG-001: settings or marks cannot be read.
    """
    return _FORMS.get(PurePosixPath(path).name, WholeFile)(path, text)


def _parse_toml(path: str, text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _refuse_settings(path, str(error)) from error


def _as_object(path: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refuse_settings(path, f"{value!r} is not an object")
    return value


def _refuse_settings(path: str, why: str) -> ConfigError:
    kind = "TOML" if path.endswith(".toml") else "JSON without comments"
    return ConfigError(
        f"The entry of twice cannot be added to {path}: {why}.",
        f"Expected settings in {kind}, with a table of servers or none.",
        f"Correct {path}, and run the command again; nothing was changed.",
    )


def dump_sorted(document: object) -> str:
    """Write a JSON document, so that equal documents have equal texts."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)
