"""The file in which people say once what no run can know: ``render.toml``.

``[all]`` goes into every log, ``[assets."NAME"]`` into the log of the asset of that name, each as part of
a log. What it says counts as declared, by ``who`` at ``when``.

Invariant: nothing in it is executed, and every value of it gets evidence of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from twice.assets.log.io import escape
from twice.assets.log.models import DeterminismLog
from twice.assets.store.seal import merge_documents
from twice.errors import UsageError

_OWN: Final = (
    "format",
    "asset",
    "evidence",
    "recipe",
    "verdicts",
    "revision",
    "supersedes",
    "nonce",
)
"""What a run or a seal says, and a person does not."""


@dataclass(frozen=True, slots=True)
class Project:
    """What people declare: who and when, for every asset, and for single ones."""

    who: str = ""
    when: str = ""
    all: dict[str, Any] = field(default_factory=dict)
    assets: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of(self, name: str) -> dict[str, Any]:
        """Give what is declared of the asset of a name, its own over that of all."""
        return merge_documents(self.all, self.assets.get(name, {}))


def read_project(path: Path) -> Project:
    """Read the file.

    Raises:
        UsageError: E-USE-001: it is no such file, or says what a person cannot say.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _refused(path, str(error)) from error
    unknown = set(said) - {"who", "when", "all", "assets"}
    if unknown:
        raise _refused(path, f"it has {min(unknown)!r}, which means nothing here")
    assets = said.get("assets", {})
    parts = [said.get("all", {}), *(assets.values() if isinstance(assets, dict) else [None])]
    for part in parts:
        if not isinstance(part, dict):
            raise _refused(path, "[all] or [assets] is no table")
        _require_sayable(path, part)
    who, when = said.get("who", ""), said.get("when", "")
    if not isinstance(who, str) or not isinstance(when, str):
        raise _refused(path, "who or when is no text")
    return Project(who, when, parts[0], dict(assets))


def _require_sayable(path: Path, part: dict[str, Any]) -> None:
    for name in part:
        if name in _OWN or name not in DeterminismLog.model_fields:
            raise _refused(path, f"it declares {name!r}, which nobody declares")


def pointers(document: Any, at: str = "") -> Iterator[str]:
    """Point at each block's fields, two levels deep: as fine as evidence has to be."""
    for name, value in document.items():
        where = f"{at}/{escape(name)}"
        deeper = isinstance(value, dict) and value and "not_applicable" not in value
        if not at and deeper:
            yield from pointers(value, where)
        else:
            yield where


def _refused(path: Path, why: str) -> UsageError:
    return UsageError(
        f"{path} cannot be used: {why}.",
        'Expected TOML with who, when, [all] and [assets."NAME"], each a part of a log.',
        "See docs/guides/rerendering.md.",
    )
