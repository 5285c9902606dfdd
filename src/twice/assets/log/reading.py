"""From a JSON document to a log, with everything that is wrong or missing, by JSON pointer.

``examine`` takes any JSON value: what is wrong is left out of the log and named. Whether something
missing matters is for whoever asked.

Invariant: a document without problems and the log read from it say the same: ``to_document`` gives
the document back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Final, get_args, get_type_hints

from twice.assets.log.declaring import (
    KEY,
    Declared,
    Inside,
    Many,
    Need,
    NotApplicable,
    One,
    Shape,
    Table,
)  # fmt: skip
from twice.assets.log.kinds import Fault, Refusal, Text, says_nothing
from twice.assets.log.log import AssetKind, DeterminismLog
from twice.assets.log.promise import Grade, Mode, Promise
from twice.foundation.printable import pluralize

EXCUSE: Final = "not_applicable"
_REASON: Final = Text("a reason")


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


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    declared: Declared
    enum: type[Enum] | None


@dataclass(frozen=True, slots=True)
class Needs:
    """Which needs hold for a document, and whose render block belongs in it, as far as known."""

    holding: frozenset[Need]
    kind: AssetKind | None

    @classmethod
    def of(cls, mode: Mode | None, kind: AssetKind | None) -> Needs:
        """Tells them from the promise and the kind of the asset, as far as they are known."""
        holding = {Need.ALWAYS}
        if mode is not None:
            holding.add(Need.PROMISED if mode is Mode.DETERMINISTIC else Need.MARKED)
        return cls(frozenset(holding), kind)


def examine(document: object) -> Examined:
    """Read a log as far as it goes; never raises for what ``json.loads`` gives."""
    problems: list[Problem] = []
    needs = Needs.of(_mode(document), _kind(document))
    if not isinstance(document, Mapping):
        problems.append(Problem("", Fault.TYPE, short(document), "an object", "a determinism log"))
        document = {}
    log = _block(DeterminismLog, document, "", needs, problems)
    assert isinstance(log, DeterminismLog), "a block is read as its class"
    promise = log.promise
    if promise is not None and promise.grade is Grade.TOLERANCE and promise.profile is None:
        _lack(document["promise"], Promise, "profile", "/promise", problems)
    if log.revision is not None and log.revision > 1:
        _lack(document, DeterminismLog, "supersedes", "", problems)
    return Examined(log, tuple(problems))


def _lack(
    document: Mapping[str, Any], block: Any, name: str, at: str, problems: list[Problem]
) -> None:
    """Ask for a field that only another field makes needed."""
    if name not in document:
        problems.append(_missing(f"{at}/{name}", declared_fields(block)[name]))


def to_document(value: Any) -> Any:
    """Turn a log, or a part of one, into a JSON value; what nobody said is left out."""
    if isinstance(value, NotApplicable):
        return {EXCUSE: value.reason}
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((each.name, getattr(value, each.name)) for each in fields(value))
        return {name: to_document(part) for name, part in pairs if part is not None}
    if isinstance(value, Mapping):
        return {name: to_document(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [to_document(part) for part in value]
    return value


@cache
def declared_fields(block: Any) -> Mapping[str, Declared]:
    """Give what is declared of a block's fields, in their order."""
    return {each.name: each.metadata[KEY] for each in fields(block)}


