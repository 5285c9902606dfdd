"""Facts of a specification, and which of them were asked for.

Whoever makes a region asks here, so that its facts in the lock are those that it was made of.

Invariant: a fact that was not asked for has no part in what is laid down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import rfc8785

from twice.foundation.digests import digest_bytes
from twice.specifying.artifact import Artifact
from twice.specifying.workspace import Workspace

UNSAID: Final = ""


class Facts:
    """What a specification says, asked key by key.

    Args:
        workspace: the sheets.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._asked: dict[str, str] = {}

    def text(self, sheet: str, key: str) -> str:
        """Give a text; "" where none is said."""
        value = self._value(sheet, key)
        return value if isinstance(value, str) else ""

    def whole(self, sheet: str, key: str) -> int | None:
        """Give a whole number; None where none is said."""
        value = self._value(sheet, key)
        return value if type(value) is int else None

    def flag(self, sheet: str, key: str) -> bool:
        """Whether something is said to be so."""
        return self._value(sheet, key) is True

    def listed(self, sheet: str, key: str) -> tuple[str, ...]:
        """Give the texts of a list."""
        self._value(sheet, key)
        found = self._workspace.get(sheet)
        return tuple(found.listed(key)) if found else ()

    def rows(self, sheet: str, key: str) -> tuple[dict[str, Any], ...]:
        """Give the maps of a list."""
        self._value(sheet, key)
        found = self._workspace.get(sheet)
        return tuple(found.rows(key)) if found else ()

    def used(self) -> Mapping[str, str]:
        """Give every fact that was asked for, ``02.names``, with its digest; "" for what is not said."""
        return dict(sorted(self._asked.items()))

    def _value(self, sheet: str, key: str) -> object:
        found = self._workspace.get(sheet)
        value = None if found is None else found.get(key)
        self._asked[f"{sheet}.{key}"] = digest_of_fact(found, key)
        return value


def digest_of_fact(artifact: Artifact | None, key: str) -> str:
    """Digest what a sheet says of a key; "" where it says nothing."""
    value = None if artifact is None else artifact.get(key)
    if value is None:
        return UNSAID
    return str(digest_bytes(rfc8785.dumps(cast("Any", value))))
