"""A baseline: findings that a project has accepted, with a reason each, so that only new ones count.

The file has one line of JSON for each, sorted by path, rule and fingerprint. It grows only by
somebody's word, with a reason; otherwise it shrinks.

Invariant: reading and writing a baseline gives the same bytes; what the checker says of its own work
is never in one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from twice.checker.findings import Finding
from twice.checker.housekeeping import HOUSEKEEPING_NAMES
from twice.checker.policy import Policy
from twice.checker.report import Settled, Stale
from twice.errors import ConfigError
from twice.foundation.severity import Severity
from twice.writing import write

_FIELDS: Final = ("path", "rule", "fingerprint", "severity", "statement", "reason")

_WORDS: Final = {each.word: each for each in Severity}


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """A finding that was accepted.

    Args:
        path: its file, from the project's folder.
        rule: its rule.
        fingerprint: names it over edits elsewhere in the file.
        severity: how bad it was then; what has become worse since was not accepted.
        statement: the source, for people.
        reason: why it may stay, in somebody's words.
    """

    path: str
    rule: str
    fingerprint: str
    severity: str
    statement: str
    reason: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What a baseline did.

    Args:
        standing: the findings that are left.
        taken: those that were taken away, with the reasons.
        stale: entries that nothing fits any more.
    """

    standing: tuple[Finding, ...]
    taken: tuple[Settled, ...]
    stale: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of a baseline, sorted."""

    entries: tuple[Entry, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a baseline.

        Raises:
            ConfigError: E-CONFIG-001: it cannot be read, or is no baseline.
        """
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            said = error.strerror if isinstance(error, OSError) else str(error)
            raise ConfigError(
                f"The baseline {path} cannot be read: {said}.",
                "Expected a file that --baseline-accept has written.",
                f'Write one: twice check --baseline {path} --baseline-accept "why"',
            ) from error
        lines = enumerate(text.split("\n"), start=1)
        return cls(tuple(sorted(_entry(path, at, line) for at, line in lines if line.strip())))

    def apply(self, findings: Sequence[Finding], is_judged: Callable[[Entry], bool]) -> Applied:
        """Take away what was accepted.

        Args:
            findings: all of them.
            is_judged: whether an entry would have been found, if it were still there.
        """
        known: dict[str, Entry] = {}
        for (
            entry
        ) in self.entries:  # Two branches may have accepted one finding; the worst was accepted.
            other = known.get(entry.fingerprint)
            if other is None or _WORDS[other.severity] < _WORDS[entry.severity]:
                known[entry.fingerprint] = entry
        standing: list[Finding] = []
        taken: list[Settled] = []
        for each in findings:
            accepted = known.get(each.fingerprint)
            if (
                accepted is None
                or accepted.rule != each.found.rule
                or _WORDS[accepted.severity] < each.severity
                or _is_own(each)
            ):
                standing.append(each)
            else:
                taken.append(Settled(each, accepted.reason))
        fitting = {each.fingerprint for each in findings}
        stale = [
            each for each in self.entries if each.fingerprint not in fitting and is_judged(each)
        ]
        return Applied(tuple(standing), tuple(taken), tuple(stale))

    def without(self, entries: Iterable[Entry]) -> Baseline:
        """Give the baseline without some entries."""
        gone = frozenset(entries)
        return Baseline(tuple(each for each in self.entries if each not in gone))

    def accepting(self, findings: Iterable[Finding], reason: str, policy: Policy) -> Baseline:
        """Give the baseline with more findings, all for one reason; informational ones need none.

        What has become worse since it was accepted is accepted anew: the old entry goes.
        """
        added = [
            Entry(
                policy.placed(each.path),
                each.found.rule,
                each.fingerprint,
                each.severity.word,
                each.found.statement,
                reason,
            )
            for each in findings
            if not _is_own(each) and each.severity > Severity.INFORMATIONAL
        ]
        anew = {each.fingerprint for each in added}
        kept = [each for each in self.entries if each.fingerprint not in anew]
        return Baseline(tuple(sorted({*kept, *added})))

    def write(self, path: Path) -> None:
        """Write it, whole or not at all.

        Raises:
            OutputUnwritable: E-OUTPUT-002.
        """
        rows = [{name: getattr(each, name) for name in _FIELDS} for each in self.entries]
        write(path, "".join(f"{json.dumps(row)}\n" for row in rows).encode("ascii"))


def stale_of(entries: Iterable[Entry]) -> tuple[Stale, ...]:
    """Give entries as a report has them."""
    return tuple(Stale(each.path, each.rule, each.fingerprint) for each in entries)


def _is_own(finding: Finding) -> bool:
    return finding.found.rule in HOUSEKEEPING_NAMES


def _entry(path: Path, at: int, line: str) -> Entry:
    try:
        row: Any = json.loads(line)
        values = [row[name] for name in _FIELDS]
    except (ValueError, KeyError, TypeError, RecursionError):
        values = [None]
    if not all(isinstance(each, str) for each in values) or values[3] not in _WORDS:
        raise ConfigError(
            f"{path}:{at}: {line[:80]!r} is no entry of a baseline.",
            f"Expected one JSON object in a line, with the texts {', '.join(_FIELDS)}; severity is "
            f"one of {', '.join(_WORDS)}.",
            "Delete the line, or take the file from version control.",
        )
    return Entry(*values)
