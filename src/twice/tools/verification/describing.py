"""What a registry offers, told by the process that has loaded it: the parent never loads it.

Invariant: what is told is plain data.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from twice.foundation.comparison import Tolerance, tolerance_from_json
from twice.foundation.source_files import is_user_file
from twice.recorder.user_code import digest_sources, list_user_modules
from twice.tools.cases import Case
from twice.tools.declaration import Tool
from twice.tools.determinism import Determinism
from twice.tools.registry import Registry


@dataclass(frozen=True)
class Described:
    """One tool, as far as verification asks.

    Attributes:
        name: its name.
        fingerprint: of its descriptor.
        determinism: its class.
        reads_only: whether it promises to change nothing.
        idempotent: whether a second equal call promises to change nothing more.
        is_macro: whether it is a declared sequence.
        tolerance: within which two results count as equal.
        schema: of its arguments.
        cases: that stand with its declaration.
        source: its file, and first and last line; None for what has none.
    """

    name: str
    fingerprint: str
    determinism: Determinism
    reads_only: bool
    idempotent: bool
    is_macro: bool
    tolerance: Tolerance | None
    schema: Mapping[str, Any]
    cases: tuple[Case, ...]
    source: tuple[str, int, int] | None

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        """Read the plain form."""
        tolerance = told["tolerance"]
        return cls(
            told["name"],
            told["fingerprint"],
            Determinism(told["determinism"]),
            told["reads_only"],
            told["idempotent"],
            told["is_macro"],
            None if tolerance is None else tolerance_from_json(tolerance),
            told["schema"],
            tuple(Case.from_json(each) for each in told["cases"]),
            None if told["source"] is None else (*told["source"],),
        )


def described(registry: Registry) -> dict[str, Any]:
    """Tell what a registry offers, and on which backend."""
    backend = registry.open_backend()
    return {
        "fingerprint": registry.fingerprint,
        "backend": "" if backend is None else backend.name,
        "profile": {} if backend is None else {k: str(v) for k, v in backend.profile().items()},
        "sources": sources(registry),
        "tools": [_tool(each) for each in registry],
    }


def sources(registry: Registry) -> dict[str, str]:
    """Digests of the user's own files that were loaded with a registry, by path below their folder.

    A module that a tool imports only when it is called is not among them.
    """
    named = [Path(found[0]).resolve() for each in registry if (found := _source(each))]
    files = sorted({*list_user_modules(), *(path for path in named if is_user_file(str(path)))})
    if not files:
        return {}
    return digest_sources(files, Path(os.path.commonpath([path.parent for path in files])))


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "fingerprint": tool.fingerprint,
        "determinism": tool.determinism.value,
        "reads_only": tool.reads_only,
        "idempotent": tool.idempotent,
        "is_macro": tool.is_macro,
        "tolerance": None if tool.tolerance is None else tool.tolerance.to_json(),
        "schema": dict(tool.parameters.schema),
        "cases": [each.to_json() for each in tool.cases],
        "source": _source(tool),
    }


def _source(tool: Tool) -> list[Any] | None:
    try:
        path = inspect.getsourcefile(tool.function)
        lines, first = inspect.getsourcelines(tool.function)
    except (OSError, TypeError):
        return None
    return None if path is None else [path, first, first + len(lines) - 1]
