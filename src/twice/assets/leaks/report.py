"""What a scan finds, as values, as text, as JSON and as SARIF.

Invariant: findings come in the order of the files; everything printed is one printable line, and shows no secret; the
JSON says all that the text does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from twice.assets.leaks.rules import EVERY
from twice.foundation import sarif
from twice.foundation.printable import pluralize, printable
from twice.foundation.severity import Severity

FORMAT: Final = "twice.leaks/1"
_EXCERPT_MAX: Final = 120
_SECRET: Final = re.compile(
    r"\bsk-[\w-]{8,}|\bAKIA[0-9A-Z]{8,}|\bgh[pousr]_\w{8,}|\bgithub_pat_\w+|\bhf_\w{8,}|\bAIza[\w-]{8,}|\bxox[abp]-[\w-]{8,}"
    r"|(?<=BEGIN )[A-Z ]{0,20}PRIVATE KEY.*|(?<=[:=] )[\w-]{24,}$",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class LeakFinding:
    """A trace of how something was made.

    Args:
        rule: its id.
        severity: how much it gives away.
        path: the file, and the steps to the place in it: members, fields, encodings.
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

    @property
    def place(self) -> str:
        """The path and the offset on one line."""
        where = " > ".join(self.path)
        return where if self.offset is None else f"{where}, byte {self.offset}"

    def to_json(self) -> dict[str, object]:
        """Return the finding as JSON data."""
        return asdict(self) | {"severity": self.severity.word, "key": self.key or None}


@dataclass(frozen=True, slots=True)
class NotOpened:
    """What could not be looked into, and why."""

    path: tuple[str, ...]
    offset: int | None
    why: str


@dataclass(frozen=True, slots=True)
class LeakReport:
    """What a scan came to."""

    findings: tuple[LeakFinding, ...]
    unread: tuple[NotOpened, ...]
    files: int
    size: int

    @property
    def leaking(self) -> tuple[LeakFinding, ...]:
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


def to_excerpt(data: bytes, start: int, end: int, *, is_secret: bool) -> str:
    """Return the words from start to end, with a little text around them; of a secret, four characters."""
    if is_secret:
        return f"{_to_plain(data[start:end])[:4]}{'*' * 8}"
    last = min(max(end, start + 48), start + 2 * _EXCERPT_MAX)
    words = _to_plain(data[max(start - 16, 0) : last])
    text = _SECRET.sub(lambda found: f"{found[0][:4]}{'*' * 8}", words)
    return text if len(text) <= _EXCERPT_MAX else f"{text[: _EXCERPT_MAX - 3]}..."


def _to_plain(data: bytes) -> str:
    if data[1:2] == b"\0" or data[:1] == b"\0":
        data = data.replace(b"\0", b"")
    text = data.replace(b"\0", b" ").decode("utf-8", "replace")
    return printable(" ".join(text.split())).strip()


def to_json(leaks: LeakReport, shown: Severity) -> dict[str, object]:
    """Return the scan as one JSON document; count findings below ``shown`` without listing them."""
    return {
        "format": FORMAT,
        "result": leaks.result,
        "files": leaks.files,
        "bytes": leaks.size,
        "findings": [each.to_json() for each in leaks.findings if each.severity >= shown],
        "unread": [asdict(each) for each in leaks.unread],
        "summary": {
            each.word: sum(found.severity is each for found in leaks.findings) for each in Severity
        },
    }


def to_text(leaks: LeakReport, shown: Severity, limit: int | None = None) -> Iterator[str]:
    """Yield the scan as lines: the answer, then at most ``limit`` findings with their remedies."""
    files = pluralize(leaks.files, "file")
    if leaks.result == "leaks":
        yield f"LEAKS  {len(leaks.leaking)} in {files}"
    elif leaks.result == "unread":
        parts = pluralize(len(leaks.unread), "part")
        yield f"CANNOT TELL  twice could not look into {parts} of {files}"
    else:
        other = sum(each.severity is Severity.MEDIUM for each in leaks.findings)
        also = f"; {other} to look at" if other else ""
        yield f"CLEAN  {files}, {pluralize(leaks.size, 'byte')}{also}"
    listed = [each for each in leaks.findings if each.severity >= shown]
    for each in listed[:limit]:
        yield ""
        yield f"{each.severity.word}  {each.rule}  {printable(each.message)}"
        yield f"  at   {printable(each.place)}"
        yield f"  says {printable(each.excerpt)}"
        yield f"  do   {each.remedy}"
    if limit is not None and len(listed) > limit:
        yield ""
        yield f"and {len(listed) - limit} more: --limit {len(listed)} lists them"
    for unread in leaks.unread:
        yield ""
        yield f"not looked into  {printable(' > '.join(unread.path))}: {printable(unread.why)}"


def to_sarif(leaks: LeakReport, shown: Severity) -> str:
    """Return the scan as a SARIF log with one run."""
    rules = [
        sarif.declare_rule(each.id, each.title, each.remedy, each.severity)
        for each in EVERY.values()
    ]
    results = [_to_result(each) for each in leaks.findings if each.severity >= shown]
    said = [f"Not looked into: {' > '.join(each.path)}: {each.why}" for each in leaks.unread]
    notes = [{"level": "warning", "message": {"text": each}} for each in said]
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": notes}
    return sarif.write_log("twice asset leaks", rules, results, invocations=[invocation])


def _to_result(found: LeakFinding) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": sarif.quote_path(found.path[0])}}
    if found.offset is not None and len(found.path) == 1:
        physical["region"] = {"byteOffset": found.offset}
    logical = {"fullyQualifiedName": " > ".join(found.path)}
    return {
        "ruleId": found.rule,
        "ruleIndex": list(EVERY).index(found.rule),
        "level": sarif.LEVELS[found.severity],
        "message": {"text": f"{found.message} {found.place}: {found.excerpt} {found.remedy}"},
        "locations": [{"physicalLocation": physical, "logicalLocations": [logical]}],
        "properties": {"severity": found.severity.word},
    }
