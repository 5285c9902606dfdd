"""What two records say before anything is executed: are they runs of one input, and where do they part?

Reads logs only. First identity (seed, code, configuration, class, policies), then surroundings,
then the first compare-point whose judged columns differ, values with a tolerance included, and
whether the runs come together again.

Invariant: nothing is executed here; ten million points are compared in milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from twice.diagnosis.tracing.paths import FLOW, STREAMS
from twice.errors import RecordTorn
from twice.foundation.comparison import Tolerance, tolerance_from_json
from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import Predicate
from twice.foundation.encoding import decode
from twice.foundation.seeds import Seed
from twice.recorder.compare_points import VALUE, is_judged
from twice.recorder.components import RESERVED, SCHEDULE
from twice.recorder.record import first_difference, first_other_columns, is_same_content
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.replayer.outcome import Failure
from twice.replayer.preconditions import source_changes
from twice.replayer.record_consistency import require_consistent_points


@dataclass(frozen=True)
class InputDifference:
    """Something that makes two runs runs of different inputs.

    Attributes:
        what: ``seed``, ``config.n``, ``code swarm.py`` ...
        a: value on one side, as text.
        b: value on the other side.
    """

    what: str
    a: str
    b: str

    def to_json(self) -> dict[str, str]:
        """As an entry of ``input_differences``."""
        return {"what": self.what, "a": self.a, "b": self.b}


@dataclass(frozen=True)
class PointRef:
    """A compare-point in both logs."""

    index: int
    tick: int
    name: str

    def to_json(self) -> dict[str, object]:
        """As ``compare_point`` and ``last_agreement``."""
        return {"index": self.index, "tick": self.tick, "name": self.name}


@dataclass(frozen=True)
class LogDivergence:
    """Where two logs part.

    Attributes:
        at: the first point that differs, or None when none does.
        last_agreement: the point before it.
        columns: judged columns that differ there, sorted.
        within: how many points differ inside a tolerance.
        reconverges: whether the judged columns agree again later.
        shorter: the side whose log ended, when that is the difference.
    """

    at: PointRef | None
    last_agreement: PointRef | None
    columns: tuple[str, ...] = ()
    within: int = 0
    reconverges: bool = False
    shorter: str | None = None


class Identified(Protocol):
    """What knows its inputs: a record, or a trace file."""

    @property
    def setup(self) -> Setup:
        """Program, seed, configuration, class and policies."""
        ...

    @property
    def seed(self) -> Seed:
        """The master seed."""
        ...

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration."""
        ...

    @property
    def identity(self) -> dict[str, Any]:
        """The document that the record opens with."""
        ...

    @property
    def ending(self) -> dict[str, Any] | None:
        """How the run ended, or None when the record is torn."""
        ...


def code_differences(record: RunRecord) -> list[InputDifference]:
    """Source files that are not here as a record's program had them."""
    return [
        InputDifference(f"code {change.path}", change.recorded, change.now or "gone")
        for change in source_changes(record)
    ]


def substituted_inputs(*records: RunRecord) -> list[str]:
    """Names of the inputs that branches substituted."""
    names: list[str] = []
    for record in records:
        names += ((record.ending or {}).get("branch") or {}).get("substituted", [])
    return names


def input_differences(a: Identified, b: Identified) -> list[InputDifference]:
    """Differences of seed, configuration, code, class or policies, in a fixed order."""
    found = []
    if a.setup.seed != b.setup.seed:
        found.append(InputDifference("seed", str(a.seed.value), str(b.seed.value)))
    keys = sorted({*a.config, *b.config})
    found += [
        InputDifference(f"config.{key}", _given(a.config, key), _given(b.config, key))
        for key in keys
        if _given(a.config, key) != _given(b.config, key)
    ]
    if a.setup.program.function != b.setup.program.function:
        found.append(InputDifference("program", str(a.setup.program), str(b.setup.program)))
    if a.setup.program.arguments != b.setup.program.arguments:
        arguments = (str(a.setup.program.arguments), str(b.setup.program.arguments))
        found.append(InputDifference("arguments", *arguments))
    found += _code_differences(a, b)
    found += _rule_differences(a, b)
    return found


def _given(config: Mapping[str, Any], key: str) -> str:
    return repr(config[key]) if key in config else "(absent)"


