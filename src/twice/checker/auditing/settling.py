"""What one file cannot tell of a draw: who seeds the stream of the process, who made another's generator.

A process-wide stream is seeded for a file when something in its reach seeds it: the file itself, a
file that uses it, or one that such a file imports. The rules about process-wide streams see it the
same way. A seed that is written into the program, or a default that a call relies on, owns nothing: its
generator keeps its owner and is an orphan, with a note that says why.

Invariant: there are as many draws after as before, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from twice.checker.auditing.origins import Origin, Owner
from twice.checker.auditing.seeds import SPACES, Draw, What
from twice.foundation.printable import pluralize


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known over all files.

    Args:
        seeded: for each stream, and for each stream and file, the place that seeds it.
        held: for each attribute, the places that make a generator for it.
        reach: gives the libraries whose streams are seeded in reach of a file.
    """

    seeded: dict[tuple[str, str], Draw]
    held: dict[str, list[Draw]]
    reach: Callable[[str], frozenset[str]]


def settled(
    found: Sequence[Draw],
    reach: Callable[[str], frozenset[str]],
    unreached: Mapping[str, str] | None = None,
) -> tuple[Draw, ...]:
    """Settle over all files who owns process-wide streams and generators that other objects hold.

    Args:
        found: what every file gave.
        reach: gives the libraries whose streams are seeded in reach of a file.
        unreached: for each ``path:line`` that seeds with what is not the run's, why; none by default.
    """
    known = _Known({}, {}, reach)
    for each in found:
        if each.what is What.SEEDS and each.origin.owner is Owner.PROCESS:
            for stream in each.stream.split(", "):
                known.seeded.setdefault((stream, each.path), each)
                other = known.seeded.get((stream, ""))
                if other is None or (other.zone != "core" and each.zone == "core"):
                    known.seeded[stream, ""] = each
        elif each.what is What.MAKES and each.origin.owner in {Owner.GENERATOR, Owner.NAMED}:
            attribute = each.stream.rpartition(".")[2] if "." in each.stream else ""
            if attribute and each.zone != "tests":
                known.held.setdefault(attribute.strip(" ,()"), []).append(each)
    notes = unreached or {}
    return tuple(_mark_unreached(_settled(each, known), notes) for each in found)


def _mark_unreached(each: Draw, notes: Mapping[str, str]) -> Draw:
    origin, note = each.origin, notes.get(each.where)
    if note is None or each.is_orphan or origin.owner not in {Owner.GENERATOR, Owner.PROCESS}:
        return each
    note = f"{note}; {origin.note}" if origin.note else note
    return replace(each, origin=replace(origin, note=note, unreached=True))


def _settled(each: Draw, known: _Known) -> Draw:
    if each.what is not What.DRAWS:
        return each
    if each.origin.owner is Owner.PROCESS:
        return _of_process(each, known)
    if each.origin.owner is Owner.PASSED and each.origin.attribute in known.held:
        return _of_object(each, known.held[each.origin.attribute])
    return each


def _of_process(each: Draw, known: _Known) -> Draw:
    by = known.seeded.get((each.stream, each.path)) or known.seeded.get((each.stream, ""))
    note = _orphaned(each, by, known)
    if note:
        return replace(each, origin=Origin(Owner.NOBODY, note=note))
    assert by is not None, "what nobody seeds is an orphan"
    origin = replace(each.origin, seed=by.origin.seed, note=by.origin.note)
    return replace(each, origin=origin, where=f"{by.path}:{by.line}")


def _orphaned(each: Draw, by: Draw | None, known: _Known) -> str:
    """Why nobody owns a draw from a process-wide stream; "" when somebody does."""
    what = "a space" if each.stream == SPACES else f"the process-wide stream of {each.stream}"
    besides = ", and env.reset(seed=...) does not" if each.stream == SPACES else ""
    if by is None:
        return f"nobody here seeds {what}{besides}"
    if by.path == each.path:
        return ""
    if by.zone == "tests" and each.zone != "tests":
        return f"only a test seeds {what}{besides}"
    if each.stream != SPACES and each.stream.partition(".")[0] not in known.reach(each.path):
        return f"{by.path}:{by.line} seeds {what}, which this file is not run with"
    return ""


def _of_object(each: Draw, makers: list[Draw]) -> Draw:
    first = makers[0]
    if len({one.path for one in makers}) > 1:
        note = f"made in {pluralize(len(makers), 'place')}, the first {first.path}:{first.line}"
        return replace(each, origin=replace(each.origin, note=note))
    texts = dict.fromkeys(one.origin.seed for one in makers)
    origin = replace(first.origin, seed=" or ".join(texts))
    return replace(each, origin=origin, where=f"{first.path}:{first.line}")
