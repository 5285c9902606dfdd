"""One sheet as it was read: its values, its text, its digest, and what is still missing in it.

Reading refuses what is broken (a key that is not known, a value of another kind, a later form), with the
line. What is merely absent or "?" is no error: a sheet grows; ``gaps`` lists it.

The digest covers what decides: the head's deciding keys as an RFC 8785 document, and the text without
its notes, Unicode in form NFC, lines ended by newlines, blank lines at the end cut. A section whose heading is
"Notes", and whatever follows up to the next heading of its level, is notes.

Invariant: two files with one digest make one promise.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, cast

import rfc8785

from twice.errors import SheetRefused, SheetVersion
from twice.foundation.digests import Digest, digest_bytes
from twice.specifying.frontmatter import Entry, Head, Value, look_at_head, replaced
from twice.specifying.kinds import UNKNOWN
from twice.specifying.refusing import together
from twice.specifying.schema import COMMON, Fault, Sheet, faults, unknowns
from twice.specifying.tiers import Situation, may_be_memo

SCHEMA: Final = "twice.spec/1"
TEXT: Final = "text"  # what stands below the head, as a key beside those of the head
_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*")
_BYTES_MAX: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Gap:
    """What a sheet does not say yet.

    Args:
        key: the item.
        why: ``absent``, ``unknown`` where "?" stands, ``memo`` where a page is not enough.
        says: what the item is for.
        line: where it would be or is said, from 1.
        asks: what it is for, and what it takes where only some words will do.
    """

    key: str
    why: str
    says: str
    line: int
    asks: str


@dataclass(frozen=True, slots=True)
class Artifact:
    """One sheet of a specification.

    Args:
        sheet: what it has to say.
        path: the file, relative to the project, with slashes.
        source: the file's text.
        head: its head.
        text: what follows the head.
    """

    sheet: Sheet
    path: str
    source: str
    head: Head
    text: str

    @property
    def number(self) -> str:
        """Two digits."""
        return self.sheet.number

    def get(self, key: str) -> Value | None:
        """Give what is said of a key; None where nothing or "?" is said."""
        entry = self.head.entries.get(key)
        return None if entry is None or entry.value == UNKNOWN else entry.value

    def said(self, key: str) -> str:
        """Give a text; "" where none is said."""
        value = self.get(key)
        return value if isinstance(value, str) else ""

    def listed(self, key: str) -> list[str]:
        """Give the texts of a list that are known."""
        value = self.get(key)
        found = value if isinstance(value, list) else []
        return [each for each in found if isinstance(each, str) and each != UNKNOWN]

    def rows(self, key: str) -> list[dict[str, object]]:
        """Give the maps of a list; columns with "?" are left out."""
        value = self.get(key)
        found = value if isinstance(value, list) else []
        return [
            {name: cell for name, cell in each.items() if cell != UNKNOWN}
            for each in found
            if isinstance(each, dict)
        ]

    def line_of(self, key: str) -> int:
        """Give the line in which a key stands; 1 for one that does not."""
        entry = self.head.entries.get(key)
        return entry.line if entry else 1

    @property
    def version(self) -> str:
        """Its version."""
        return self.said("version")

    @property
    def is_memo(self) -> bool:
        """Whether it says of itself that it is one page instead of a sheet."""
        return self.said("status") == "memo"

    def deciding(self) -> dict[str, Value]:
        """Give what decides, by key; the text below the head as its digest, under ``text``."""
        items = {item.key: item for item in (*COMMON, *self.sheet.items)}
        kept = {key: entry.value for key, entry in self.head.entries.items() if items[key].decides}
        text = unicodedata.normalize("NFC", deciding_text(self.text))
        return {**kept, TEXT: str(digest_bytes(text.encode()))}

    def digest(self) -> Digest:
        """Digest what decides."""
        return digest_bytes(rfc8785.dumps(cast("Any", _composed(self.deciding()))))

    def gaps(self, situation: Situation) -> Iterator[Gap]:
        """Give what has to be said and is not."""
        memo = self.is_memo and may_be_memo(self.number, situation.tier)
        if self.is_memo and not memo:
            says = f"a memo does not do at tier {situation.tier}: write the sheet"
            yield Gap("status", "memo", says, self.line_of("status"), says)
        for item in COMMON if memo else (*COMMON, *self.sheet.items):
            if item.needed is None or not item.needed.holds(situation):
                continue
            entry = self.head.entries.get(item.key)
            if entry is None:
                yield Gap(item.key, "absent", item.says, self.head.end_line, item.asks)
            elif unknowns(entry.value):
                yield Gap(item.key, "unknown", item.says, entry.line, item.asks)

    def with_value(self, key: str, value: Value) -> Artifact:
        """Give the sheet with one key said anew; no other byte differs."""
        return read_artifact(replaced(self.source, self.head, key, value), self.sheet, self.path)


def _composed(value: object) -> object:
    """Put every text in Unicode's form NFC."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list):
        return [_composed(each) for each in value]
    if isinstance(value, Mapping):
        return {_composed(key): _composed(each) for key, each in value.items()}
    return value


