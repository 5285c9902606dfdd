"""The form that twice gives a record's documents and frames, and the refusal of others.

Checksums say that a record is as its writer left it, not that twice was the writer. The members of identity and
ending that other code relies on are checked when a record is opened; whoever reads frames does so ``reading``.
The kinds are those of frames that a session writes besides its reads.

Invariant: nothing of a record is executed, and no value is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import NoneType
from typing import Any, Final

from twice.errors import RecordForeign, TwiceError
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import printable

INPUT: Final = "input"
OUTPUT: Final = "output"
ERRORS: Final = "errors"
LOOP: Final = "loop"
LEFT: Final = "left"
ROLLBACK: Final = "rollback"
SUMMARY: Final = "summary"

_MALFORMED = (
    KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, AssertionError,
)  # fmt: skip
_TEXT_MAX: Final = 60


@dataclass(frozen=True)
class LoopSpan:
    """A loop of the recorded run: where it ended, and the cursors there."""

    next_tick: int
    effects: Mapping[str, object]
    inputs: int


@dataclass(frozen=True)
class Rollback:
    """A rollback: the tick that asked for it, the tick it went back to, its compare-point."""

    tick: int
    to: int
    point: int


@dataclass(frozen=True)
class Redacted:
    """How often a rule blanked something before a compare-point (-1 for the run's own arguments)."""

    point: int
    rule: str
    where: str
    count: int


@dataclass(frozen=True)
class _Each:
    """A mapping whose values all have one form, or a list whose items have."""

    form: Any
    kind: type = dict


_COUNTS: Final = _Each(int)
_BYTES: Final = {"bytes?": int, "lines?": int}
_IDENTITY: Final = {
    "setup": {"config?": dict, "policies?": dict, "predicate?": dict, "program?": dict},
    "code": {"files": _Each(str), "commit?": (str, NoneType)},
    "behaviours": _Each(int),
    "environment": dict,
    "surroundings": dict,
    "parent?": (dict, NoneType),
    "redaction?": (dict, NoneType),
}
_ENDING: Final = {
    "how": str,
    "exit_code?": (int, NoneType),
    "exception?": (dict, NoneType),
    "ticks?": int,
    "points?": int,
    "files?": _Each(str),
    "components?": _Each(str),
    "effects?": {"strict?": _COUNTS, "lenient?": _COUNTS, "ungoverned?": _COUNTS},
    "printed?": {"output?": _BYTES, "errors?": _BYTES},
    "streams?": _Each(dict),
    "tolerances?": _Each(dict),
    "inventory?": _Each(dict, list),
    "caveats?": _Each(str, list),
    "globals_used?": _Each(str, list),
    "config_unread?": _Each(str, list),
    "imported?": _Each(str, list),
    "lineages?": _COUNTS,
    "results?": dict,
    "orders?": _Each(str),
    "settings?": dict,
    "numerics?": dict,
    "native_files?": {"process?": (int, NoneType), "tier?": str},
}
"""Members with a question mark may be missing: records of other versions do not have all of them."""
_EXCEPTION: Final = {"type": str, "message": str, "frames?": _Each(dict, list)}


def require_form(
    identity: Mapping[str, Any], ending: Mapping[str, Any] | None, path: object
) -> None:
    """Refuse documents that lack parts of twice's form, or have them in another form.

    Raises:
        RecordForeign: E-RECORD-002, naming the member.
    """
    exception = None if ending is None else ending.get("exception")
    for name, document, form in (
        ("identity", identity, _IDENTITY), ("ending", ending, _ENDING), ("ending.exception", exception, _EXCEPTION),
    ):  # fmt: skip
        if document and (wrong := next(_find_wrong(document, form, name), None)):
            raise RecordForeign(
                f"{path} is not as twice writes a record: {wrong}.",
                "Expected an identity and an ending with the members of docs/format/run-record.md.",
                "Take the file from whoever recorded it, or record again.",
                path=str(path),
            )


def _find_wrong(value: Any, form: Any, place: str) -> Iterator[str]:
    """Yield the members that do not have their form; a form is a type, types, ``_Each``, or forms by name."""
    kind: Any = form.kind if isinstance(form, _Each) else dict if isinstance(form, dict) else form
    if not isinstance(value, kind) or (isinstance(value, bool) and form is int):
        yield f"{place} is {_shorten(value)}"
    elif isinstance(form, _Each):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _find_wrong(part, form.form, f"{place}[{_shorten(key)}]")
    elif isinstance(form, dict):
        for name, inner in form.items():
            member = name.removesuffix("?")
            if member in value:
                yield from _find_wrong(value[member], inner, f"{place}.{member}")
            elif member == name:
                yield f"{place} has no member {member!r}"


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _TEXT_MAX else f"{text[:_TEXT_MAX]}..."


@contextmanager
def reading(what: str, path: object, *refusals: type[TwiceError]) -> Iterator[None]:
    """Refuse content that cannot be read in the form in which twice writes it: ``RecordForeign``, E-RECORD-002.

    Args:
        what: is read, for the error: ``a frame of kind 'input'``.
        path: of the record.
        refusals: errors of ours that mean the same here; any other passes as it is.
    """
    try:
        yield
    except Exception as error:
        # An error of ours passes though it is of a built-in kind as well: it is about something else.
        is_ours = isinstance(error, TwiceError)
        if not isinstance(error, refusals if is_ours else _MALFORMED):
            raise
        said = error.happened if isinstance(error, TwiceError) else str(error)
        raise RecordForeign(
            f"{path} holds {what} that twice does not write: {type(error).__name__}: {said[:_TEXT_MAX]}.",
            "Expected the form of docs/format/run-record.md.",
            "Take the file from whoever recorded it, or record again. If twice wrote it so, twice is to blame: please "
            "report what the same command says as python -X dev -m twice ...",
            path=str(path),
        ) from error


def describe_ending(ending: Mapping[str, Any] | None) -> str:
    """Return how a run ended, in a few words on one line; None is the ending of a torn record."""
    if ending is None:
        return "torn"
    how, exception = str(ending["how"]), ending.get("exception")
    if how == "exit":
        return f"exit, code {ending.get('exit_code')}"
    return printable(f"{how}: {exception['type']}" if exception else how)


def describe_parent(parent: Mapping[str, Any] | None) -> str:
    """Return which record a run was made from, in a few words; empty for a first run."""
    if parent is None:
        return ""
    if "fork" not in parent:
        return f"re-run of {parent.get('rerun_of')}"
    fork = parent["fork"]
    return f"branch of {parent.get('record')} at tick {fork.get('tick') if isinstance(fork, dict) else None}"
