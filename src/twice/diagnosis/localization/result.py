"""The result of a localisation: where two executions part, or why that could not be said.

Not for: naming a cause. Tags and calls say what stands on the line, not that it did it.

Invariant: every claim in a result was observed; what was inferred from syntax is in ``evidence``.
"""

from __future__ import annotations

from twice.diagnosis.localization.source_facts import LineFacts, facts_at
from twice.diagnosis.tracing.trace import Position
from twice.foundation.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A line of user code.

    Args:
        file: source path.
        line: line number, from 1.
        function: qualified name.
        code: the statement that starts to run there; empty when there is no readable source.
    """

    file: str
    line: int
    function: str
    code: str

    def __str__(self) -> str:
        code = f": {self.code}" if self.code else ""
        return f"{self.file}:{self.line} in {self.function}{code}"


def place_at(at: Position) -> Place:
    """Return the line of a position, with its source."""
    return Place(at.file, at.line, at.function, facts_at(at).code)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Where one difference that never heals begins.

    Args:
        place: the line after which it is there.
        paths: what begins to differ there.
        moment: number of the event, in the order of side a.
        reaches_tracked: the difference in the tracked state was followed back through it; False
            means that it stays alive beside it.
        before_window: it was there when the window began.
    """

    place: Place
    paths: tuple[str, ...]
    moment: int
    reaches_tracked: bool
    before_window: bool


@dataclass(frozen=True, slots=True)
class Located:
    """The first operation whose result stays different.

    Args:
        place: the line.
        facts: what its statement does.
        name: the variable, attribute or call that first differs.
        kind: ``value``, ``order``, ``stream position`` or ``flow``.
        value_a: short text of the value on side a, or empty.
        value_b: short text of the value on side b, or empty.
        before_window: the difference was there at the first event; start earlier.
        untracked: paths of the chain that belong to no tracked component: blind spots.
        side: the side that ran the operation, or ``both``.
        thread: name of the thread.
        event: index of the event in its thread after which it ran.
        guard: the branch at which the flows part, when the operation stands behind one.
        followed: lines from the tracked difference back to the operation, the operation last.
        candidates: beginnings of all differences that never heal.
        passed: kinds of callables on the lines between the operation and the tracked difference.
        entered: of a difference that was there at the first event, the line that let it in.
        beside: an earlier difference that stays alive, and was not followed to the tracked state.
        is_switched: one side alone ran the operation, because a variable of the environment said so.
        unseen: what the statement reads and nobody could look into.
        evidence: what was observed, in sentences.
        caveats: what was not seen.
        executions: how often the window was executed.
        non_reproducing: the side (``a`` or ``b``) that does not reproduce itself; ``value_a`` and
            ``value_b`` are then of two executions of that side. Empty otherwise.
    """

    place: Place
    facts: LineFacts
    name: str
    kind: str
    value_a: str
    value_b: str
    before_window: bool
    untracked: tuple[str, ...]
    side: str
    thread: str
    event: int
    guard: Place | None
    followed: tuple[Place, ...]
    candidates: tuple[Candidate, ...]
    passed: tuple[str, ...]
    entered: Place | None
    beside: Place | None
    is_switched: bool
    unseen: tuple[str, ...]
    evidence: tuple[str, ...]
    caveats: tuple[str, ...]
    executions: int
    non_reproducing: str = ""


@dataclass(frozen=True, slots=True)
class Unlocated:
    """No operation could be named.

    Args:
        reason: one sentence.
        evidence: what was observed.
        surer: what would tell more, as an imperative sentence.
        caveats: what was not seen.
        executions: how often the window was executed.
    """

    reason: str
    evidence: tuple[str, ...]
    surer: str
    caveats: tuple[str, ...]
    executions: int
