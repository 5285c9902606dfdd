"""The questions that come first: is replay needed at all, how far, and what does the system have?

The answers lead to a tier, or away from a design: to an honest "no", to the checker for a system that
exists, to a diagnosis where two runs disagree now. Three more questions lead to the weakest class that is enough.

Invariant: pure; the same answers give the same advice, and all advice names its reasons.

Source: the decision tree and the stop conditions of the specification's seed document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.specification.tiers import Tier, Trait


class Question(StrEnum):
    """What is asked, in this order: the word is the flag on the command line, and for a trait its name."""

    text: str

    def __new__(cls, word: str, text: str = "") -> Self:
        """Make a member of its word, with the question as it is put."""
        member = str.__new__(cls, word)
        member._value_, member.text = word, text
        return member

    STATE = "state", "Does it decide step by step, with state that is worth running again?"
    DIVERGING = "diverging", "Do two of its runs disagree right now?"
    EXISTING = "existing", "Does its code exist already?"
    CHECKED = "checked", "Was it read by twice check, and were the findings settled or accepted?"
    REPLAY = "replay", "Is a replay needed, more than bugs that come back on the developer's machine?"  # fmt: skip
    CONSUMED = "consumed", "Do other systems consume replay (training loop, regression suite, several processes)?"  # fmt: skip
    CROSS_MACHINE = "cross-machine", "Must another machine give the same?"
    OBLIGED = "obliged", "Is a replay owed by law or contract, or bit-exactness over unlike hardware?"  # fmt: skip
    BRANCHING = "branching", "Do runs branch from a recorded tick with other inputs?"
    CONCURRENCY = "concurrency", "Are there threads, processes, tasks or actors?"
    FLOATING_POINT = "floating-point", "Does floating-point arithmetic reach the state?"
    GPU = "gpu", "Does anything run on a GPU?"
    EXTERNAL_EFFECTS = "external-effects", "Does it read the clock, files, the network, the environment or a service?"  # fmt: skip
    SUBSTITUTABLE = "substitutable", "Can all of that be recorded, or computed from the run?"
    HASHED_SNAPSHOTS = "hashed-snapshots", "Are snapshots compared by digest?"
    AUDIT_LOG = "audit-log", "Is there an audit log with a canonical encoding of its own?"
    CONTESTED = "contested", "Do people disagree about when two runs count as the same?"
    SINGLE_RUNS = "single-runs", "Does anybody compare one run with one other, and not only a figure over many runs?"  # fmt: skip
    DECISIONS_ENOUGH = "decisions-enough", "Is it enough that inputs, output and compared values agree, whatever the state inside is?"  # fmt: skip
    TOLERANCE_ENOUGH = "tolerance-enough", "Is a difference within a tolerance enough for what is decided with the result?"  # fmt: skip
    PROPOSED_CLASS = "proposed-class", "Write that class into sheet 01?"


OF_CLASS: Final = frozenset(
    {
        Question.SINGLE_RUNS,
        Question.DECISIONS_ENOUGH,
        Question.TOLERANCE_ENOUGH,
        Question.PROPOSED_CLASS,
    }
)
"""Questions that nobody has to answer: without them, sheet 01 leaves its class open."""
# A question matters when another one is answered with yes; the second word stands for no answer.
_MATTERS_AFTER: Final = {
    Question.CHECKED: (Question.EXISTING, False),
    Question.CONSUMED: (Question.REPLAY, True),
    Question.CROSS_MACHINE: (Question.REPLAY, True),
    Question.OBLIGED: (Question.CROSS_MACHINE, False),
    Question.SUBSTITUTABLE: (Question.EXTERNAL_EFFECTS, False),
}
_REACHES: Final = (
    (Question.REPLAY, Tier.S, "A replay is needed."),
    (Question.CONSUMED, Tier.M, "Other systems consume replay."),
    (Question.CROSS_MACHINE, Tier.L, "Another machine must give the same."),
    (Question.OBLIGED, Tier.XL, "A replay is owed, or unlike hardware must agree to the bit."),
)


class Way(StrEnum):
    """Where the answers lead."""

    NO = "no"
    DIAGNOSE = "diagnose"
    CHECK = "check"
    SPECIFY = "specify"


_STOPS_AT: Final = {
    Way.NO: Question.STATE,
    Way.DIAGNOSE: Question.DIVERGING,
    Way.CHECK: Question.CHECKED,
}


@dataclass(frozen=True, slots=True)
class Advice:
    """Where the answers lead, how far replay reaches (XS where nothing is specified), and one sentence for each reason.

    If something outside holds the tier down, it is ``capped`` and the last reason says so.
    """

    way: Way
    tier: Tier
    reasons: tuple[str, ...]
    capped: bool = False


def next_question(answers: Mapping[Question, bool]) -> Question | None:
    """Return the first question that the answers so far leave open; None when the way is clear."""
    stop = _STOPS_AT.get(decide(answers).way)
    for question in Question:
        if question is stop:
            return None
        after, otherwise = _MATTERS_AFTER.get(question, (question, True))
        is_open = question not in answers and question not in OF_CLASS
        if is_open and answers.get(after, otherwise):
            return question
    return None


@dataclass(frozen=True, slots=True)
class ClassProposal:
    """The weakest class that is enough, how far it reaches, and why; ``measure`` is "exact" where no tolerance is."""

    kind: DeterminismClass
    scope: Scope
    why: str
    measure: str = ""

    def __str__(self) -> str:
        return f"{self.kind}, scope {self.scope}: {self.why}"


def next_class_question(answers: Mapping[Question, bool]) -> Question | None:
    """Return the first question about the class that is open; None when a class can be proposed."""
    if not answers.get(Question.SINGLE_RUNS, True):
        return None
    path = [Question.SINGLE_RUNS]
    # Whoever compares digests of snapshots compares the state.
    if not answers.get(Question.HASHED_SNAPSHOTS, False):
        path.append(Question.DECISIONS_ENOUGH)
        path += [Question.TOLERANCE_ENOUGH] * answers.get(Question.DECISIONS_ENOUGH, True)
    return next((each for each in path if each not in answers), None)


def propose_class(answers: Mapping[Question, bool]) -> ClassProposal:
    """Return the weakest class that is enough by the answers, none of which may be open."""
    assert next_class_question(answers) is None, "no question about the class is open"
    reach = Scope.CROSS_HOST if answers.get(Question.CROSS_MACHINE) else Scope.HOST
    if not answers[Question.SINGLE_RUNS]:
        why = "only a figure over many runs is compared, so a single run may differ"
        return ClassProposal(DeterminismClass.STATISTICAL, reach, why)
    if answers.get(Question.HASHED_SNAPSHOTS, False):
        why = "snapshots are compared by digest, so the bytes of the state count"
        return ClassProposal(DeterminismClass.BIT_EXACT, reach, why)
    if not answers[Question.DECISIONS_ENOUGH]:
        why = "one run is compared with one other, in the state inside"
        return ClassProposal(DeterminismClass.BIT_EXACT, reach, why)
    if answers[Question.TOLERANCE_ENOUGH]:
        why = (
            "runs are compared by what they decide and print, and a tolerance is enough for numbers"
        )
        return ClassProposal(DeterminismClass.LOGICAL, reach, why)
    why = "runs are compared by what they decide and print, and not by the state inside"
    return ClassProposal(DeterminismClass.LOGICAL, reach, why, "exact")


def decide(answers: Mapping[Question, bool]) -> Advice:
    """Follow the tree."""
    if not answers.get(Question.STATE, True):
        return Advice(Way.NO, Tier.XS, ("It has no state that is worth running again.",))
    if answers.get(Question.DIVERGING, False):
        why = "Two runs disagree now: find the operation where they part before anything is designed anew."
        return Advice(Way.DIAGNOSE, Tier.XS, (why,))
    if answers.get(Question.EXISTING, False) and not answers.get(Question.CHECKED, True):
        why = "The code exists: what it does already comes before what it should do."
        return Advice(Way.CHECK, Tier.XS, (why,))
    tier, reasons = Tier.XS, ["Bugs have to come back on the developer's machine."]
    for question, reached, why in _REACHES:
        if answers.get(question, False):
            tier = max(tier, reached)
            reasons.append(why)
    asks = answers.get(Question.EXTERNAL_EFFECTS, False)
    capped = asks and not answers.get(Question.SUBSTITUTABLE, True)
    if capped:
        why = "Something outside cannot be recorded or computed: the tier cannot exceed S."
        reasons.append(why)
        tier = min(tier, Tier.S)
    return Advice(Way.SPECIFY, tier, tuple(reasons), capped)


def find_traits(answers: Mapping[Question, bool]) -> dict[Trait, bool]:
    """Return what the system has, as far as it was answered."""
    return {
        trait: answers[Question(trait.value)] for trait in Trait if Question(trait.value) in answers
    }
