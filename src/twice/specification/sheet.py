"""One sheet as it was read: its values, its body, its digest, and what is still missing in it.

Reading refuses what is broken (an unknown key, a value of another type, a later form), with the line. What is absent
or "?" is no error: a sheet grows; ``gaps`` lists it.

The digest covers what decides: the deciding keys as an RFC 8785 document, and the body without its notes,
Unicode in form NFC, lines ended by newlines, blank lines at the end cut. A section whose heading is "Notes", and
whatever follows up to the next heading of its level, is notes.

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

from twice.foundation.digests import Digest, digest_bytes
from twice.foundation.printable import pluralize
from twice.specification.errors import SheetRefused, SheetVersion
from twice.specification.front_matter import (
    FrontMatter,
    Value,
    combine,
    parse_front_matter,
    refuse_line,
    replace_entry,
)
from twice.specification.schema import (
    COMMON,
    FORMS,
    UNKNOWN,
    VERSION,
    Item,
    SheetSchema,
    count_unknown,
    find_faults,
)
from twice.specification.tiers import Situation, may_be_memo

TEXT: Final = "text"
"""The body, as a key beside those of the front matter."""
_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*")
_BYTES_MAX: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Gap:
    """What a sheet does not say yet: a key that is ``absent``, ``unknown`` ("?"), or ``memo`` where a page is not enough.

    ``says`` is what the item is for; ``asks`` adds what it accepts where only some words will do.
    """

    key: str
    why: str
    says: str
    line: int
    asks: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet of a specification: its schema, its file from the project on, the file's text, front matter and body."""

    schema: SheetSchema
    path: str
    source: str
    head: FrontMatter
    body: str

    @property
    def number(self) -> str:
        """Two digits."""
        return self.schema.number

    def get(self, key: str) -> Value | None:
        """Return the value of a key; None for an absent one and for "?"."""
        entry = self.head.entries.get(key)
        return None if entry is None or entry.value == UNKNOWN else entry.value

    def text(self, key: str) -> str:
        """Return a text; "" where there is none."""
        value = self.get(key)
        return value if isinstance(value, str) else ""

    def strings(self, key: str) -> list[str]:
        """Return the texts of a list that are known."""
        value = self.get(key)
        found = value if isinstance(value, list) else []
        return [each for each in found if isinstance(each, str) and each != UNKNOWN]

    def rows(self, key: str) -> list[dict[str, object]]:
        """Return the maps of a list; columns with "?" are left out."""
        value = self.get(key)
        return [
            {name: cell for name, cell in each.items() if cell != UNKNOWN}
            for each in (value if isinstance(value, list) else [])
            if isinstance(each, dict)
        ]

    def line_of(self, key: str) -> int:
        """Return the line of a key; 1 for an absent one."""
        entry = self.head.entries.get(key)
        return entry.line if entry else 1

    @property
    def version(self) -> str:
        """Its version."""
        return self.text("version")

    @property
    def is_memo(self) -> bool:
        """Whether it says of itself that it is one page instead of a sheet."""
        return self.text("status") == "memo"

    def deciding(self) -> dict[str, Value]:
        """Return what decides, by key; the body as its digest, under ``text``."""
        items = {item.key: item for item in (*COMMON, *self.schema.items)}
        kept = {key: entry.value for key, entry in self.head.entries.items() if items[key].decides}
        body = unicodedata.normalize("NFC", deciding_text(self.body))
        return {**kept, TEXT: str(digest_bytes(body.encode()))}

    def digest(self) -> Digest:
        """Digest what decides."""
        return digest_bytes(rfc8785.dumps(cast("Any", _normalize(self.deciding()))))

    def gaps(self, situation: Situation) -> Iterator[Gap]:
        """Yield what has to be said and is not."""
        memo = self.is_memo and may_be_memo(self.number, situation.tier)
        if self.is_memo and not memo:
            says = f"a memo does not do at tier {situation.tier}: write the sheet"
            yield Gap("status", "memo", says, self.line_of("status"), says)
        for item in COMMON if memo else (*COMMON, *self.schema.items):
            if item.needed is not None and item.needed.holds(situation):
                yield from self._find_gap(item)

    def wishes(self, situation: Situation) -> Iterator[Gap]:
        """Yield what is asked for, is not said, and is needed by no check."""
        for item in () if self.is_memo else self.schema.items:
            if item.asked is not None and item.asked.holds(situation):
                yield from self._find_gap(item)

    def _find_gap(self, item: Item) -> Iterator[Gap]:
        entry = self.head.entries.get(item.key)
        if entry is None:
            yield Gap(item.key, "absent", item.says, self.head.end_line, item.asks)
        elif count_unknown(entry.value):
            yield Gap(item.key, "unknown", item.says, entry.line, item.asks)

    def with_value(self, key: str, value: Value) -> Sheet:
        """Return the sheet with another value for one key; no other byte differs."""
        return read_sheet(replace_entry(self.source, self.head, key, value), self.schema, self.path)