def deciding_text(text: str) -> str:
    """Give a sheet's text without its notes, lines tidied."""
    kept: list[str] = []
    notes = 0  # the level of the heading "Notes" that is open; 0 for none
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading and (not notes or len(heading[1]) <= notes):
            notes = len(heading[1]) if heading[2].lower() == "notes" else 0
        if not notes:
            kept.append(line.rstrip())
    return "\n".join(kept).strip("\n")


def decoded(data: bytes, path: str) -> str:
    """Give a sheet's text from its bytes.

    Raises:
        SheetRefused: E-SPEC-001, when it is not text.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SheetRefused(
            f"{path}:{line}: byte {error.start} is {data[error.start]:#04x}, which is not UTF-8.",
            "Expected a text file in UTF-8.",
            "Save it as UTF-8; nothing was changed.",
            path=path,
            line=line,
        ) from error
    if len(data) > _BYTES_MAX:
        raise SheetRefused(
            f"{path}:1: it has {len(data)} bytes.",
            f"Expected a sheet of at most {_BYTES_MAX} bytes.",
            "Put what is long into files of its own and refer to them.",
            path=path,
        )
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def read_artifact(text: str, sheet: Sheet, path: str) -> Artifact:
    """Read a sheet's text.

    Raises:
        SheetRefused: E-SPEC-001, with the lines: a broken head, keys or columns that are not known, values of
            another kind, another sheet's number.
        SheetVersion: E-SPEC-003: a form that a later twice wrote.
    """
    found, refused = look_at(text, sheet, path)
    if refused:
        raise together(refused)
    return found


def look_at(text: str, sheet: Sheet, path: str) -> tuple[Artifact, list[SheetRefused]]:
    """Read a sheet's text as far as it can be, and give everything that is refused of it, in order.

    Raises:
        SheetRefused: E-SPEC-001: there is no head.
        SheetVersion: E-SPEC-003: a form that a later twice wrote.
    """
    head, refused = look_at_head(text, path)
    said = head.entries.get("schema")
    if said is not None and isinstance(said.value, str) and said.value.startswith("twice.spec/"):
        _refuse_later(path, said.line, said.value)
    for key, entry in head.entries.items():
        item = sheet.item(key)
        if item is None:
            refused.append(_unknown_key(path, entry.line, key, sheet))
            continue
        refused += [_refused(path, entry, key, fault) for fault in faults(item, entry.value)]
    named = head.entries.get("id")
    if named is not None and isinstance(named.value, str) and named.value != sheet.number:
        refused.append(
            SheetRefused(
                f"{path}:{named.line}: its id is {named.value!r}, and its file's name begins with {sheet.number}.",
                "Expected the same number in both.",
                "Rename the file, or mend the id.",
                path=path,
                line=named.line,
            )
        )
    below = text.split("\n")[head.end_line :]
    refused.sort(key=lambda each: cast("int", each.fields["line"]))
    return Artifact(sheet, path, text, head, "\n".join(below)), refused


def _refused(path: str, entry: Entry, key: str, fault: Fault) -> SheetRefused:
    line = entry.line
    if fault.row is not None:
        row = entry.rows[fault.row]
        line = row.get(fault.column, min(row.values()))
    return SheetRefused(
        f"{path}:{line}: {fault.what}.",
        fault.expected,
        f'Mend the line, or write "{UNKNOWN}" while it is not known.',
        path=path,
        line=line,
        key=key,
    )


def _refuse_later(path: str, line: int, said: str) -> None:
    if said != SCHEMA:
        raise SheetVersion(
            f"{path}:{line}: the sheet has the form {said!r}; this version reads {SCHEMA!r}.",
            "It was written by another version of twice.",
            "Install that version: pip install --upgrade twice",
            path=path,
            line=line,
        )


def _unknown_key(path: str, line: int, key: str, sheet: Sheet) -> SheetRefused:
    names = [each.key for each in (*COMMON, *sheet.items)]
    near = get_close_matches(key, names, 1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return SheetRefused(
        f"{path}:{line}: the key {key!r} is not one of sheet {sheet.number}.",
        f"{hint}Expected: {', '.join(names)}.",
        "Remove it, or say it in the text below the head.",
        path=path,
        line=line,
        key=key,
    )
