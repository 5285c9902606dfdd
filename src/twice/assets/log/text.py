"""The text of a log: canonical bytes, digest, and reading bytes from a stranger.

Canonical text is RFC 8785 and one newline. Reading takes any layout of JSON, within limits, and
refuses what two readers could read in two ways: keys that repeat, numbers that are not finite.

Invariant: equal documents have equal bytes, and reading canonical text gives the document back.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import LogRefused, LogUnreadable, LogVersion
from twice.assets.log.kinds import Fault
from twice.assets.log.log import FORMAT, SUFFIX, DeterminismLog
from twice.assets.log.reading import Examined, Problem, examine, to_document
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize

BYTES_MAX: Final = 32 * 2**20
"""The largest sidecar that is read: a workflow's text fits in it many times over."""

DEPTH_MAX: Final = 64
"""How deep a document is nested at most; a log is less than ten levels deep."""


def canonical(log: DeterminismLog) -> bytes:
    """Write a log as canonical text.

    Raises:
        LogRefused: E-ASSET-LOG-002: a text in it is no Unicode, a number has no exact form.
    """
    return canonical_document(to_document(log))


def canonical_document(document: Any) -> bytes:
    """Write a JSON document as canonical text: RFC 8785 and one newline.

    Raises:
        LogRefused: E-ASSET-LOG-002: a text in it is no Unicode, a number has no exact form.
    """
    import rfc8785

    try:
        return rfc8785.dumps(document) + b"\n"
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise LogRefused(
            f"The document cannot be written as canonical JSON: {error}.",
            "Expected Unicode text, and whole numbers within 2**53.",
            "Write large numbers, such as seeds, as text.",
        ) from error


def log_digest(log: DeterminismLog) -> str:
    """Give the labelled sha256 of a log's canonical text, which a later revision names."""
    return str(digest_bytes(canonical(log), Algorithm.SHA256))


def sidecar_name(log_id: str) -> str:
    """Name the file that a log is kept in."""
    return f"{log_id}{SUFFIX}"


def parse(data: bytes, where: str) -> Any:
    """Read JSON from a stranger, within limits.

    Args:
        data: the bytes of the file.
        where: its name, for messages.

    Raises:
        LogUnreadable: E-ASSET-LOG-001: no JSON, cut off, too large or too deep, a key twice.
    """
    if len(data) > BYTES_MAX:
        raise _unreadable(where, f"it has {pluralize(len(data), 'byte')}, more than {BYTES_MAX}")
    try:
        text = data.decode("utf-8")
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
        _require_shallow(document)
        if "\\ud" in text.lower():
            _whole(document)
    except RecursionError:
        raise _unreadable(where, "it is nested too deeply") from None
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        cut = error.pos >= len(error.doc.rstrip())
        raise _unreadable(where, f"it {'ends early' if cut else 'is no JSON'} at {at}") from None
    except ValueError as error:
        raise _unreadable(where, str(error)) from None
    return document


def examine_bytes(data: bytes, where: str) -> tuple[Any, Examined]:
    """Read a log's bytes: the document, and the log as far as it goes.

    Raises:
        LogUnreadable: E-ASSET-LOG-001: no JSON at all.
        LogVersion: E-ASSET-LOG-003: a format that this version does not read.
    """
    document = parse(data, where)
    said = document.get("format") if isinstance(document, dict) else None
    if isinstance(said, str) and said != FORMAT and said.startswith("twice."):
        raise _version(where, said)
    return document, examine(document)


def read_log(path: Path, *, draft: bool = False) -> DeterminismLog:
    """Read a log from its file.

    Args:
        path: the sidecar.
        draft: whether needed fields may be missing.

    Raises:
        LogUnreadable: E-ASSET-LOG-001: no file, or no JSON.
        LogRefused: E-ASSET-LOG-002: a field is missing or wrong; the first is named.
        LogVersion: E-ASSET-LOG-003: a format that this version does not read.
    """
    data = read_bytes(path)
    _, examined = examine_bytes(data, str(path))
    wrong = [each for each in examined.problems if not (draft and each.fault in _DRAFT_FAULTS)]
    if wrong:
        raise refusal(str(path), wrong[0], len(wrong))
    return examined.log


_DRAFT_FAULTS: Final = {Fault.MISSING, Fault.UNKNOWN}


def read_bytes(path: Path) -> bytes:
    """Read a file, no more of it than a log may have.

    Raises:
        LogUnreadable: E-ASSET-LOG-001: it cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            return file.read(BYTES_MAX + 1)
    except OSError as error:
        raise _unreadable(str(path), error.strerror or str(error)) from error


def refusal(where: str, problem: Problem, count: int = 1) -> LogRefused:
    """Word a problem as an error."""
    found = "is missing" if problem.fault is Fault.MISSING else f"is {problem.found}"
    more = f" {count - 1} more like it." if count > 1 else ""
    return LogRefused(
        f"{where}: {problem.pointer or 'the document'} ({problem.words}) {found}.{more}",
        f"Expected {problem.expected}.",
        "Mend it, then see what else is missing: twice asset gate FILE",
        pointer=problem.pointer,
        fault=problem.fault.value,
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs, each key once."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} stands in it twice")
    return found


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _require_shallow(document: Any) -> None:
    """Refuse nesting that no log has, before anything walks down it."""
    level = [document] if isinstance(document, dict | list) else []
    depth = 0
    while level:
        depth += 1
        if depth > DEPTH_MAX:
            raise ValueError(f"it is nested too deeply, more than {DEPTH_MAX} levels")
        level = [
            part
            for each in level
            for part in (each.values() if isinstance(each, dict) else each)
            if isinstance(part, dict | list)
        ]


def _whole(document: Any) -> None:
    """Refuse half of a surrogate pair, which no UTF-8 can hold."""
    json.dumps(document, ensure_ascii=False).encode("utf-8")


def _unreadable(where: str, why: str) -> LogUnreadable:
    return LogUnreadable(
        f"{where} cannot be read as a determinism log: {why}.",
        "Expected one whole JSON document in UTF-8.",
        "Write it anew from where it came, or take it out of the folder.",
        path=where,
    )


def _version(where: str, said: str) -> LogVersion:
    return LogVersion(
        f"{where} is of format {said[:80]!r}; this version reads {FORMAT!r}.",
        "Expected a log that this version of twice knows.",
        "Install the version that wrote it, or write the log anew.",
        path=where,
    )
