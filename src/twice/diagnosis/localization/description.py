"""Turns a way back into a result: place, name, kind, both values, candidates.

For: everything a ``Located`` says beyond where the search ended. The values are asked for in one
more execution of each side; of a long list or an array the first item that differs is shown.

Not for: searching (``slicing``) or deciding (``locating``).

Invariant: a text shown as a value was read at the moment at which the path first differs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from twice.diagnosis.localization.beginnings import Beginning, statement_start
from twice.diagnosis.localization.callables import DRAW, SEEDING, VARIABLE, WORLD, tags_of
from twice.diagnosis.localization.located import Candidate, Located, Place
from twice.diagnosis.localization.moments import Flow, Moments, Operation
from twice.diagnosis.localization.observer import Observer
from twice.diagnosis.localization.reading_lines import LineFacts, line_facts
from twice.diagnosis.localization.resolving import ITERATED, resolve
from twice.diagnosis.localization.slicer import CONSTRUCTOR
from twice.diagnosis.tracing.paths import (
    FLOW,
    OBJECT,
    STREAMS,
    frame_prefix,
    is_local,
    is_returned,
    plain,
    returned,
    subject,
    under,
)
from twice.diagnosis.tracing.shortvalues import find_parts, first_difference
from twice.diagnosis.tracing.trace import Shown

_LONG = 8  # items from which only the first that differs is shown
_LONG_TEXT = 60  # characters, likewise
_FIELD = re.compile(r"\.?[^.\[]*")  # how a part of an object begins: its attribute
_FIELDS_MAX = 6


@dataclass(frozen=True, slots=True)
class _Values:
    """What differs, as text, and how."""

    a: str
    b: str
    reordered: bool
    is_stream: bool
    walks_set: bool
    where: str = ""
    fields: tuple[str, ...] = ()


def place_of(operation: Operation) -> Place:
    """The line of an operation with its source."""
    at = operation.place
    facts = line_facts(at.file, at.line)
    return Place(at.file, at.line, at.function, facts.code if facts else None)


def at(place: Place) -> str:
    """A place as text."""
    code = f": {place.code}" if place.code else ""
    return f"{place.file}:{place.line} in {place.function}{code}"


def same_statement(one: Operation, two: Operation) -> bool:
    """Whether two operations are lines of one statement."""
    if one.place.file != two.place.file:
        return False
    facts = line_facts(one.place.file, one.place.line)
    return one.place.line == two.place.line or (
        facts is not None and facts.first <= two.place.line <= facts.last
    )


def describe(
    chain: list[Beginning],
    candidates: tuple[Candidate, ...],
    observer: Observer,
    moments: Moments,
    tracked: Sequence[str] | None,
    beside: Place | None,
    is_switched: bool,
    evidence: list[str],
    caveats: dict[str, None],
) -> Located:
    """The result for a way back whose last step is the operation.

    Args:
        chain: from the tracked difference to the operation.
        candidates: beginnings of all differences that never heal.
        observer: executes once more on each side for the values.
        moments: the paired events.
        tracked: names of the roots that are compared, or None.
        beside: an earlier difference that stays alive and was not followed, or None.
        is_switched: one side alone ran the operation, because a variable of the environment said so.
        evidence: what was observed so far; more is appended.
        caveats: what was not seen.
    """
    leaf = chain[-1]
    operation, guard = leaf.operation, leaf.guard
    values = _values(leaf, observer, moments)
    kind = _kind(leaf, values)
    passed = _tags_on_way(chain, moments.a)
    keeps = _draws(operation) or (SEEDING in passed and _counts(operation))
    if guard is not None and kind != "stream position" and not keeps:
        branch = line_facts(guard.place.file, guard.place.line)
        is_switch = leaf.other is None and branch is not None and VARIABLE in branch.tags
        if branch is not None and WORLD & set(branch.tags) and not is_switch:
            behind = at(place_of(operation))
            evidence.append(
                f"The branch reads the world; what differs first is behind it: {behind}."
            )
            operation, guard, kind = guard, None, "flow"
    differing = observer.differing(leaf.moment) or frozenset()
    evidence += _tell(leaf, values, differing)
    place = place_of(operation)
    facts = line_facts(operation.place.file, operation.place.line)
    return Located(
        file=place.file,
        line=place.line,
        function=place.function,
        code=place.code,
        name=_name(leaf, facts) + values.where,
        kind=kind,
        value_a=values.a,
        value_b=values.b,
        paths=tuple(sorted(differing)),
        before_window=leaf.before_window,
        untracked=_list_untracked(chain, tracked, observer),
        side="both" if operation is leaf.guard or leaf.guard is None else operation.side,
        thread=operation.lane,
        event=operation.index,
        guard=None if guard is None else place_of(guard),
        followed=tuple(place_of(begun.operation) for begun in chain),
        candidates=candidates,
        calls=facts.calls if facts else (),
        tags=facts.tags if facts else (),
        iterates=facts.iterates if facts else (),
        seeds=facts.seeds if facts else (),
        passed=passed,
        entered=_entered(chain),
        beside=beside,
        is_switched=is_switched,
        unseen=_unseen(operation, facts, leaf, observer, moments),
        evidence=tuple(evidence),
        caveats=tuple(sorted({**caveats, **observer.caveats})),
        noise=tuple(sorted(observer.noise)),
        non_reproducing="",
        executions=observer.executions,
    )


def _tell(leaf: Beginning, values: _Values, differing: frozenset[str]) -> list[str]:
    """What was observed at the operation, in sentences."""
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
        told.append(f"Side b ran something else there: {at(place_of(leaf.other))}.")
    return told


def candidates_of(found: list[Beginning], chain: list[Beginning]) -> tuple[Candidate, ...]:
    """Beginnings by place; those on the way back reach the tracked state."""
    on_way = {(begun.operation.place, begun.moment) for begun in chain}
    grouped: dict[tuple[Place, int, bool], list[str]] = {}
    reaches: dict[tuple[Place, int, bool], bool] = {}
    for begun in [*found, *chain]:
        key = (place_of(begun.operation), begun.moment, begun.before_window)
        paths = grouped.setdefault(key, [])
        if begun.path not in paths:
            paths.append(begun.path)
        here = (begun.operation.place, begun.moment) in on_way
        reaches[key] = reaches.get(key, False) or here
    return tuple(
        Candidate(place, tuple(paths), moment, reaches[place, moment, before], before)
        for (place, moment, before), paths in sorted(grouped.items(), key=_by_moment)
    )


def _values(leaf: Beginning, observer: Observer, moments: Moments) -> _Values:
    """Both values of the path, and what the line walks."""
    if leaf.path == FLOW:
        return _Values(*_ways(leaf, moments), reordered=False, is_stream=False, walks_set=False)
    moment, path = moments.all[leaf.moment], subject(leaf.path)
    points = {"a": (moment.lane, moment.a), "b": (moment.lane, moment.b)}
    facts = line_facts(leaf.operation.place.file, leaf.operation.place.line)
    sample = observer.sample("a", points["a"])
    wanted = [path]
    if facts is not None and sample is not None:
        prefix = frame_prefix(leaf.operation.depth, leaf.operation.place.function)
        owners = (resolve(name, prefix, sample)[0] for name in facts.iterates)
        wanted += [owner for owner in owners if owner is not None and owner != path]
    shown = observer.show(points, tuple(wanted))
    one, two = (shown[side].get(path, Shown()) for side in points)
    text_a, text_b = one.text, two.text
    apart = first_difference(one, two)
    if apart is not None and (apart[2] > _LONG or max(len(text_a), len(text_b)) > _LONG_TEXT):
        index = apart[0]
        items = f"{path}@{index}"
        of_item = observer.show(points, (items,))
        text_a, text_b = (
            _item_text(of_item[side].get(items), shown[side][path], apart) for side in points
        )
    inside = find_parts(one, two) if text_a == text_b else []
    if inside:
        _, text_a, text_b = inside[0]
    return _Values(
        a=text_a,
        b=text_b,
        where=inside[0][0] if inside else "",
        fields=tuple(dict.fromkeys(_name_field(where) for where, _, _ in inside)),
        reordered=one.unordered == two.unordered != b"",
        is_stream=leaf.path == STREAMS or "stream" in {one.kind, two.kind},
        walks_set=any(held.kind == "set" for name, held in shown["a"].items() if name != path)
        or _walks_returned_set(leaf.operation, facts, observer, moments),
    )


def _name_field(where: str) -> str:
    found = _FIELD.match(where)
    return "" if found is None else found[0].removeprefix(".")


def _ways(leaf: Beginning, moments: Moments) -> tuple[str, str]:
    """What either side did next."""
    moment = moments.all[leaf.moment]
    told = []
    for flow, index in ((moments.a, moment.a + 1), (moments.b, moment.b + 1)):
        place = flow.position(moment.lane, index)
        told.append(
            f"goes on at line {place.line}"
            if place.event == "line"
            else _NEXT.get(place.event, "goes on in {}").format(place.function)
        )
    return told[0], told[1]


_NEXT = {"return": "leaves {}", "stop": "takes the compare-point"}


def _walks_returned_set(
    operation: Operation, facts: LineFacts | None, observer: Observer, moments: Moments
) -> bool:
    """Whether a line walks what a function of the user's returned to it, and that was a set."""
    flow, lane = moments.a, operation.lane
    if operation.side != "a" or facts is None or not any("(" in each for each in facts.iterates):
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