def _code_differences(a: Identified, b: Identified) -> Iterator[InputDifference]:
    """Source files that both runs loaded, with other contents; files only one loaded are evidence."""
    files_a, files_b = _files(a), _files(b)
    entry_a, entry_b = a.identity["code"]["files"], b.identity["code"]["files"]
    # By content: a program that was renamed, or that lies elsewhere, is the same program.
    if list(entry_a.values()) != list(entry_b.values()):
        name = next(iter(entry_a), str(a.setup.program))
        was, now = next(iter(entry_a.values()), "(none)"), next(iter(entry_b.values()), "(none)")
        yield InputDifference(f"code {name}", was, now)
    for name in sorted({*files_a} & {*files_b} - {*entry_a}):
        if files_a[name] != files_b[name]:
            yield InputDifference(f"code {name}", files_a[name], files_b[name])


def _files(record: Identified) -> dict[str, str]:
    return {**record.identity["code"]["files"], **(record.ending or {}).get("files", {})}


def _rule_differences(a: Identified, b: Identified) -> Iterator[InputDifference]:
    if a.setup.predicate != b.setup.predicate:
        yield InputDifference("class", a.setup.predicate.sentence(), b.setup.predicate.sentence())
    policies_a: Any = a.setup.to_json()["policies"]
    policies_b: Any = b.setup.to_json()["policies"]
    for name in ("digest", "compare", "compare_errors", "auto_points"):
        one, two = policies_a.get(name, False), policies_b.get(name, False)
        if one != two:
            yield InputDifference(f"policy {name}", str(one), str(two))
    for name, number in sorted(a.identity["behaviours"].items()):
        other = b.identity["behaviours"].get(name)
        if other != number:
            yield InputDifference(f"rule {name}", str(number), str(other))


def list_components(a: RunRecord, b: RunRecord) -> tuple[str, ...]:
    """Names of the components of either run; of torn records, those that stood at the beginning."""
    names = set[str]()
    for record in (a, b):
        points = record.reader.points
        if record.ending is not None:
            names |= {*record.ending.get("components", {})}
        elif len(points):
            names |= {*points.point(0).digests} - {*RESERVED}
    return tuple(sorted(names))


def compare_logs(a: RunRecord, b: RunRecord) -> LogDivergence:
    """Where two logs part, judged by the recorded class and tolerances.

    Raises:
        RecordForeign: E-RECORD-002, for chains by which they part elsewhere than by their digests.
    """
    log_a, log_b = a.reader.points, b.reader.points
    first, columns = _find_judged_difference(a, b)
    # Values with a tolerance are in no digest, so both are looked through; the earlier one counts.
    within, beyond = _compare_tolerated(a, b, first)
    if beyond is not None and (first is None or beyond[0] <= first):
        columns = [beyond[1], *(columns if beyond[0] == first else ())]
        first = beyond[0]
    if first is None:
        return LogDivergence(None, None, within=within)
    shorter = None
    if first == min(len(log_a), len(log_b)):
        shorter = "a" if len(log_a) < len(log_b) else "b"
    return LogDivergence(
        at=point_ref(b if shorter == "a" else a, first),
        last_agreement=point_ref(a, first - 1),
        columns=tuple(sorted(columns)),
        within=within,
        reconverges=_reconverges(a, b, first),
        shorter=shorter,
    )


def _find_judged_difference(a: RunRecord, b: RunRecord) -> tuple[int | None, list[str]]:
    """Return the index and the columns of the first difference that digests or names of columns show.

    Chains are found by halves. They are over digests without the names of columns, they begin to differ where one run
    alone states a tolerance, and they may be forged. Where the logs say what the chains say, those need no proof.
    """
    log_a, log_b = a.reader.points, b.reader.points
    common = min(len(log_a), len(log_b))
    parted = first_difference(log_a, log_b)
    agreed = common if parted is None else parted
    columns = list_unequal_judged(a, b, agreed) if agreed < common else []
    if not is_same_content(log_a, log_b, agreed) or (agreed < common and not columns):
        for record in (a, b):
            require_consistent_points(record)
        judged = partial(is_judged, predicate=a.setup.predicate, tolerances={})
        at = first_other_columns(log_a, log_b, agreed, judged)
        for index in range(agreed, common) if at is None else (at,):
            if columns := list_unequal_judged(a, b, index):
                return index, columns
    elif columns:
        return agreed, columns
    return (None, []) if len(log_a) == len(log_b) else (common, ["(end)"])


def place_failure(
    record: RunRecord, failure: Failure, index: int, components: Collection[str]
) -> LogDivergence:
    """Return where an execution leaves its record, at an index that the record has, as of two logs."""
    columns = tuple(name for name in failure.columns if not name.startswith("("))
    return LogDivergence(
        at=PointRef(index, failure.tick, failure.name),
        last_agreement=point_ref(record, index - 1),
        columns=columns or tuple(sorted({*components, "streams"})),
    )


