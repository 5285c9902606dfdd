"""The lock: what each sheet said when its version was last moved, and what is owed since.

It lies beside the sheets as ``spec.lock``, a JSON document with sorted keys, one value a line, so that it
merges. Sheets hold no digests of each other: those live here.

Invariant: writing what was read gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from twice.errors import SheetRefused
from twice.specifying.graph.changes import Owed
from twice.specifying.locks import read_document

NAME: Final = "spec.lock"
FORMAT: Final = "twice.spec-lock/1"


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
class Lock:
    """All of it.

    Args:
        sheets: by number.
        owed: what has to be written anew, in order.
        answers: what people answered to the questions of the tables, by question.
        acknowledged: sheets that were left as they are, with the reason.
        anew: sheets that were locked before and are in this lock without their past, with the reason, by number;
            a sheet stays there until its version moves.
    """

    sheets: Mapping[str, Locked] = field(default_factory=dict)
    owed: tuple[Owed, ...] = ()
    acknowledged: tuple[Mapping[str, str], ...] = ()
    anew: Mapping[str, str] = field(default_factory=dict)

    def with_sheet(self, number: str, locked: Locked) -> Lock:
        """Give a lock in which a sheet is as it is now, and owes nothing."""
        sheets = {**self.sheets, number: locked}
        left = tuple(each for each in self.owed if each.sheet != number)
        anew = {key: why for key, why in self.anew.items() if key != number}
        return replace(self, sheets=dict(sorted(sheets.items())), owed=left, anew=anew)

    def laid_anew(self, number: str, reason: str) -> Lock:
        """Give a lock that says of a sheet that its past is not known."""
        return replace(self, anew=dict(sorted({**self.anew, number: reason}.items())))

    def owing(self, more: tuple[Owed, ...]) -> Lock:
        """Give a lock in which more is owed."""
        every = {(each.sheet, each.because, each.row): each for each in (*self.owed, *more)}
        return replace(self, owed=tuple(every[key] for key in sorted(every)))

    def text(self) -> str:
        """Write it."""
        document = {
            "format": FORMAT,
            "sheets": {
                number: {
                    "version": each.version,
                    "digest": each.digest,
                    "values": dict(each.values),
                }
                for number, each in self.sheets.items()
            },
            "owed": [
                {
                    "sheet": each.sheet,
                    "because": each.because,
                    "row": each.row,
                    "what": each.what,
                    "asks": each.asks,
                    "breaks": each.breaks,
                }
                for each in self.owed
            ],
            "acknowledged": [dict(each) for each in self.acknowledged],
            **({"anew": dict(self.anew)} if self.anew else {}),
        }
        return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def read_lock(path: Path) -> Lock:
    """Read a lock; an empty one where there is no file.

    Raises:
        SheetRefused: E-SPEC-001: it is no lock.
        SheetVersion: E-SPEC-003: a later version wrote it.
    """
    lock = read_document(path, FORMAT, _read, lambda why: _no_lock(path, why))
    return Lock() if lock is None else lock


def _read(document: Mapping[str, Any]) -> Lock:
    return Lock(
        {
            str(number): Locked(str(each["version"]), str(each["digest"]), dict(each["values"]))
            for number, each in document["sheets"].items()
        },
        tuple(Owed(**each) for each in document["owed"]),
        tuple(dict(each) for each in document["acknowledged"]),
        {str(number): str(why) for number, why in document.get("anew", {}).items()},
    )


def _no_lock(path: Path, why: str) -> SheetRefused:
    return SheetRefused(
        f"{path} is no lock of a specification: {why}.",
        f"Expected the JSON document that twice wrote, format {FORMAT!r}.",
        f'Take it from version control; where it is lost: rm {path} && twice spec lock --anew "why"',
        path=str(path),
    )