def _normalize(value: object) -> object:
    """Put every text in Unicode's form NFC."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list):
        return [_normalize(each) for each in value]
    if isinstance(value, Mapping):
        return {_normalize(key): _normalize(each) for key, each in value.items()}
    return value


def deciding_text(body: str) -> str:
    """Return a sheet's body without its notes, lines tidied."""
    kept: list[str] = []
    notes = 0  # the level of the heading "Notes" that is open; 0 for none
    fenced = False
    for line in body.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading and (not notes or len(heading[1]) <= notes):
            notes = len(heading[1]) if heading[2].lower() == "notes" else 0
        if not notes:
            kept.append(line.rstrip())
    return "\n".join(kept).strip("\n")


def decode(data: bytes, path: str) -> str:
    """Return a sheet's text from its bytes.

    Raises:
        SheetRefused: E-SPEC-001, when it is not text, or too long.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise refuse_line(
            path,
            line,
            f"byte {error.start} is {data[error.start]:#04x}, which is not UTF-8.",
            "Expected a text file in UTF-8.",
            "Save it as UTF-8; nothing was changed.",
        ) from error
    if len(data) > _BYTES_MAX:
        raise refuse_line(
            path,
            1,
            f"it has {pluralize(len(data), 'byte')}.",
            f"Expected a sheet of at most {_BYTES_MAX} bytes.",
            "Put what is long into files of its own and refer to them.",
        )
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def read_sheet(text: str, schema: SheetSchema, path: str) -> Sheet:
    """Read a sheet's text.

    Raises:
        SheetRefused: E-SPEC-001, with the lines: broken front matter, unknown keys or columns, values of
            another type, another sheet's number.
        SheetVersion: E-SPEC-003: a form that a later twice wrote.
    """
    found, refused = parse_sheet(text, schema, path)
    if refused:
        raise combine(refused)
    return found


def parse_sheet(text: str, schema: SheetSchema, path: str) -> tuple[Sheet, list[SheetRefused]]:
    """Read a sheet's text as far as it can be, and return everything that is refused of it, in order.

    Raises:
        SheetRefused: E-SPEC-001: there is no front matter.
        SheetVersion: E-SPEC-003: a form that a later twice wrote.
    """
    head, refused = parse_front_matter(text, path)
    form = head.entries.get("schema")
    families = tuple(each.rpartition("/")[0] + "/" for each in FORMS)
    if form and str(form.value).startswith(families) and form.value not in FORMS:
        raise SheetVersion(
            f"{path}:{form.line}: the sheet has the form {form.value!r}; this version reads {VERSION!r}.",
            "It was written by another version of twice.",
            "Install that version: pip install --upgrade twice",
            path=path,
            line=form.line,
        )
    names = [each.key for each in (*COMMON, *schema.items)]
    for key, entry in head.entries.items():
        item = schema.item(key)
        if item is None:
            near = get_close_matches(key, names, 1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            what = f"the key {key!r} is not one of sheet {schema.number}."
            expected = f"{hint}Expected: {', '.join(names)}."
            remedy = "Remove it, or say it in the text below the head."
            refused.append(refuse_line(path, entry.line, what, expected, remedy, key=key))
            continue
        for line, what, expected in find_faults(item, entry):
            remedy = f'Correct the line, or write "{UNKNOWN}" as long as nobody knows the value.'
            refused.append(refuse_line(path, line, f"{what}.", expected, remedy, key=key))
    named = head.entries.get("id")
    if named and isinstance(named.value, str) and named.value != schema.number:
        refused.append(
            refuse_line(
                path,
                named.line,
                f"its id is {named.value!r}, and its file's name begins with {schema.number}.",
                "Expected the same number in both.",
                "Rename the file, or mend the id.",
            )
        )
    body = "\n".join(text.split("\n")[head.end_line :])
    refused.sort(key=lambda each: cast("int", each.fields["line"]))
    return Sheet(schema, path, text, head, body), refused
