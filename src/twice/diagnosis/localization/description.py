"""Turns a way back into a result: place, name, kind, both values, candidates.

For: everything a ``Located`` says beyond where the search ended. The values are asked for in one
more execution of each side; of a long list or an array the first item that differs is shown.

Not for: searching (``slicer``) or deciding (``locate``).

Invariant: a text shown as a value was read at the moment at which the path first differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from twice.diagnosis.localization.beginnings import Beginning, statement_start
from twice.diagnosis.localization.callables import DRAW, SEEDING, VARIABLE, WORLD, tags_of
from twice.diagnosis.localization.moments import Flow, Moments, Operation
from twice.diagnosis.localization.names import ITERATED, resolve
from twice.diagnosis.localization.observer import Observer
from twice.diagnosis.localization.result import Candidate, Located, Place, place_at
from twice.diagnosis.localization.slicer import INITIALIZERS
from twice.diagnosis.localization.source_facts import LineFacts, facts_at
from twice.diagnosis.tracing.paths import (
    FLOW,
    OBJECT,
    STREAMS,
    is_local,
    is_returned,
    plain,
    returned,
    subject,
    under,
)
from twice.diagnosis.tracing.trace import Shown
from twice.foundation.dataclass import dataclass

_LONG = 8  # items from which only the first that differs is shown
_LONG_TEXT = 60  # characters, likewise
_FIELDS_MAX = 6


@dataclass(frozen=True, slots=True)
class _Values:
    """What differs, as text, and how."""

    a: str
    b: str
    reordered: bool = False
    is_stream: bool = False
    walks_set: bool = False
    where: str = ""
    fields: tuple[str, ...] = ()


def same_statement(one: Operation, two: Operation) -> bool:
    """Whether two operations are lines of one statement."""
    if one.place.file != two.place.file:
        return False
    facts = facts_at(one.place)
    return one.place.line == two.place.line or facts.first <= two.place.line <= facts.last


def describe(
    chain: list[Beginning],
    candidates: tuple[Candidate, ...],
    observer: Observer,
    tracked: Sequence[str] | None,
    beside: Place | None,
    is_switched: bool,
    evidence: list[str],
    caveats: dict[str, None],
) -> Located:
    """Build the result of a way back whose last step is the operation.

    Args:
        chain: from the tracked difference to the operation.
        candidates: beginnings of all differences that never heal.
        observer: executes once more on each side for the values.
        tracked: names of the roots that are compared, or None.
        beside: an earlier difference that stays alive and was not followed, or None.
        is_switched: one side alone ran the operation, because of a variable of the environment.
        evidence: the observations so far; more are appended.
        caveats: the gaps in the observations.
    """
    leaf = chain[-1]
    operation, guard = leaf.operation, leaf.guard
    values = _values(leaf, observer)
    kind = _kind(leaf, values)
    passed = _tags_on_way(chain, observer.moments.a)
    own = facts_at(operation.place)
    draws = not {DRAW, SEEDING}.isdisjoint(own.tags)
    counts = own.kind == "AugAssign" or "next" in own.calls
    # A draw, and a count that seeds come from, last by themselves: they keep their own line.
    keeps = draws or (SEEDING in passed and counts)
    if guard is not None and kind != "stream position" and not keeps:
        branch = facts_at(guard.place)
        is_switch = leaf.other is None and VARIABLE in branch.tags
        if WORLD & set(branch.tags) and not is_switch:
            behind = place_at(operation.place)
            evidence.append(
                f"The branch reads the world; what differs first is behind it: {behind}."
            )
            operation, guard, kind = guard, None, "flow"
    differing = observer.differing(leaf.moment) or frozenset()
    evidence += _tell(leaf, values, differing)
    facts = facts_at(operation.place)
    return Located(
        place=place_at(operation.place),
        facts=facts,
        name=_name(leaf, facts) + values.where,
        kind=kind,
        value_a=values.a,
        value_b=values.b,
        before_window=leaf.before_window,
        untracked=_list_untracked(chain, tracked, observer),
        side="both" if operation is leaf.guard or leaf.guard is None else operation.side,
        thread=operation.lane,
        event=operation.index,
        guard=None if guard is None else place_at(guard.place),
        followed=tuple(place_at(begun.operation.place) for begun in chain),
        candidates=candidates,
        passed=passed,
        entered=_entered(chain),
        beside=beside,
        is_switched=is_switched,
        unseen=_list_unseen(operation, facts, observer, leaf.moment),
        evidence=tuple(evidence),
        caveats=tuple(sorted({**caveats, **observer.caveats})),
        executions=observer.executions,
    )


def _tell(leaf: Beginning, values: _Values, differing: frozenset[str]) -> list[str]:
    """Describe the observations at the operation, in sentences."""
    told = []
    if len(values.fields) > 1:
        told.append(f"Fields that differ then: {', '.join(values.fields[:_FIELDS_MAX])}.")
    if leaf.before_window:
        names = sorted(path for path in differing if not is_local(path)) or sorted(differing)
        told.append(
            f"{plain(leaf.path)} differs at the first event of the window: start earlier."
            f" Differing there: {', '.join(map(plain, names[:8]))}."
        )
    if leaf.other is not None:
        told.append(f"Side b ran something else there: {place_at(leaf.other.place)}.")
    return told


def list_candidates(found: list[Beginning], chain: list[Beginning]) -> tuple[Candidate, ...]:
    """Beginnings by place; those on the way back reach the tracked state."""
    on_way = {(begun.operation.place, begun.moment) for begun in chain}
    grouped: dict[tuple[Place, int, bool], list[Beginning]] = {}
    for begun in [*found, *chain]:
        key = (place_at(begun.operation.place), begun.moment, begun.before_window)
        grouped.setdefault(key, []).append(begun)
    rows = [
        Candidate(
            place,
            tuple(dict.fromkeys(each.path for each in begun)),
            moment,
            any((each.operation.place, moment) in on_way for each in begun),
            before,
        )
        for (place, moment, before), begun in grouped.items()
    ]
    rows.sort(key=lambda row: (row.moment, not row.before_window, row.place.file, row.place.line))
    return tuple(rows)


def _values(leaf: Beginning, observer: Observer) -> _Values:
    """Both values of the path, and what the line walks."""
    if leaf.path == FLOW:
        one_way, other_way = _describe_ways(leaf, observer.moments)
        return _Values(one_way, other_way)
    path, facts = subject(leaf.path), facts_at(leaf.operation.place)
    points = {side: observer.point(side, leaf.moment) for side in ("a", "b")}
    sample = observer.sample_at(leaf.moment)
    wanted = [path]
    if sample is not None:
        prefix = leaf.operation.prefix
        owners = (resolve(name, prefix, sample)[0] for name in facts.iterates)
        wanted += [owner for owner in owners if owner is not None and owner != path]
    shown = observer.show(points, tuple(wanted))
    one, two = (shown[side].get(path, Shown()) for side in points)
    text_a, text_b = one.text, two.text
    apart = find_first_cell(one, two)
    if apart is not None and (apart[2] > _LONG or max(len(text_a), len(text_b)) > _LONG_TEXT):
        # Of a long value only the item that differs first is shown; it is asked for by its index.
        items = f"{path}@{apart[0]}"
        of_item = observer.show(points, (items,))
        text_a, text_b = (
            _item_text(of_item[side].get(items), shown[side][path], apart) for side in points
        )
    inside = _find_parts(one, two) if text_a == text_b else []
    if inside:
        _, text_a, text_b = inside[0]
    return _Values(
        a=text_a,
        b=text_b,
        where=inside[0][0] if inside else "",
        fields=tuple(
            dict.fromkeys(re.split(r"[.\[]", where.removeprefix("."))[0] for where, _, _ in inside)
        ),
        reordered=one.unordered == two.unordered != b"",
        is_stream=leaf.path == STREAMS or "stream" in {one.kind, two.kind},
        walks_set=any(held.kind == "set" for name, held in shown["a"].items() if name != path)
        or _walks_returned_set(leaf.operation, facts, observer),
    )


def _describe_ways(leaf: Beginning, moments: Moments) -> Iterator[str]:
    """Describe what either side did next."""
    moment = moments.all[leaf.moment]
    for flow, index in ((moments.a, moment.a + 1), (moments.b, moment.b + 1)):
        place = flow.position(moment.lane, index)
        if place.event == "line":
            yield f"goes on at line {place.line}"
        else:
            yield _NEXT.get(place.event, "goes on in {}").format(place.function)


_NEXT = {"return": "leaves {}", "stop": "takes the compare-point"}


def _walks_returned_set(operation: Operation, facts: LineFacts, observer: Observer) -> bool:
    """Whether a line walks what a function of the user's returned to it, and that was a set."""
    flow, lane = observer.moments.a, operation.lane
    if operation.side != "a" or not any("(" in each for each in facts.iterates):
        return False
    start = statement_start(flow, operation)
    for index in flow.returns(lane, operation.depth + 1, start + 1, operation.index).tolist():
        place = flow.position(lane, index)
        name = place.function.rpartition(".")[2]
        if any(f"{name}(" in each for each in facts.iterates):
            path = returned(operation.depth + 1, place.function)
            held = observer.show({"a": (lane, index)}, (path,))["a"].get(path, Shown())
            return held.kind == "set"
    return False


