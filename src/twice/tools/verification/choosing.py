"""Which cases a tool is tried with: those of a file, else those of its declaration, else made ones.

Invariant: what is chosen depends on the file, the declaration and the schema alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from twice.errors import UsageError
from twice.tools.cases import Case
from twice.tools.verification.describing import Described
from twice.tools.verification.generating import NoExample, list_arguments

FORMAT: Final = "twice.tools-cases/1"
_BYTES_MAX: Final = 1 << 24


def cases_for(
    tool: Described, given: Mapping[str, Sequence[Case]]
) -> tuple[str, Sequence[Case], str]:
    """Where the cases of a tool come from, the cases, and why there are none."""
    if given.get(tool.name):
        return "file", given[tool.name], ""
    if tool.cases:
        return "declared", tool.cases, ""
    try:
        return "generated", tuple(map(Case, list_arguments(tool.schema))), ""
    except (NoExample, KeyError, TypeError) as error:
        return "generated", (), f"no arguments could be made: {error}"


def read_cases(path: Path, names: Collection[str]) -> dict[str, list[Case]]:
    """Cases of a file, by tool.

    Args:
        path: ``{"format": "twice.tools-cases/1", "cases": [{"tool", "arguments", "start"}]}``.
        names: the tools that there are.

    Raises:
        UsageError: E-USE-001, when it is no such file, or names a tool that there is not.
    """
    rows = _rows(path)
    found: dict[str, list[Case]] = {}
    for at, row in enumerate(rows):
        name = row.get("tool") if isinstance(row, Mapping) else None
        if not isinstance(name, str) or name not in names:
            raise _refused(path, f"cases[{at}] is of no tool of this registry: {name!r:.80}")
        try:
            found.setdefault(name, []).append(Case.from_json(row))
        except ValueError as error:
            raise _refused(path, f"cases[{at}] {error}") from error
    return found


def _rows(path: Path) -> list[Any]:
    try:
        with path.open("rb") as file:
            data = file.read(_BYTES_MAX + 1)
        document = json.loads(data) if len(data) <= _BYTES_MAX else None
    except (OSError, ValueError, RecursionError) as error:
        raise _refused(path, str(error)) from error
    if len(data) > _BYTES_MAX:
        raise _refused(path, f"it is larger than {_BYTES_MAX} bytes")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _refused(path, f"its format is not {FORMAT}")
    rows = document.get("cases")
    if not isinstance(rows, list):
        raise _refused(path, "it has no list of cases")
    return rows


def _refused(path: Path, why: str) -> UsageError:
    return UsageError(
        f"The cases in {path} cannot be used: {why}.",
        f'Expected {{"format": "{FORMAT}", "cases": [{{"tool": …, "arguments": {{…}}}}]}}.',
        "Correct the file, or leave --cases out.",
    )
