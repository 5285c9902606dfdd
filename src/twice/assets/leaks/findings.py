"""What a scan finds, as values.

Invariant: findings come in the order of the files and, in a file, of their places.
"""

from __future__ import annotations

from dataclasses import dataclass

from twice.foundation.severity import Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """A trace of how something was made.

    Args:
        rule: its id.
        severity: how much it gives away.
        path: the file, and the steps to the place in it: members, chunks, encodings.
        offset: bytes from the beginning of the last step that has offsets; None where nothing does.
        key: the name of the field, of metadata that has one.
        excerpt: printable, short, secrets starred.
        message: one sentence.
        remedy: what to do, as a command where there is one.
    """

    rule: str
    severity: Severity
    path: tuple[str, ...]
    offset: int | None
    key: str
    excerpt: str
    message: str
    remedy: str

    def to_json(self) -> dict[str, object]:
        """Return the finding as JSON data."""
        return {
            "rule": self.rule,
            "severity": self.severity.word,
            "path": list(self.path),
            "offset": self.offset,
            "key": self.key or None,
            "excerpt": self.excerpt,
            "message": self.message,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class Unread:
    """What could not be looked into, and why."""

    path: tuple[str, ...]
    offset: int | None
    why: str

    def to_json(self) -> dict[str, object]:
        """Return the fact as JSON data."""
        return {"path": list(self.path), "offset": self.offset, "why": self.why}


@dataclass(frozen=True, slots=True)
class Leaks:
    """What a scan came to.

    Args:
        findings: every trace, of any severity.
        unread: what was not looked into.
        files: how many files were scanned.
        size: their bytes on disk.
    """

    findings: tuple[Finding, ...]
    unread: tuple[Unread, ...]
    files: int
    size: int

    @property
    def leaking(self) -> tuple[Finding, ...]:
        """The findings that are leaks."""
        return tuple(each for each in self.findings if each.severity >= Severity.HIGH)

    @property
    def result(self) -> str:
        """``leaks``, ``unread`` when something was not looked into and nothing leaks, or ``clean``."""
        return "leaks" if self.leaking else "unread" if self.unread else "clean"

    @property
    def exit_code(self) -> int:
        """0 clean, 1 leaks, 2 not all was looked into."""
        return {"clean": 0, "leaks": 1, "unread": 2}[self.result]
