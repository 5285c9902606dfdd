"""The documents in which twice keeps what it laid down: locks, as JSON with a form that is named.

Invariant: a document that this version did not write is refused before a value of it is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from twice.errors import DigestRefused, SheetRefused, SheetVersion

T = TypeVar("T")


def read_document(
    path: Path,
    form: str,
    take: Callable[[Mapping[str, Any]], T],
    refusal: Callable[[str], SheetRefused],
) -> T | None:
    """Read a lock; None where there is no file.

    Args:
        path: of the file.
        form: the one that this version writes, ``family/number``.
        take: makes the value from the document.
        refusal: the error for a file that is no such lock, from the reason.

    Raises:
        SheetRefused: E-SPEC-001: it is no lock.
        SheetVersion: E-SPEC-003: another version wrote it.
    """
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise refusal(str(error)) from error
    said = document.get("format") if isinstance(document, dict) else None
    if isinstance(said, str) and said.startswith(form.rpartition("/")[0] + "/") and said != form:
        raise SheetVersion(
            f"{path} has the form {said!r}; this version reads {form!r}.",
            "It was written by another version of twice.",
            "Install that version: pip install --upgrade twice",
            path=str(path),
        )
    if said != form:
        raise refusal(f"its format is {said!r}")
    try:
        return take(document)
    except (KeyError, TypeError, ValueError, AttributeError, DigestRefused) as error:
        raise refusal(f"{type(error).__name__}: {error}") from error