def _item_text(item: Shown | None, whole: Shown, apart: tuple[int, int, int]) -> str:
    index, count, total = apart
    if item is None:  # in a trace that was written down, items have no texts of their own
        return f"{whole.text} ({count} of {total} differ, [{index}] first)"
    return f"[{index}] = {item.text} ({count} of {total} differ)"


def _tags_on_way(chain: list[Beginning], flow: Flow) -> tuple[str, ...]:
    """Kinds of callables on the lines that a difference went through after its operation.

    A constructor that ran on one of them is gone through whole: what it made came from all of it.
    """
    places = []
    for operation in (begun.operation for begun in chain[:-1]):
        places.append(operation.place)
        start = operation.index if operation.side == "b" else statement_start(flow, operation)
        places += [
            place
            for place, depth in flow.list_visited(operation.lane, start + 1, operation.index)
            if depth == operation.depth + 1 and place.function.endswith(INITIALIZERS)
        ]
    return tuple(sorted({tag for place in set(places) for tag in facts_at(place).tags}))


def _entered(chain: list[Beginning]) -> Place | None:
    """Return the line that first read a difference from the window's first event, or a branch."""
    inside = [begun for begun in chain if not begun.before_window]
    if not inside or len(inside) == len(chain):
        return None
    return place_at((inside[-1].guard or inside[-1].operation).place)


