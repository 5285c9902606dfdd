"""A log as a document and as bytes: canonical text, digest, and reading what a stranger wrote.

Canonical text is RFC 8785 and one newline. Reading takes any layout of JSON, within limits, and refuses what two
readers could read in two ways: keys that repeat, numbers that are not finite. ``examine`` takes any JSON value: what is
wrong is left out of the log and named. Whether something missing matters is for the caller.

Invariant: equal documents have equal bytes, and ``to_document`` gives a document without problems back.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from twice.assets.errors import LogRefused, LogUnreadable, LogVersion
from twice.assets.log.block import EXCUSE, Instead, LogBlock, Mode, NotApplicable
from twice.assets.log.fields import FIELDS, find_pointer
from twice.assets.log.kinds import Fault, says_nothing
from twice.assets.log.models import FORMAT, SUFFIX, DeterminismLog
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize

BYTES_MAX: Final = 32 * 2**20
"""The largest sidecar that is read: a workflow's text fits in it many times over."""

DEPTH_MAX: Final = 64
"""How deep a document is nested at most; a log is less than ten levels deep."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a document, or not there.

    Args:
        pointer: where, as a JSON pointer (RFC 6901).
        fault: what sort of thing.
        found: the value, shortened; "" where there is none.
        expected: what should stand there, as a noun phrase.
        words: what the field says, as a noun phrase.
    """

    pointer: str
    fault: Fault
    found: str
    expected: str
    words: str


@dataclass(frozen=True, slots=True)
class Examined:
    """A log as far as it could be read, and what is wrong with its document."""

    log: DeterminismLog
    problems: tuple[Problem, ...]


def examine(document: Any) -> Examined:
    """Read a log as far as it goes; never raises for what ``json.loads`` gives."""
    promise = document.get("promise") if isinstance(document, Mapping) else None
    mode = promise.get("mode") if isinstance(promise, Mapping) else None
    context: str | None = mode if mode in list(Mode) else ""
    problems: tuple[Problem, ...] = ()
    while True:
        try:
            log = DeterminismLog.model_validate(document, context=context)
        except ValidationError as error:
            found = error.errors(include_url=False)
        else:
            return Examined(log, problems)
        # What was found is left out and the rest is read again, which may leave a list too short, or the whole empty.
        if context is not None:
            problems, context = tuple(map(_describe, found)), None
            document = copy.deepcopy(document)
        # What lies deeper goes first, and of a list the last item.
        found.reverse()
        found.sort(key=lambda each: -len(each["loc"]))
        for each in found:
            is_reason = each["loc"][-1:] == (EXCUSE,) and each["type"] != "extra_forbidden"
            steps = each["loc"][:-1] if is_reason else each["loc"]
            if not steps:
                document = {}
                break
            inner: Any = document
            *above, last = steps
            for step in above:
                inner = inner[step]
            if not isinstance(inner, dict) or last in inner:
                inner.pop(last)


def _describe(error: ErrorDetails) -> Problem:
    """Say one of pydantic's errors in the words of the log."""
    steps, value, sort = error["loc"], error["input"], error["type"]
    at = "".join(f"/{escape(str(each))}" for each in steps)
    if isinstance(value, Instead):
        value, sort = value.found, value.fault.value
    found = "" if sort == Fault.MISSING else short(value)
    if sort in {"extra_forbidden", Fault.UNEXPECTED}:
        words = "a field that the format does not have here"
        return Problem(at, Fault.UNEXPECTED, found, "no such field", words)
    if sort in set(Fault):
        fault = Fault(sort)
    elif says_nothing(value):
        fault = Fault.UNKNOWN
    else:  # A list that is too short, and a word that a choice does not have.
        is_choice = sort in {"enum", "literal_error"} and isinstance(value, str)
        fault = Fault.IMPOSSIBLE if is_choice or sort == "too_short" else Fault.TYPE
    field = FIELDS.get(find_pointer(steps))
    if field is None:
        return Problem(at, fault, found, "an object", "a determinism log")
    wanted = error["msg"] if steps[-1] == EXCUSE else field.wanted
    return Problem(at, fault, found, wanted, field.words)


