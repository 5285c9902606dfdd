"""Show that a suite can fail: plant each kind of fault in the user's own system and look who sees it.

Where nobody names a place, first runs offer them: their components, their fields, their streams. A kind
that fits nowhere is reported with the reason; it is never called caught.

Invariant: a fault counts as caught only where it was planted and the property that names it turned red.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

from twice.errors import FaultMisplaced, NothingJudged
from twice.foundation.encoding import encode
from twice.foundation.printable import pluralize
from twice.foundation.seeds import is_shared
from twice.recorder.runrecord import RunRecord
from twice.testing.counterexamples import Example
from twice.testing.executor import Executor, Subject, subject_of
from twice.testing.faults import KINDS, Fault, Kind
from twice.testing.planting import FAULT_KINDS, get_part
from twice.testing.property_search import Program, PropertySearch, draw_until, examples_of

Outcome = Literal["caught", "missed", "not applicable"]

_EXAMPLES: Final = 12
_SURVEYED: Final = 6
_PLACES_MAX: Final = 4


@dataclass(frozen=True, slots=True)
class ProofRow:
    """One kind of fault."""

    kind: Kind
    fault: Fault | None
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What a suite sees of what is planted."""

    subject: str
    rows: tuple[ProofRow, ...]

    @property
    def missed(self) -> tuple[ProofRow, ...]:
        """Faults that were planted and turned nothing red."""
        return tuple(row for row in self.rows if row.outcome == "missed")

    @property
    def inapplicable(self) -> tuple[ProofRow, ...]:
        """Faults that have no place in this system."""
        return tuple(row for row in self.rows if row.outcome == "not applicable")

    def to_text(self) -> str:
        """Write a line for each fault."""
        lines = [f"planted faults in {self.subject}:"]
        for row in self.rows:
            by = FAULT_KINDS[row.kind].caught_by
            lines.append(f"  {row.fault or row.kind}: {row.outcome} by {by}: {row.reason}")
        return "\n".join(lines)


def prove(
    program: Program,
    *,
    faults: Sequence[Fault] | None = None,
    tick: int = 1,
    config: Any = None,
    seeds: Any = None,
    predicate: Any = None,
    policies: Any = None,
    **options: Any,
) -> Proof:
    """Plant each kind of fault in the system, and show which property turns red.

    Args:
        program: as of ``properties.replay_equivalence``, and so are the errors.
        faults: what is planted; when None, one of each kind, where the system's first runs offer a
            place.
        tick: the tick at which faults are planted that twice places itself.
        config: as there, and so are the seeds, predicate, policies and other options.
        seeds: as there.
        predicate: as there.
        policies: as there.
        **options: as there.

    Returns:
        A row for each fault: caught, missed, or not applicable and why.
    """
    options = {**options, "config": config, "seeds": seeds, "examples": _EXAMPLES}
    subject = subject_of(program, predicate=predicate, policies=policies)
    if faults is not None:
        return Proof(subject.label, tuple(_plant([fault], subject, options) for fault in faults))
    states, streams = _survey(subject, config, seeds)
    parts = [name for name in states[-1] if name != "streams"] if states else []
    there = f"{', '.join(parts) or 'no component'} (streams: {', '.join(streams) or 'none'})"
    rows = []
    for kind in KINDS:
        places = list(islice(_list_places(kind, tick, states, streams), _PLACES_MAX))
        if places:
            rows.append(_plant(places, subject, options))
        else:
            reason = f"there is no {FAULT_KINDS[kind].place} in {there}"
            rows.append(ProofRow(kind, None, "not applicable", reason))
    return Proof(subject.label, tuple(rows))


def _plant(places: Sequence[Fault], subject: Subject, options: Mapping[str, Any]) -> ProofRow:
    """Plant a fault at the first of some places where it shows."""
    rows = []
    for fault in places:
        by = FAULT_KINDS[fault.kind].caught_by
        outcome: Outcome = "missed"
        try:
            with fault:
                search = PropertySearch(by, subject, **options).run()
        except (FaultMisplaced, NothingJudged) as error:
            rows.append(ProofRow(fault.kind, fault, "not applicable", error.happened))
            continue
        if search.found is not None and search.is_planted:
            return ProofRow(fault.kind, fault, "caught", search.found.violation.said)
        if search.found is not None:
            reason = f"{by} is red without the fault: {search.found.violation.said}"
        elif search.is_planted:
            reason = f"planted in {pluralize(search.judged, 'example')}, and nothing differed"
        else:
            outcome = "not applicable"
            reason = f"no trace of it in {pluralize(search.judged, 'example')}"
        rows.append(ProofRow(fault.kind, fault, outcome, reason))
    return next((row for row in rows if row.outcome == "missed"), rows[0])


def _survey(subject: Subject, config: Any, seeds: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the states of the longest of a few runs, before each of its ticks, and its streams."""
    drawn: list[Example] = []

    def take(example: Example) -> bool:
        drawn.append(example)
        return len(drawn) >= _SURVEYED

    draw_until(take, examples_of(config, seeds), _SURVEYED, is_fixed=True)
    states: list[dict[str, Any]] = []
    streams: list[str] = []
    with Executor(()) as executor:
        for example in drawn[:_SURVEYED]:
            path = executor.record(subject.setup(example.config, example.seed))
            with RunRecord.open(path) as record:
                count = len(record.reader.snapshots)
                if count > len(states):
                    states = [record.state_at(at) for at in range(count)]
                    streams = list((record.ending or {}).get("streams", {}))
    return states, streams


def _list_places(
    kind: Kind, tick: int, states: list[dict[str, Any]], streams: list[str]
) -> Iterator[Fault]:
    """Yield where a kind of fault could be planted, best first."""
    if kind == "extra draw":
        yield from (Fault(kind, stream=name, tick=tick) for name in streams if not is_shared(name))
        return
    change = FAULT_KINDS[kind].change
    latest = states[-1] if states else {}
    for component in sorted(set(latest) - {"streams"}):
        for path in _list_fields(latest[component]):
            try:
                if change is not None:
                    change(get_part(latest[component], path))
                elif len({encode(get_part(each.get(component), path)) for each in states}) == 1:
                    continue
            except FaultMisplaced:
                continue
            yield Fault(kind, component, path, tick=tick)


def _list_fields(state: Any, path: str = "") -> Iterator[str]:
    """Yield paths of a state, outer ones first; the state itself only where it has no keys."""
    if not isinstance(state, dict):
        yield path
        return
    for key in state:
        if isinstance(key, str) and "/" not in key:
            yield from _list_fields(state[key], f"{path}/{key}" if path else key)