def _draws(operation: Operation) -> bool:
    """Whether an operation draws, or takes a child seed, wherever the generator lives."""
    facts = line_facts(operation.place.file, operation.place.line)
    return facts is not None and not {DRAW, SEEDING}.isdisjoint(facts.tags)


def _counts(operation: Operation) -> bool:
    """Whether an operation moves a count on."""
    facts = line_facts(operation.place.file, operation.place.line)
    return facts is not None and (facts.kind == "AugAssign" or "next" in facts.calls)


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
            if depth == operation.depth + 1 and place.function.endswith(CONSTRUCTOR)
        ]
    places = list(dict.fromkeys(places))
    read = [line_facts(place.file, place.line) for place in places]
    return tuple(sorted({tag for facts in read if facts is not None for tag in facts.tags}))


def _entered(chain: list[Beginning]) -> Place | None:
    """The line that first read a difference which was there at the first event, a branch included."""
    inside = [begun for begun in chain if not begun.before_window]
    if not inside or len(inside) == len(chain):
        return None
    return place_of(inside[-1].guard or inside[-1].operation)


def _unseen(
    operation: Operation,
    facts: LineFacts | None,
    leaf: Beginning,
    observer: Observer,
    moments: Moments,
) -> tuple[str, ...]:
    """What hangs on the names that a statement reads, and could not be looked into."""
    moment = moments.all[leaf.moment]
    sample = observer.sample("a", (moment.lane, moment.a))
    if facts is None or sample is None:
        return ()
    prefix = frame_prefix(operation.depth, operation.place.function)
    owners = [owner for name in facts.reads if (owner := resolve(name, prefix, sample)[0])]
    found = (told for owner in owners for told in observer.list_opaque(owner, sample))
    return tuple(dict.fromkeys(found))


def _kind(leaf: Beginning, values: _Values) -> str:
    if leaf.path == FLOW:
        return "flow"
    if values.is_stream:
        return "stream position"
    if values.reordered or values.walks_set:
        return "order"
    return "value" if leaf.guard is None else "flow"


def _name(leaf: Beginning, facts: LineFacts | None) -> str:
    if is_returned(leaf.path) and facts is not None:
        reads = [name for name in facts.reads if tags_of(name, arguments=0, is_method=False)]
        calls = [name for name in facts.calls if tags_of(name, arguments=1, is_method=True)]
        named = [*calls, *reads, *facts.calls[-1:]]
        return named[0] if named else plain(leaf.path)
    if plain(leaf.path) == ITERATED and facts is not None and facts.iterates:
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


def _by_moment(
    item: tuple[tuple[Place, int, bool], list[str]],
) -> tuple[int, bool, str, int]:
    (place, moment, before), _ = item
    return moment, not before, place.file, place.line
