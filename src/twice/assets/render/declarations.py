"""What people say of a render: once for all in ``render.toml``, and on the command line.

In the file ``[all]`` goes into every log, ``[assets."NAME"]`` into the log of the asset of that name, each as part of a
log. What is said counts as declared, by ``who`` at ``when``.

Invariant: nothing in the file is executed, and every value of it gets evidence of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from twice.assets.log.io import escape
from twice.assets.log.models import DeterminismLog
from twice.assets.render.runner import TIMEOUT_S
from twice.assets.store.seal import merge_documents
from twice.errors import UsageError

_MEASURED: Final = {
    "format", "asset", "evidence", "recipe", "verdicts", "revision", "supersedes", "nonce",
}  # fmt: skip
"""What a run or a seal says, and a person does not."""


@dataclass(frozen=True, slots=True)
class RenderProject:
    """What people declare: who and when, for every asset, and for single ones."""

    who: str = ""
    when: str = ""
    all: dict[str, Any] = field(default_factory=dict)
    assets: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """What whoever records says.

    Args:
        project: what stands in the project file.
        declared: further parts of a log, over it.
        who: who says so.
        when: the instant.
        seed: decimal digits, or "".
        seeded: whether the seed stands in a variable.
        seedless: why there is no seed, or "".
        program: whether the command is said to be a program without a generative model.
        kind: art or audio, or None to go by the output's name.
        env: the variables that the command gets.
        timeout_s: its time limit in seconds.
    """

    project: RenderProject = field(default_factory=RenderProject)
    declared: Mapping[str, Any] = field(default_factory=dict)
    who: str = ""
    when: str = ""
    seed: str = ""
    seeded: bool = False
    seedless: str = ""
    program: bool = False
    kind: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = TIMEOUT_S

    @property
    def author(self) -> str:
        """Whoever declares, by option or by file; "" where nobody is named."""
        return self.who or self.project.who

    def about(self, name: str) -> dict[str, Any]:
        """Give what is declared of the asset of a name: its own over that of all, options over both."""
        return merge_documents(
            merge_documents(self.project.all, self.project.assets.get(name, {})), self.declared
        )


def read_project(path: Path) -> RenderProject:
    """Read ``render.toml``.

    Raises:
        UsageError: E-USE-001: it is no such file, or says what a person cannot say.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _refuse(path, str(error)) from error
    unknown = set(said) - {"who", "when", "all", "assets"}
    if unknown:
        raise _refuse(path, f"it has {min(unknown)!r}, which means nothing here")
    every, assets = said.get("all", {}), said.get("assets", {})
    for part in (every, *(assets.values() if isinstance(assets, dict) else [None])):
        if not isinstance(part, dict):
            raise _refuse(path, "[all] or [assets] is no table")
        for name in part:
            if name in _MEASURED or name not in DeterminismLog.model_fields:
                raise _refuse(path, f"it declares {name!r}, which nobody declares")
    who, when = said.get("who", ""), said.get("when", "")
    if not isinstance(who, str) or not isinstance(when, str):
        raise _refuse(path, "who or when is no text")
    return RenderProject(who, when, every, assets)


def list_pointers(document: Any, at: str = "") -> Iterator[str]:
    """Point at each block's fields, two levels deep: as fine as evidence has to be."""
    for name, value in document.items():
        where = f"{at}/{escape(name)}"
        if not at and isinstance(value, dict) and value and "not_applicable" not in value:
            yield from list_pointers(value, where)
        else:
            yield where


def _refuse(path: Path, why: str) -> UsageError:
    return UsageError(
        f"{path} cannot be used: {why}.",
        'Expected TOML with who, when, [all] and [assets."NAME"], each a part of a log.',
        "See docs/guides/rerendering.md.",
    )
