"""The questions that come first: is replay needed at all, how far, and what does the system have?

The answers lead to a tier, or away from a design: to an honest "no", to the checker for a system that
exists, to a diagnosis where two runs disagree now.

Invariant: pure; the same answers give the same decision, and every decision names its reasons.

Source: the decision tree and the stop conditions of the specification's seed document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from twice.specifying.tiers import Tier, Trait


class Question(StrEnum):
    """What is asked, in this order; the word is the flag on the command line."""

    STATE = "state"
    DIVERGING = "diverging"
    EXISTING = "existing"
    CHECKED = "checked"
    REPLAY = "replay"
    CONSUMED = "consumed"
    CROSS_MACHINE = "cross-machine"
    OBLIGED = "obliged"
    BRANCHING = "branching"
    CONCURRENCY = "concurrency"
    FLOATING_POINT = "floating-point"
    GPU = "gpu"
    EXTERNAL_EFFECTS = "external-effects"
    SUBSTITUTABLE = "substitutable"
    HASHED_SNAPSHOTS = "hashed-snapshots"
    AUDIT_LOG = "audit-log"
    CONTESTED = "contested"

    @property
    def text(self) -> str:
        """The question as it is put."""
        return _TEXTS[self]


_TEXTS: Final = {
    Question.STATE: "Does it decide step by step, with state that is worth running again?",
    Question.DIVERGING: "Do two of its runs disagree right now?",
    Question.EXISTING: "Does its code exist already?",
    Question.CHECKED: "Was it read by twice check, and were the findings settled or accepted?",
    Question.REPLAY: "Is a replay needed, more than bugs that come back on the developer's machine?",
    Question.CONSUMED: "Do other systems consume replay (training loop, regression suite, several processes)?",
    Question.CROSS_MACHINE: "Must another machine give the same?",
    Question.OBLIGED: "Is a replay owed by law or contract, or bit-exactness over unlike hardware?",
    Question.SUBSTITUTABLE: "Can all of that be recorded, or computed from the run?",
    Question.CONTESTED: "Do people disagree about when two runs count as the same?",
    **{
        Question(trait.value): trait.question
        for trait in Trait
    },
}  # fmt: skip


class Way(StrEnum):
    """Where the answers lead."""

    NO = "no"
    DIAGNOSE = "diagnose"
    CHECK = "check"
    SPECIFY = "specify"


@dataclass(frozen=True, slots=True)
class Decision:
    """Where the answers lead, and why.

    Args:
        way: what is done next.
        tier: how far replay reaches; XS where nothing is specified.
        reasons: one sentence each.
    """

    way: Way
    tier: Tier
    reasons: tuple[str, ...]


def next_question(answers: Mapping[Question, bool]) -> Question | None:
    """Give the first question that the answers so far leave open; None when the way is clear."""
    for question in Question:
        if question not in answers and _matters(question, answers):
            return question
    return None


def _matters(question: Question, answers: Mapping[Question, bool]) -> bool:
    if question is Question.STATE:
        return True
    if not answers.get(Question.STATE, True):
        return False
    if question is Question.DIVERGING:
        return True
    if answers.get(Question.DIVERGING, False):
        return False
    needs = {
        Question.CHECKED: answers.get(Question.EXISTING, False),
        Question.CONSUMED: answers.get(Question.REPLAY, True),
        Question.CROSS_MACHINE: answers.get(Question.REPLAY, True),
        Question.OBLIGED: answers.get(Question.CROSS_MACHINE, False),
        Question.SUBSTITUTABLE: answers.get(Question.EXTERNAL_EFFECTS, False),
    }
    if question is not Question.CHECKED and _stops_at_check(answers):
        return question is Question.EXISTING
    return needs.get(question, True)


def _stops_at_check(answers: Mapping[Question, bool]) -> bool:
    return answers.get(Question.EXISTING, False) and not answers.get(Question.CHECKED, True)


def decide(answers: Mapping[Question, bool]) -> Decision:
    """Follow the tree."""
    if not answers.get(Question.STATE, True):
        return Decision(Way.NO, Tier.XS, ("It has no state that is worth running again.",))
    if answers.get(Question.DIVERGING, False):
        why = "Two runs disagree now: find the operation where they part before anything is designed anew."
        return Decision(Way.DIAGNOSE, Tier.XS, (why,))
    if _stops_at_check(answers):
        why = "The code exists: what it does already comes before what it should do."
        return Decision(Way.CHECK, Tier.XS, (why,))
    tier, reasons = Tier.XS, ["Bugs have to come back on the developer's machine."]
    for question, reached, why in _REACHES:
        if answers.get(question, False):
            tier = max(tier, reached)
            reasons.append(why)
    if answers.get(Question.EXTERNAL_EFFECTS, False) and not answers.get(
        Question.SUBSTITUTABLE, True
    ):
        reasons.append(
            "Something outside cannot be recorded or computed: the tier cannot exceed S."
        )
        tier = min(tier, Tier.S)
    return Decision(Way.SPECIFY, tier, tuple(reasons))


_REACHES: Final = (
    (Question.REPLAY, Tier.S, "A replay is needed."),
    (Question.CONSUMED, Tier.M, "Other systems consume replay."),
    (Question.CROSS_MACHINE, Tier.L, "Another machine must give the same."),
    (Question.OBLIGED, Tier.XL, "A replay is owed, or unlike hardware must agree to the bit."),
)


def traits_of(answers: Mapping[Question, bool]) -> dict[Trait, bool]:
    """Give what the system has, as far as it was answered."""
    return {
        trait: answers[Question(trait.value)] for trait in Trait if Question(trait.value) in answers
    }
