"""The lock: what each sheet said when its version was last moved, and what is owed since.

It lies beside the sheets as ``spec.lock``, a JSON document with sorted keys, one value a line, so that it
merges. Sheets hold no digests of each other: those live here. Whether a lock was lost, version control tells.

Invariant: writing what was read gives the same bytes, and a document that this version did not write is refused
before a value of it is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from twice.errors import DigestRefused
from twice.specification.errors import SheetRefused, SheetVersion
from twice.writing import write

NAME: Final = "spec.lock"
FORMAT: Final = "twice.spec-lock/1"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Locked:
    """A sheet as it was when its version was last moved.

    Args:
        version: that version.
        digest: digest of what decided.
        values: what decided, by key; the text below the head by its digest.
    """

    version: str
    digest: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Owed:
    """A sheet that has to be written anew.

    Args:
        sheet: its number.
        because: the number of the sheet that changed.
        row: the row of the table that says so, or ``unlisted``.
        what: what of it.
        breaks: whether the change breaks the class.
    """

    sheet: str
    because: str
    row: str
    what: str
    breaks: bool


@dataclass(frozen=True, slots=True)
class Lock:
    """All of it.

    Args:
        sheets: by number.
        owed: what has to be written anew, in order.
        acknowledged: sheets that were left as they are, with the reason.
    """

    sheets: Mapping[str, Locked] = field(default_factory=dict)
    owed: tuple[Owed, ...] = ()
    acknowledged: tuple[Mapping[str, str], ...] = ()

    def with_sheet(self, number: str, locked: Locked) -> Lock:
        """Give a lock in which a sheet is as it is now, and owes nothing."""
        left = tuple(each for each in self.owed if each.sheet != number)
        return replace(self, sheets={**self.sheets, number: locked}, owed=left)

    def owing(self, more: tuple[Owed, ...]) -> Lock:
        """Give a lock in which more is owed."""
        every = {(each.sheet, each.because, each.row): each for each in (*self.owed, *more)}
        return replace(self, owed=tuple(every[key] for key in sorted(every)))

    def text(self) -> str:
        """Write it."""
        document = {"format": FORMAT, **asdict(self)}
        return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def read_lock(path: Path) -> Lock:
    """Read a lock; an empty one where there is no file.

    Raises:
        SheetRefused: E-SPEC-001: it is no lock.
        SheetVersion: E-SPEC-003: a later version wrote it.
    """

    def take(document: Mapping[str, Any]) -> Lock:
        keys = ("sheet", "because", "row", "what", "breaks")
        return Lock(
            {
                str(number): Locked(str(each["version"]), str(each["digest"]), dict(each["values"]))
                for number, each in document["sheets"].items()
            },
            tuple(Owed(*(each[key] for key in keys)) for each in document["owed"]),
            tuple(dict(each) for each in document["acknowledged"]),
        )

    def refuse(why: str) -> SheetRefused:
        return SheetRefused(
            f"{path} is no lock of a specification: {why}.",
            f"Expected the JSON document that twice wrote, format {FORMAT!r}.",
            f"Take it from version control: git checkout -- {path}; where there is none: rm {path} && twice spec bump",
            path=str(path),
        )

    return read_document(path, FORMAT, take, refuse) or Lock()


def write_lock(path: Path, before: Lock, after: Lock) -> None:
    """Write a lock where it says something else than before.

    Raises:
        OutputUnwritable: E-OUTPUT-002.
    """
    if after.text() != before.text():
        write(path, after.text().encode())


def read_document(
    path: Path,
    form: str,
    take: Callable[[Mapping[str, Any]], T],
    refusal: Callable[[str], SheetRefused],
) -> T | None:
    """Read a document in which twice keeps what it laid down; None where there is no file.

    Args:
        path: of the file.
        form: the one that this version writes, ``family/number``.
        take: makes the value from the document.
        refusal: the error for a file that is no such document, from the reason.

    Raises:
        SheetRefused: E-SPEC-001: it is no such document.
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