def _list_unseen(
    operation: Operation, facts: LineFacts, observer: Observer, moment: int
) -> tuple[str, ...]:
    """List the parts behind the names a statement reads that could not be observed."""
    sample = observer.sample_at(moment)
    if sample is None:
        return ()
    owners = (resolve(name, operation.prefix, sample)[0] for name in facts.reads)
    found = (told for owner in owners if owner for told in observer.list_opaque(owner, sample))
    return tuple(dict.fromkeys(found))


def _kind(leaf: Beginning, values: _Values) -> str:
    if leaf.path == FLOW:
        return "flow"
    if values.is_stream:
        return "stream position"
    if values.reordered or values.walks_set:
        return "order"
    return "value" if leaf.guard is None else "flow"


def _name(leaf: Beginning, facts: LineFacts) -> str:
    if is_returned(leaf.path) and facts.is_known:
        reads = [name for name in facts.reads if tags_of(name, arguments=0, is_method=False)]
        calls = [name for name in facts.calls if tags_of(name, arguments=1, is_method=True)]
        named = [*calls, *reads, *facts.calls[-1:]]
        return named[0] if named else plain(leaf.path)
    if plain(leaf.path) == ITERATED and facts.iterates:
        return facts.iterates[0]
    named_so = {STREAMS: "stream positions", FLOW: "the way on"}
    return named_so.get(leaf.path) or plain(leaf.path)


def _list_untracked(
    chain: list[Beginning], tracked: Sequence[str] | None, observer: Observer
) -> tuple[str, ...]:
    if tracked is None:
        return ()
    found: dict[str, None] = {}
    for begun in chain:
        path = begun.path
        if path in {STREAMS, FLOW} or is_local(path) or any(under(path, name) for name in tracked):
            continue
        component = re.split(r"[.\[]", path.removeprefix(OBJECT))[0]
        differing = observer.differing(begun.moment) or ()
        if path.startswith(OBJECT) and any(under(each, component) for each in differing):
            continue  # its state() shows the difference as well
        found[path] = None
    return tuple(found)


def find_first_cell(one: Shown, two: Shown) -> tuple[int, int, int] | None:
    """Index of the first item that differs, how many do, and of how many; None without items."""
    size = one.cell
    if not size or size != two.cell or len(one.cells) != len(two.cells):
        return None
    total = len(one.cells) // size
    apart = [
        index
        for index in range(total)
        if one.cells[index * size : (index + 1) * size]
        != two.cells[index * size : (index + 1) * size]
    ]
    return (apart[0], len(apart), total) if apart else None


def _find_parts(one: Shown, two: Shown) -> list[tuple[str, str, str]]:
    """Where two objects differ inside, the outer parts first, with both texts there."""
    held = {where: (digest, text) for where, digest, text in two.parts}
    known = {where for where, _, _ in one.parts}
    apart = []
    for where, digest, text in one.parts:
        other = held.get(where)
        if other is None:
            apart.append((where, text, "nothing"))
        elif other[0] != digest and other[1] != text:
            apart.append((where, text, other[1]))
    return apart + [(where, "nothing", text) for where, _, text in two.parts if where not in known]
