"""The forms that technique takes in text: what to look for, how grave it is, what to do. The table is ``rules.toml``.

Some forms are ordinary by themselves: ``"seed": 41``, ``"model_id": "tree_03"``. They are ``weak``: they count beside
another trace of technique. A seed among the words of games and random generators is theirs.

Invariant: a pattern is tried only around the words that stand near it; that is what makes the scan quick.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from twice.assets.leaks.text import Keywords, TextWindow, merge_spans
from twice.foundation.severity import Severity

_AROUND: Final = 400  # bytes on each side of a match in which other words count
_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _compile(patterns: list[str]) -> re.Pattern[bytes] | None:
    text = "|".join(map(_expand, patterns)).encode()
    return re.compile(text, re.DOTALL | re.IGNORECASE) if text else None


def _expand(text: str) -> str:
    """Put the fragments of the table where they are named."""
    text = text.replace("\\\n", "")
    return re.sub(r"@([A-Z_]+)", lambda found: _expand(_TABLE["fragments"][found[1]]), text)


@dataclass(frozen=True, slots=True)
class LeakRule:
    """A form that a trace takes.

    Args:
        id: ``L`` and a number.
        title: what it is a trace of.
        severity: how grave it is.
        remedy: what to do.
        near: lower-case words, one of which stands wherever a pattern matches.
        pattern: what matches by itself.
        weak: what matches beside other technique.
        reach: bytes that a match may begin before one of the words, and end behind its beginning.
        metadata_only: whether it counts in metadata alone.
        is_secret: whether the excerpt is starred.
        yields_to: the words (of games, of routes) among which it does not count, unless beside other technique.
    """

    id: str
    title: str
    severity: Severity
    remedy: str
    near: tuple[bytes, ...]
    pattern: re.Pattern[bytes] | None
    weak: re.Pattern[bytes] | None
    reach: tuple[int, int]
    metadata_only: bool
    is_secret: bool
    yields_to: str

    @classmethod
    def load(cls, row: Mapping[str, Any]) -> LeakRule:
        """Make a rule of a row of the table."""
        remedy = row.get("remedy", "scrub" if "metadata_only" in row else "edit")
        before, behind = row.get("reach", (48, 160))
        return cls(
            row["id"], row["title"], Severity[row["severity"].upper()], _TABLE["remedies"].get(remedy, remedy),
            tuple(word.encode() for word in _expand(row.get("near", "")).split("|")),
            _compile(row.get("patterns", [])), _compile(row.get("weak", [])), (before, behind),
            "metadata_only" in row, "is_secret" in row, row.get("yields_to", ""),
        )  # fmt: skip

    def find(
        self, window: TextWindow, places: Mapping[bytes, list[int]]
    ) -> Iterator[tuple[int, int]]:
        """Yield where the form begins and ends in a text, in which words stand at these places."""
        before, behind = self.reach
        at = [place for word in self.near if word in places for place in places[word]]
        for start, end in merge_spans((place - before, place + behind) for place in at):
            for pattern in filter(None, (self.pattern, self.weak)):
                for found in pattern.finditer(window.data, start, end):
                    if self._counts(window.lowered, found, is_weak=pattern is self.weak):
                        yield found.span()

    def _counts(self, lowered: bytes, found: re.Match[bytes], *, is_weak: bool) -> bool:
        if not (is_weak or self.yields_to):
            return True
        start, end = found.span()
        around = lowered[max(start - _AROUND, 0) : start] + b"\n" + lowered[end : end + _AROUND]
        if _WORDS["technique"].search(around):
            return True
        if self.yields_to and _WORDS[self.yields_to].search(around):
            return False
        return not is_weak or bool(self.yields_to and _WORDS["settings"].search(around))


_WORDS: Final = {name: re.compile(_expand(said).encode()) for name, said in _TABLE["words"].items()}
_LOADED: Final = [LeakRule.load(row) for row in _TABLE["rules"]]
RULES: Final = tuple(rule for rule in _LOADED if rule.pattern)
"""The rules that are tried on every text; an id may have several."""
EVERY: Final = {rule.id: rule for rule in _LOADED}
"""A rule for each id, those without a pattern too: what the scan finds by itself."""
KEY, HIDDEN, TRAILING, SIGNED, OWN, FIELD = (
    EVERY[f"L{number}"] for number in (117, 119, 120, 121, 122, 123)
)
SCRUB: Final[str] = _TABLE["remedies"]["scrub"]
TEXT_WORDS: Final = tuple(word for rule in RULES if not rule.metadata_only for word in rule.near)
"""Words of which one stands wherever a rule for any text matches."""
METADATA_WORDS: Final = Keywords(word for rule in RULES if rule.metadata_only for word in rule.near)
_KEYS: Final = re.compile(_expand(_TABLE["metadata"]["telling_keys"]), re.IGNORECASE)


def is_telling_key(key: str) -> bool:
    """Return whether the name of a metadata field alone says that it holds technique."""
    return _KEYS.fullmatch(key.strip()) is not None
