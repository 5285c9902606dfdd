"""How a result is printed: one JSON document or text, on standard output.

Invariant: what ``--json`` prints is one document and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from twice.cli.console import colour_verdict
from twice.errors import OutputExists, OutputUnwritable
from twice.foundation.printable import printable, printable_lines
from twice.writing import write

PRINTED: Final[list[Mapping[str, object]]] = []
"""The document of this command, once it was printed: an error after it belongs on standard error."""


def tell(
    document: Mapping[str, object], lines: Iterable[str], *, as_json: bool, code: int = 0
) -> int:
    """Print a document, or lines; the exit code.

    Args:
        document: with its ``format``.
        lines: the same in words; read only where they are printed.
        as_json: which of both.
        code: passed through.
    """
    if as_json:
        print_json(document)
    else:
        print_lines(lines)
    return code


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, control characters as escapes; the first one's verdict in its colour."""
    for at, line in enumerate(map(printable_lines, lines)):
        print(colour_verdict(line) if at == 0 else line)


def print_beside(*lines: object) -> None:
    """Print lines beside the result, on standard error, control characters as escapes."""
    for line in lines:
        print(printable_lines(str(line)), file=sys.stderr)


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document, in ASCII: any terminal, pipe and half of a surrogate can take it."""
    import json  # help and text do without it

    PRINTED.append(document)
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")


def write_text(text: str, out: Path | None, *, force: bool) -> None:
    """Print a text as it is, or write it: into a file as a whole, into a pipe or a device bit by bit.

    Raises:
        OutputExists: E-OUTPUT-001. OutputUnwritable: E-OUTPUT-002.
    """
    if out is None:
        sys.stdout.write(text)
        return
    is_file = os.path.isfile(out)  # noqa: PTH113  (Path.is_file raises where a name is too long)
    if is_file and not force:
        raise OutputExists(
            f"{out} exists.",
            "Expected a path that is free.",
            "Name another one, or replace it with --force.",
        )
    if is_file or not os.path.exists(out):  # noqa: PTH110
        write(out, text.encode("utf-8", "backslashreplace"))
        return
    try:
        out.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise OutputUnwritable(
            f"{out} cannot be written: {error.strerror or error}.",
            "Expected the path of a file, of a pipe or of a device with room.",
            "Name another path.",
        ) from error


def limit_rows(document: Mapping[str, Any], name: str, limit: int | None) -> dict[str, Any]:
    """Keep the first rows of a list; how many are left out is said in ``omitted`` and on standard error.

    Args:
        document: that is to be printed.
        name: of the list in it.
        limit: how many rows at most.
    """
    rows = document[name]
    if limit is None or len(rows) <= limit:
        return dict(document)
    omitted = len(rows) - limit
    print(f"{omitted} more: --limit {len(rows)} lists them", file=sys.stderr)
    return {**document, name: rows[:limit], "omitted": omitted}


def pick(value: object, *names: str) -> dict[str, Any]:
    """Give attributes of a value by name, for a document."""
    return {name: getattr(value, name) for name in names}


def align(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> list[str]:
    """Rows as lines whose columns stand below each other, printable; the last column is not padded."""
    shown = [[*map(printable, row)] for row in rows]
    columns = zip_longest(*shown, fillvalue="")
    widths = [max(map(len, column)) for column in columns]
    return [
        (
            indent + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False))
        ).rstrip()
        for row in shown
    ]
