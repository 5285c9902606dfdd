"""Check 2: the class is one sentence that verification executes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.errors import ClassRefused
from twice.specifying.gate.check import Check, gaps, place
from twice.specifying.gate.facts import Facts
from twice.specifying.gate.outcome import Found
from twice.specifying.gate.promise import predicate_of

_BY_OTHERS: Final = ("tier", "vector", "vector_digest", "closed_world")


def _said(facts: Facts) -> Found:
    found = gaps(facts, "01", but=_BY_OTHERS)
    promise = facts.sheet("01")
    if promise is None or found.faults:
        return found
    try:
        predicate = predicate_of(promise)
    except (ClassRefused, ValueError) as error:
        happened = error.happened if isinstance(error, ClassRefused) else str(error)
        expected = error.expected if isinstance(error, ClassRefused) else ""
        return found + Found((f"{place(facts, '01', 'class')}: {happened} {expected}".rstrip(),))
    sentence = predicate.sentence()
    faults: list[str] = []
    if _plain(promise.said("predicate")) != _plain(sentence):
        where = place(facts, "01", "predicate")
        faults.append(
            f"{where}: {promise.said('predicate')!r} is not what verification executes, which is: {sentence}"
        )
    faults += _against(facts, predicate.axis)
    return found + Found(tuple(faults), (sentence,))


def _against(facts: Facts, axis: str) -> Iterator[str]:
    promise = facts.sheet("01")
    assert promise is not None, "looked at before"
    if promise.get("contested") is True:
        yield f"{place(facts, '01', 'contested')}: people still disagree about the class; that comes first"
    if promise.said("axis") != axis:
        where = place(facts, "01", "axis")
        yield f"{where}: scope {promise.said('scope')} is about {axis}, not {promise.said('axis')}"


def _plain(sentence: str) -> str:
    return " ".join(sentence.split()).rstrip(".").lower()


CHECK: Final = Check(
    2,
    "Class clarity",
    "Does 01 name the class in one sentence that anybody can apply, and that verification executes?",
    ("01",),
    (),
    _said,
)