def point_ref(record: RunRecord, index: int) -> PointRef | None:
    """Return a point of a log, or None before the first."""
    if index < 0:
        return None
    point = record.reader.points.point(index)
    return PointRef(index, point.tick, point.name)


def list_unequal_judged(a: RunRecord, b: RunRecord, index: int) -> list[str]:
    """Columns of a point that differ, and that the class of the runs judges byte for byte.

    A tolerance counts where both runs have a value to compare.
    """
    one, two = a.reader.points.point(index), b.reader.points.point(index)
    if (one.name, one.tick) != (two.name, two.tick):
        return ["(order)"]
    tolerated_a, tolerated_b = (
        {name: tolerance_from_json(within) for _, name, within, _ in _values(record, index, index)}
        for record in (a, b)
    )
    tolerated = {name: tolerated_a[name] for name in tolerated_a.keys() & tolerated_b.keys()}
    return compare_digests(one.digests, two.digests, a.setup.predicate, tolerated)


def compare_digests(
    one: Mapping[str, bytes],
    two: Mapping[str, bytes],
    predicate: Predicate,
    tolerated: Mapping[str, Tolerance],
) -> list[str]:
    """Columns of a point whose digests differ, of those that a class judges by them, sorted."""
    # A value that the program compares by name stands alone; every class judges it.
    is_explicit = len(one) == 1
    return [
        name
        for name in sorted({*one, *two})
        if one.get(name) != two.get(name)
        and (is_judged(name, predicate, tolerated) or (is_explicit and name not in tolerated))
    ]


def _reconverges(a: RunRecord, b: RunRecord, index: int) -> bool:
    """Whether the last common points' judged columns agree."""
    last = min(len(a.reader.points), len(b.reader.points)) - 1
    if last <= index:
        return False
    return not list_unequal_judged(a, b, last) and _compare_tolerated(a, b, last, last)[1] is None


def _compare_tolerated(
    a: RunRecord, b: RunRecord, until: int | None, first: int = 0
) -> tuple[int, tuple[int, str] | None]:
    """Compare values with a tolerance up to a point: with those of both runs, where they have two.

    Returns:
        How many differ inside their tolerance, and point and column of the first that lies beyond.
    """
    within = 0
    values_b = _values(b, first)
    pending = next(values_b, None)
    for index, column, measure, value in _values(a, first):
        if until is not None and index > until:
            break
        # Both are in order of points and names. A value that one side alone has is compared by its digest.
        while pending is not None and (pending[0], pending[1]) < (index, column):
            pending = next(values_b, None)
        if pending is None or (pending[0], pending[1]) != (index, column):
            continue
        measures = [measure] if measure == pending[2] else [measure, pending[2]]
        verdicts = [tolerance_from_json(each).same(value, pending[3]) for each in measures]
        if not all(verdict.same for verdict in verdicts):
            return within, (index, column)
        within += any(verdict.distance for verdict in verdicts)
    return within, None


def _values(
    record: RunRecord, first: int = 0, last: int | None = None
) -> Iterator[tuple[int, str, Any, Any]]:
    """Yield index, column, tolerance and value of those points of a range that have any, in order."""
    rows: list[tuple[int, str, Any, Any]] = []
    point = -1
    for frame in record.reader.frames(kinds=[VALUE], first_point=first, last_point=last):
        if frame.point != point:
            yield from sorted(rows, key=lambda row: row[1])
            rows, point = [], frame.point
        fields: Any = decode(frame.payload)
        name, within, value = fields
        rows.append((frame.point, name, within, value))
    yield from sorted(rows, key=lambda row: row[1])


def require_whole(a: RunRecord, b: RunRecord) -> None:
    """Agreement of torn records says nothing about the part that is missing.

    Raises:
        RecordTorn: E-RECORD-003.
    """
    torn = [str(record.path) for record in (a, b) if not record.complete]
    if torn:
        raise RecordTorn(
            f"{' and '.join(torn)} is torn; as far as both records go, they agree.",
            "Expected two records that were closed, to say that the runs are the same.",
            "Record again, or look at what there is: twice show RECORD",
        )


def root_of_column(column: str, components: Collection[str]) -> str:
    """Return the root that shows the meaning of a differing column."""
    # The points themselves are not the same, or the steps; a component may have that name too.
    if column in {"(end)", "(order)"} or (column == SCHEDULE and column not in components):
        return FLOW
    if column == "streams":
        return STREAMS
    return column if column in RESERVED or column in components else "compared"