def escaped(name: str) -> str:
    """Write a key as one step of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def short(value: object, longest: int = 60) -> str:
    """Show a JSON value on part of a line."""
    if isinstance(value, Mapping):
        return f"an object of {pluralize(len(value), 'key')}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None:
        return "null"
    text = str(value)[: longest + 1] if isinstance(value, str) else repr(value)[: longest + 1]
    cut = text if len(text) <= longest else f"{text[:longest]}…"
    return f'"{cut}"' if isinstance(value, str) else cut


@cache
def _readable(block: Any) -> Mapping[str, _Field]:
    hints = get_type_hints(block)
    enums = {name: _enum(hint) for name, hint in hints.items()}
    return {
        name: _Field(name, declared, enums[name])
        for name, declared in declared_fields(block).items()
    }


def _enum(hint: Any) -> type[Enum] | None:
    found = [each for each in get_args(hint) if isinstance(each, type) and issubclass(each, Enum)]
    return found[0] if found else None


def _mode(document: object) -> Mode | None:
    promise = document.get("promise") if isinstance(document, Mapping) else None
    said = promise.get("mode") if isinstance(promise, Mapping) else None
    return Mode(said) if isinstance(said, str) and said in set(Mode) else None


def _kind(document: object) -> AssetKind | None:
    said = document.get("kind") if isinstance(document, Mapping) else None
    return AssetKind(said) if isinstance(said, str) and said in set(AssetKind) else None


def _block(
    block: Any, document: Mapping[str, Any], at: str, needs: Needs, problems: list[Problem]
) -> Any:
    readable = _readable(block)
    taken: dict[str, Any] = {}
    renders = set(AssetKind) - {needs.kind} if block is DeterminismLog else set()
    barred = renders if needs.kind is not None else set()
    for name, value in document.items():
        if name not in readable or name in barred:
            problems.append(
                Problem(
                    f"{at}/{escaped(str(name))}", Fault.UNEXPECTED, short(value),
                    "no such field", "a field that the format does not have here",
                )
            )  # fmt: skip
    for name, each in readable.items():
        if name in barred:
            continue
        where = f"{at}/{name}"
        if name not in document:
            if each.declared.need in needs.holding and name not in renders:
                problems.append(_missing(where, each.declared))
            continue
        value = document[name]
        if each.declared.excusable and _is_excuse(value):
            taken[name] = _excuse(value, where, each.declared, problems)
            continue
        read = _value(each.declared.shape, value, where, each.declared, needs, problems)
        taken[name] = each.enum(read) if each.enum is not None and read is not None else read
    return block(**taken)


def _missing(where: str, declared: Declared) -> Problem:
    return Problem(where, Fault.MISSING, "", expected_of(declared), declared.words)


def expected_of(declared: Declared) -> str:
    """Say what a field takes, as a noun phrase."""
    match declared.shape:
        case One(kind):
            words = kind.words
        case Inside(block):
            inner: Any = block
            needed = [
                n for n, each in declared_fields(inner).items() if each.need is not Need.OPTIONAL
            ]
            words = f"an object with {', '.join(needed)}" if needed else "an object"
        case Many(_, least):
            words = f"a list of at least {least}" if least else "a list"
        case Table():
            words = "an object of values by name"
    return f'{words}, or {{"{EXCUSE}": reason}}' if declared.excusable else words


def _is_excuse(value: object) -> bool:
    return isinstance(value, Mapping) and EXCUSE in value


def _excuse(
    value: Mapping[str, Any], where: str, declared: Declared, problems: list[Problem]
) -> NotApplicable | None:
    refused = _REASON.refuse(value[EXCUSE])
    if refused is not None:
        problems.append(_refused(f"{where}/{EXCUSE}", value[EXCUSE], refused, declared))
    elif len(value) > 1:
        expected = f"a value, or the reason alone: {{{EXCUSE!r}: reason}}"
        problems.append(Problem(where, Fault.TYPE, short(value), expected, declared.words))
    else:
        return NotApplicable(value[EXCUSE])
    return None


def _refused(where: str, value: object, refused: Refusal, declared: Declared) -> Problem:
    return Problem(where, refused.fault, short(value), refused.expected, declared.words)


def _value(
    shape: Shape, value: object, where: str, declared: Declared, needs: Needs,
    problems: list[Problem],
) -> Any:  # fmt: skip
    """Read one value; None, with a problem, where it is none of the shape."""
    match shape:
        case One(kind):
            refused = kind.refuse(value)
            if refused is None:
                return (
                    int(value)
                    if isinstance(value, float) and getattr(kind, "whole", False)
                    else value
                )
            problems.append(_refused(where, value, refused, declared))
            return None
        case Inside(block):
            if isinstance(value, Mapping):
                return _block(block, value, where, needs, problems)
        case Many(of, least):
            if isinstance(value, list) and len(value) >= least:
                counted = [(str(at), part) for at, part in enumerate(value)]
                items = _items(of, counted, where, declared, needs, problems)
                taken = tuple(part for _, part in items)
                return taken if len(taken) >= least else None
        case Table(of):
            if isinstance(value, Mapping):
                named = [(str(name), part) for name, part in value.items()]
                return dict(_items(of, named, where, declared, needs, problems))
    nothing = value is None or (isinstance(value, str) and says_nothing(value))
    wrong = Fault.IMPOSSIBLE if isinstance(value, list) and isinstance(shape, Many) else Fault.TYPE
    fault = Fault.UNKNOWN if nothing else wrong
    problems.append(Problem(where, fault, short(value), expected_of(declared), declared.words))
    return None


def _items(
    of: One | Inside, parts: list[tuple[str, Any]], where: str, declared: Declared, needs: Needs,
    problems: list[Problem],
) -> Iterator[tuple[str, Any]]:  # fmt: skip
    """Read the items of a list or a table that can be read, each with its step of the pointer."""
    for step, part in parts:
        read = _value(of, part, f"{where}/{escaped(step)}", declared, needs, problems)
        if read is not None:
            yield step, read
