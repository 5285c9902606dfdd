"""Show that a suite can fail: plant each kind of fault in the user's own system and look who sees it.

Where nobody names a place, the first run offers them: its components, their fields, its streams. A kind
that fits nowhere is reported with the reason; it is never called caught.

Invariant: a fault counts as caught only where it was planted and the property that names it turned red.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from twice.errors import FaultMisplaced, NothingJudged
from twice.foundation.seeds import is_shared
from twice.recording.runrecord import RunRecord
from twice.testing import faults
from twice.testing.faults import KINDS, Fault, Kind
from twice.testing.laboratory import Laboratory
from twice.testing.mutations import MUTATIONS, get_part
from twice.testing.property_search import Program, ask, examples_of
from twice.testing.strategies import hypothesis
from twice.testing.subject import Subject, subject_of

Outcome = Literal["caught", "missed", "not applicable"]

BY: Final[Mapping[Kind, str]] = {
    "set order": "replay_equivalence",
    "extra draw": "seed_isolation",
    "one ulp": "replay_equivalence",
    "permuted rows": "replay_equivalence",
    "dropped field": "restore_idempotence",
    "stale value": "replay_equivalence",
    "wall clock": "replay_equivalence",
}
"""The property that must turn red for each kind."""

_EXAMPLES = 12
_LOOKED_AT = 6
_PLACES_MAX = 4


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of fault.

    Attributes:
        kind: what was planted.
        fault: where, or None where there is no place.
        property: the property that must turn red.
        outcome: whether it did.
        reason: what was seen, or why nothing could be.
    """

    kind: Kind
    fault: Fault | None
    property: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What a suite sees of what is planted."""

    subject: str
    rows: tuple[Row, ...]

    @property
    def missed(self) -> tuple[Row, ...]:
        """Faults that were planted and turned nothing red."""
        return tuple(row for row in self.rows if row.outcome == "missed")

    @property
    def inapplicable(self) -> tuple[Row, ...]:
        """Faults that have no place in this system."""
        return tuple(row for row in self.rows if row.outcome == "not applicable")

    def to_text(self) -> str:
        """A line for each fault."""
        lines = [f"planted faults in {self.subject}:"]
        for row in self.rows:
            what = row.kind if row.fault is None else str(row.fault)
            lines.append(f"  {what}: {row.outcome} by {row.property}: {row.reason}")
        return "\n".join(lines)


def prove_all(
    program: Program,
    config: Any,
    seeds: Any,
    *,
    faults: Sequence[Fault] | None,
    tick: int,
    **options: Any,
) -> Proof:
    """Plant faults one by one; see ``properties.prove``."""
    given = {name: options.pop(name) for name in ("predicate", "policies") if name in options}
    options.pop("examples", None)
    subject = subject_of(program, **given)
    rows = []
    if faults is not None:
        rows = [_tried([fault], subject, config, seeds, options) for fault in faults]
    else:
        state, streams = _offered(subject, config, seeds)
        for kind in KINDS:
            places = [place.at(tick) for place in _places(kind, state, streams)][:_PLACES_MAX]
            if places:
                rows.append(_tried(places, subject, config, seeds, options))
            else:
                reason = f"there is no {_WANTED[kind]} in {_described(state, streams)}"
                rows.append(Row(kind, None, BY[kind], "not applicable", reason))
    return Proof(subject.label, tuple(rows))


_WANTED: Final[Mapping[Kind, str]] = {
    "set order": "field with two rows that differ",
    "extra draw": "stream that can be drawn from",
    "one ulp": "floating-point field",
    "permuted rows": "field with two rows that differ",
    "dropped field": "field that changes during the run",
    "stale value": "field that changes during the run",
    "wall clock": "number or text",
}


def _tried(
    places: Sequence[Fault], subject: Subject, config: Any, seeds: Any, options: Mapping[str, Any]
) -> Row:
    """Plant a fault at the first of some places where it shows."""
    reasons = []
    fault = places[0]
    for fault in places:
        name, outcome, reason = BY[fault.kind], "missed", ""
        try:
            with fault:
                _, answer = ask(name, subject, config, seeds, examples=_EXAMPLES, **options)
        except (FaultMisplaced, NothingJudged) as error:
            outcome, reason = "not applicable", error.happened
        else:
            if answer.found is not None and answer.planted:
                return Row(fault.kind, fault, name, "caught", answer.found.broken.said)
            if answer.found is not None:
                said = answer.found.broken.said
                reason = f"{name} is red without the fault: {said}"
            elif answer.planted:
                reason = f"planted in {answer.judged} examples, and nothing differed"
            else:
                outcome = "not applicable"
                reason = f"nothing of it was to be seen in {answer.judged} examples"
        reasons.append((outcome, reason))
    outcome, reason = min(reasons, key=lambda each: each[0] != "missed")
    return Row(fault.kind, fault, BY[fault.kind], outcome, reason)  # type: ignore[arg-type]


def _offered(subject: Subject, config: Any, seeds: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """States of the first and the last snapshot of one run, and its streams."""
    drawn: list[Mapping[str, Any]] = []

    def take(example: Mapping[str, Any]) -> bool:
        drawn.append(example)
        return len(drawn) >= _LOOKED_AT

    library = hypothesis()
    settings = library.settings(
        max_examples=_LOOKED_AT, database=None, deadline=None, phases=[library.Phase.generate]
    )

    try:
        library.find(
            examples_of(config, seeds),
            take,
            settings=settings,
            random=random.Random(0),  # noqa: S311
        )
    except hypothesis("errors").HypothesisException:
        pass
    states: list[dict[str, Any]] = []
    streams: list[str] = []
    with Laboratory(()) as lab:
        for example in drawn:
            path = lab.record(subject.setup(example["config"], example["seed"]))
            with RunRecord.open(path) as record:
                count = len(record.reader.snapshots)
                if count > len(states):
                    states = [record.state_at(at) for at in range(count)]
                    streams = list((record.ending or {}).get("streams", {}))
            lab.discard(path)
    return states, streams


def _places(kind: Kind, states: list[dict[str, Any]], streams: list[str]) -> Iterator[Fault]:
    """Where a kind of fault could be planted, best first."""
    if kind == "extra draw":
        own = [name for name in streams if not is_shared(name)]
        yield from (faults.extra_draw(name) for name in own)
        return
    if not states:
        return
    latest = states[-1]
    for component in sorted(set(latest) - {"streams"}):
        for path in _fields(latest[component]):
            if _fits(kind, component, path, states):
                yield Fault(kind, component, path)


def _fields(state: Any, path: str = "") -> Iterator[str]:
    """Paths of a state, outer ones first; the state itself only where it has no keys."""
    if not isinstance(state, dict):
        yield path
        return
    for key in state:
        if isinstance(key, str) and "/" not in key:
            yield from _fields(state[key], f"{path}/{key}" if path else key)


def _fits(kind: Kind, component: str, path: str, states: list[dict[str, Any]]) -> bool:
    mutate = MUTATIONS.get(kind)
    if mutate is None:
        return _moves(component, path, states)
    try:
        mutate(get_part(states[-1][component], path), 1)
    except FaultMisplaced:
        return False
    return True


def _moves(component: str, path: str, states: list[dict[str, Any]]) -> bool:
    seen = []
    for state in states:
        try:
            seen.append(get_part(state.get(component), path))
        except FaultMisplaced:
            return False
    return any(not np.array_equal(np.asarray(seen[0]), np.asarray(one)) for one in seen[1:])


def _described(states: list[dict[str, Any]], streams: list[str]) -> str:
    if not states:
        return "a run without a tick"
    parts = [name for name in states[-1] if name != "streams"]
    return f"{', '.join(parts) or 'no component'} (streams: {', '.join(streams) or 'none'})"
