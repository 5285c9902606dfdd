"""A baseline: findings that a project has accepted, with a reason each, so that only new ones count.

The file has one line of JSON for each, sorted by path, rule and fingerprint. It grows only by somebody's word, with a
reason; otherwise it shrinks.

Invariant: reading and writing a baseline gives the same bytes; a finding on the checker's own work is never in one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

from twice.checker.findings import Finding
from twice.checker.housekeeping import HOUSEKEEPING_NAMES
from twice.checker.policy import Policy
from twice.checker.report import Accepted, Entry
from twice.errors import ConfigError
from twice.foundation.severity import SEVERITIES, Severity
from twice.writing import write

_FIELDS: Final = tuple(each.name for each in fields(Entry))


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

    def apply(
        self, findings: Sequence[Finding], is_judged: Callable[[Entry], bool]
    ) -> tuple[list[Finding], list[Accepted], list[Entry]]:
        """Take away accepted findings: those that are left, those that are gone, and entries that nothing fits.

        Args:
            findings: all of them.
            is_judged: whether an entry would have been found, if it were still there.
        """
        known: dict[str, Entry] = {}
        for entry in self.entries:
            other = known.get(entry.fingerprint)
            # Two branches may have accepted one finding; the worst was accepted.
            if other is None or SEVERITIES[other.severity] < SEVERITIES[entry.severity]:
                known[entry.fingerprint] = entry
        left: list[Finding] = []
        gone: list[Accepted] = []
        for each in findings:
            accepted = known.get(each.fingerprint)
            if (
                accepted is None
                or accepted.rule != each.found.rule
                or SEVERITIES[accepted.severity] < each.severity
                or each.found.rule in HOUSEKEEPING_NAMES
            ):
                left.append(each)
            else:
                gone.append(Accepted(each, accepted.reason))
        fitting = {each.fingerprint for each in findings}
        stale = [
            each for each in self.entries if each.fingerprint not in fitting and is_judged(each)
        ]
        return left, gone, stale

    def without(self, fingerprints: Iterable[str]) -> Baseline:
        """Give the baseline without some entries."""
        gone = frozenset(fingerprints)
        return Baseline(tuple(each for each in self.entries if each.fingerprint not in gone))

    def accept(self, findings: Iterable[Finding], reason: str, policy: Policy) -> Baseline:
        """Give the baseline with more findings, all for one reason; informational ones need none.

        A finding that has become worse since it was accepted is accepted anew: the old entry goes.
        """
        added = [
            Entry(
                policy.to_project_path(each.path),
                each.found.rule,
                each.fingerprint,
                each.severity.word,
                each.found.statement,
                reason,
            )
            for each in findings
            if each.found.rule not in HOUSEKEEPING_NAMES and each.severity > Severity.INFORMATIONAL
        ]
        kept = self.without(each.fingerprint for each in added).entries
        return Baseline(tuple(sorted({*kept, *added})))

    def write(self, path: Path) -> None:
        """Write it, whole or not at all.

        Raises:
            OutputUnwritable: E-OUTPUT-002.
        """
        text = "".join(f"{json.dumps(asdict(each))}\n" for each in self.entries)
        write(path, text.encode("ascii"))


def _entry(path: Path, at: int, line: str) -> Entry:
    try:
        row: Any = json.loads(line)
        values = [row[name] for name in _FIELDS]
    except (ValueError, KeyError, TypeError, RecursionError):
        values = [None]
    if not all(isinstance(each, str) for each in values) or values[3] not in SEVERITIES:
        raise ConfigError(
            f"{path}:{at}: {line[:80]!r} is no entry of a baseline.",
            f"Expected one JSON object in a line, with the texts {', '.join(_FIELDS)}; severity is "
            f"one of {', '.join(SEVERITIES)}.",
            "Delete the line, or take the file from version control.",
        )
    return Entry(*values)