def to_document(value: Any) -> Any:
    """Turn a log, or a part of one, into a JSON value; what nobody said is left out."""
    if isinstance(value, NotApplicable):
        return {EXCUSE: value.reason}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, LogBlock):
        return {name: to_document(part) for name, part in value if part is not None}
    if isinstance(value, Mapping):
        return {name: to_document(part) for name, part in value.items()}
    return [to_document(part) for part in value] if isinstance(value, tuple | list) else value


def escape(name: str) -> str:
    """Write a key as one step of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def unescape(pointer: str) -> list[str]:
    """Read the steps of a JSON pointer."""
    return [each.replace("~1", "/").replace("~0", "~") for each in pointer.split("/")[1:]]


def resolve(document: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer whose steps are names; None where there is none."""
    for name in unescape(pointer):
        document = document.get(name) if isinstance(document, Mapping) else None
    return document


def short(value: object, longest: int = 60) -> str:
    """Show a JSON value on part of a line."""
    if isinstance(value, Mapping):
        return f"an object of {pluralize(len(value), 'key')}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None:
        return "null"
    text = value if isinstance(value, str) else repr(value)
    cut = text if len(text) <= longest else f"{text[:longest]}…"
    return f'"{cut}"' if isinstance(value, str) else cut


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

    Raises:
        LogUnreadable: E-ASSET-LOG-001: no JSON, cut off, too large or too deep, a key twice.
    """
    if len(data) > BYTES_MAX:
        raise _unreadable(where, f"it has {pluralize(len(data), 'byte')}, more than {BYTES_MAX}")
    try:
        text = data.decode("utf-8")
        document = json.loads(text, object_pairs_hook=_read_object, parse_constant=_refuse_constant)
        _require_shallow(document)
        if "\\ud" in text.lower():  # Half of a surrogate pair is no UTF-8.
            json.dumps(document, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise _unreadable(where, "it is nested too deeply") from None
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        cut = error.pos >= len(error.doc.rstrip())
        raise _unreadable(where, f"it {'ends early' if cut else 'is no JSON'} at {at}") from None
    except ValueError as error:
        raise _unreadable(where, str(error)) from None
    return document


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name[:60]!r} stands in it twice")
        found[name] = value
    return found


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _require_shallow(part: Any, depth: int = 0) -> None:
    """Refuse nesting that no log has, before anything else walks down it."""
    if depth > DEPTH_MAX:
        raise ValueError(f"it is nested too deeply, more than {DEPTH_MAX} levels")
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        if isinstance(each, dict | list):
            _require_shallow(each, depth + 1)


def examine_bytes(data: bytes, where: str) -> tuple[Any, Examined]:
    """Read a log's bytes: the document, and the log as far as it goes.

    Raises:
        LogUnreadable: E-ASSET-LOG-001: no JSON at all.
        LogVersion: E-ASSET-LOG-003: a format that this version does not read.
    """
    document = parse(data, where)
    said = document.get("format") if isinstance(document, dict) else None
    if isinstance(said, str) and said != FORMAT and said.startswith("twice."):
        raise LogVersion(
            f"{where} is of format {said[:80]!r}; this version reads {FORMAT!r}.",
            "Expected a log that this version of twice knows.",
            "Install the version that wrote it, or write the log anew.",
            path=where,
        )
    return document, examine(document)


def read_log(path: Path, *, draft: bool = False) -> DeterminismLog:
    """Read a log from its file.

    Raises:
        LogUnreadable: E-ASSET-LOG-001: no file, or no JSON.
        LogRefused: E-ASSET-LOG-002: a field is missing or wrong; the first is named.
        LogVersion: E-ASSET-LOG-003: a format that this version does not read.
    """
    _, examined = examine_bytes(read_bytes(path), str(path))
    accepted = {Fault.MISSING, Fault.UNKNOWN} if draft else set()
    wrong = [each for each in examined.problems if each.fault not in accepted]
    if wrong:
        raise refusal(str(path), wrong[0], len(wrong))
    return examined.log


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


def _unreadable(where: str, why: str) -> LogUnreadable:
    return LogUnreadable(
        f"{where} cannot be read as a determinism log: {why}.",
        "Expected one whole JSON document in UTF-8.",
        "Write it anew from where it came, or take it out of the folder.",
        path=where,
    )
