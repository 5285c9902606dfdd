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
from twice.assets.store.seal import merge_documents
from twice.errors import UsageError

_MEASURED: Final = {
    "format", "asset", "evidence", "recipe", "verdicts", "revision", "supersedes", "nonce",
}  # fmt: skip
"""What a run or a seal says, and a person does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """What people say.

    Args:
        who: who declares; "" where nobody is named.
        when: the instant.
        all: a part of every log.
        assets: parts of single logs by the asset's name, over it.
        declared: a further part of every log, over both.
        seedless: why there is no seed, or "".
        program: whether the command is said to be a program without a generative model.
        kind: art or audio, or None to go by the output's name.
    """

    who: str = ""
    when: str = ""
    all: Mapping[str, Any] = field(default_factory=dict)
    assets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)
    seedless: str = ""
    program: bool = False
    kind: str | None = None

    def about(self, name: str) -> dict[str, Any]:
        """Return what is declared of the asset of a name: its own over that of all, options over both."""
        of_file = merge_documents(self.all, self.assets.get(name, {}))
        return merge_documents(of_file, self.declared)


def read_declarations(path: Path) -> Declarations:
    """Read ``render.toml``.

    Raises:
        UsageError: E-USE-001, it is no such file, or says what a person cannot say.
    """
    said, why = {}, ""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = str(error)
    unknown = set(said) - {"who", "when", "all", "assets"}
    assets = said.get("assets", {})
    parts = [said.get("all", {}), *(assets.values() if isinstance(assets, dict) else [None])]
    if unknown:
        why = f"it has {min(unknown)!r}, which means nothing here"
    elif not all(isinstance(each, dict) for each in parts):
        why = "[all] or [assets] is no table"
    elif odd := {name for each in parts for name in each} - (
        DeterminismLog.model_fields.keys() - _MEASURED
    ):
        why = f"it declares {min(odd)!r}, which nobody declares"
    elif not all(isinstance(said.get(name, ""), str) for name in ("who", "when")):
        why = "who or when is no text"
    if why:
        raise UsageError(
            f"{path} cannot be used: {why}.",
            'Expected TOML with who, when, [all] and [assets."NAME"], each a part of a log.',
            "See docs/guides/rerendering.md.",
        )
    return Declarations(**said)


def list_pointers(document: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """Point at each block's fields, two levels deep: as fine as evidence has to be."""
    for name, value in document.items():
        where = f"{at}/{escape(name)}"
        if not at and isinstance(value, dict) and value and "not_applicable" not in value:
            yield from list_pointers(value, where)
        else:
            yield where
