"""What a declaration says besides its class, tried on the case that was run.

Other seeds, the second call, a macro's steps one by one, a start that was saved and restored.

Invariant: a law that could not be tried exposes nothing, and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from twice.foundation.printable import pluralize
from twice.tools.determinism import Determinism
from twice.tools.verification.attempts import SEED, Attempt, Outcome
from twice.tools.verification.comparing import difference, first_difference
from twice.tools.verification.describing import Described
from twice.tools.verification.exposure import RERUN, Exposure
from twice.tools.verification.perturbations import RESTORED_START

ANOTHER_SEED: Final = "another seed"
READS_ONLY: Final = "reads only"
IDEMPOTENT: Final = "idempotent"
NAME_TAKEN: Final = "name taken"
STEP_BY_STEP: Final = "step by step"
Run = Callable[[Attempt], Outcome]
_OTHER_SEEDS: Final = (SEED + 1, SEED + 2, SEED + 3)


class Laws:
    """The laws that one case of one tool is held to.

    Args:
        tool: what is tried.
        attempt: the case.
        first: what came of it.
        run: makes more trials.
        run_elsewhere: makes one in another process, of other addresses.

    Attributes:
        tried: names of the laws that were tried.
        not_tried: those that could not be, and why.
    """

    def __init__(
        self, tool: Described, attempt: Attempt, first: Outcome, run: Run, run_elsewhere: Run
    ) -> None:
        self.tried: list[str] = []
        self.not_tried: dict[str, str] = {}
        self._tool, self._attempt, self._first = tool, attempt, first
        self._run, self._run_elsewhere = run, run_elsewhere

    def exposures(self) -> Iterator[Exposure]:
        """Each law that does not hold."""
        yield from self._second_call()
        yield from self._restored()
        if self._tool.is_macro:
            yield from self._step_by_step()
        if self._tool.determinism is Determinism.SEEDED:
            yield from self._under_another_seed()

    def _second_call(self) -> Iterator[Exposure]:
        first, tool = self._first, self._tool
        self.tried.append(NAME_TAKEN)
        if first.made_again:
            names = ", ".join(first.made_again[:3])
            yield Exposure(NAME_TAKEN, f"called again, it made another name: {names}")
        if tool.reads_only:
            self.tried.append(READS_ONLY)
            if first.before != first.after:
                yield Exposure(READS_ONLY, "it changed the state")
        if tool.idempotent:
            self.tried.append(IDEMPOTENT)
            if first.again != first.after:
                yield Exposure(IDEMPOTENT, "a second equal call changed the state again")

    def _restored(self) -> Iterator[Exposure]:
        found = self._run(replace(self._attempt, inside=(RESTORED_START,)))
        why = found.unable.get(RESTORED_START, "")
        if why:
            self.not_tried[RESTORED_START] = why
            return
        self.tried.append(RESTORED_START)
        differs = difference(self._tool, self._first, found)
        if differs:
            yield Exposure(RESTORED_START, differs)

    def _step_by_step(self) -> Iterator[Exposure]:
        parts = [each for each in self._first.parts if len(each.path) == 1]
        found = self._run(replace(self._attempt, steps=tuple(each.call for each in parts)))
        if found.lost or found.unready is not None or not parts:
            self.not_tried[STEP_BY_STEP] = found.failure if parts else "it has no steps here"
            return
        self.tried.append(STEP_BY_STEP)
        for part, envelope in zip(parts, found.steps, strict=True):
            differs = first_difference(part.result, envelope.get("result"), part.path[0])
            if differs:
                yield Exposure(STEP_BY_STEP, f"a step by itself differs: {differs}")
                return
        if found.after != self._first.after:
            yield Exposure(STEP_BY_STEP, "its steps one by one leave another state")

    def _under_another_seed(self) -> Iterator[Exposure]:
        """Test under another seed too: a promise that only the session's seed keeps is broken."""
        attempt = self._attempt.with_seed(_OTHER_SEEDS[0])
        found = self._run(attempt)
        differs = difference(self._tool, found, self._run_elsewhere(attempt))
        if differs:
            yield Exposure(RERUN, f"under another seed, {differs}")
        elif self._attempt.case.seed_matters:
            yield from self._another_seed(found)

    def _another_seed(self, other: Outcome) -> Iterator[Exposure]:
        """One seed that gives something else is enough: two of them may draw alike by chance."""
        self.tried.append(ANOTHER_SEED)
        same, ignored = True, {part.path for part in self._first.parts if part.seeded}
        for seed in _OTHER_SEEDS:
            found = other if seed == _OTHER_SEEDS[0] else self._run(self._attempt.with_seed(seed))
            same = same and found.ok and not difference(self._tool, self._first, found)
            ignored &= _ignored(self._first, found)
            if not same and not ignored:
                return
        if same:
            yield Exposure(
                ANOTHER_SEED, f"{pluralize(len(_OTHER_SEEDS), 'other seed')} gave the same"
            )
        elif ignored:
            path = " > ".join(min(ignored))
            yield Exposure(ANOTHER_SEED, f"its part {path} is seeded and gave the same")


def _ignored(one: Outcome, other: Outcome) -> set[tuple[str, ...]]:
    """Seeded parts that began in one state under two seeds, and did the same."""
    there = {part.path: part for part in other.parts}
    return {
        part.path
        for part in one.parts
        if part.seeded
        and (match := there.get(part.path)) is not None
        and (part.before, part.after, part.result) == (match.before, match.after, match.result)
    }
