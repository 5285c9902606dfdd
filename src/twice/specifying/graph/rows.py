"""The re-emission tables: if this changes, these are written anew, and the class breaks or does not.

A row is recognised by the keys that changed and, where several rows share a key, by how the value
moved. A row without keys is an event that no sheet shows; it is named by people.

Invariant: each row's id begins with the sheet whose change it is.

Source: the three tables of coordinated re-emission of the specification's seed document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from twice.specifying.graph import moves

Moved = Callable[[object, object], bool]


@dataclass(frozen=True, slots=True)
class Emission:
    """A sheet that is written anew.

    Args:
        sheet: its number; ``"*"`` for all that rest on the changed one, ``"cause"`` for the sheet that is found
            responsible.
        what: what of it.
        asks: the question on which it depends; "" when it always is.
    """

    sheet: str
    what: str
    asks: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table.

    Args:
        id: ``SHEET.word``.
        change: what changed, in words.
        keys: deciding keys whose change it is; () for an event.
        emits: what is written anew.
        breaks: whether the class breaks.
        asks: the question on which that depends; counted as yes until it is answered.
        moved: of two values of a key, whether this is how it moved.
    """

    id: str
    change: str
    keys: tuple[str, ...]
    emits: tuple[Emission, ...]
    breaks: bool
    asks: str = ""
    moved: Moved = moves.anyhow

    @property
    def sheet(self) -> str:
        """The number of the sheet that changed."""
        return self.id.partition(".")[0]


_E = Emission

_SPINE: Final = (
    Row("00.tier", "the tier", ("tier",), (_E("01", "the same tier"), _E("13", "the tier's justification")), True),
    Row(
        "01.class",
        "the determinism class",
        ("tier", "class", "scope", "axis", "predicate", "measure", "epsilon", "summary", "test", "seeds", "power",
         "subsystems", "vector", "tolerates", "closed_world", "contested", "component", "id",
         "class_breaking", "depends_on", "text"),
        (_E("*", "every tolerance"),),
        True,
    ),
    Row(
        "02.propagation",
        "how seeds reach what draws: another component, another rule",
        ("surface", "derivation", "names", "workers"),
        (
            _E("03", "a slot for the new generator"),
            _E("05", "a compare-point for it"),
            _E("06", "replay derives the new seed"),
            _E("12", "the vector of seed isolation"),
        ),
        True,
    ),
    Row(
        "03.hierarchy",
        "the hierarchy of generators",
        ("library", "slots", "shared"),
        (
            _E("02", "the derivation rule", "Does the rule by which seeds are derived change?"),
            _E("05", "how dense compare-points are"),
            _E("06", "replay of the new hierarchy"),
            _E("12", "the vector of seed isolation"),
        ),
        True,
    ),
    Row(
        "04.cadence",
        "how often snapshots are taken",
        ("cadence",),
        (_E("05", "how dense compare-points are"), _E("06", "how far back a step goes")),
        False,
    ),
    Row(
        "04.components",
        "what is tracked",
        ("components",),
        (_E("05", "the projection"), _E("06", "replay of the new state")),
        True,
    ),
    Row(
        "04.encoding",
        "the encoding of snapshots",
        ("strategy", "encoding"),
        (_E("05", "the digest"), _E("06", "how snapshots are read back"), _E("11", "the canonical form of deltas")),
        True,
        "Are old snapshots given up?",
    ),
    Row(
        "05.compare-points",
        "the set of compare-points",
        ("granularity", "projection", "emission"),
        (_E("06", "the replay loop emits them"), _E("11", "the bytes that are hashed")),
        False,
    ),
    Row(
        "06.capability",
        "what can be rewound or branched",
        ("operations",),
        (
            _E("04", "full snapshots where runs branch", "Is branching added?"),
            _E("12", "the property fork-and-converge"),
        ),
        True,
        "Is branching new?",
    ),
)  # fmt: skip

_CHANNELS: Final = (
    Row(
        "07.strategy",
        "a concurrency strategy",
        ("subsystems",),
        (
            _E("12", "schedule independence for A and C, tests of recorded schedules for B"),
            _E("13", "its cost"),
        ),
        True,
        moved=moves.cell("name", "strategy"),
    ),
    Row(
        "07.component",
        "another thread, process, actor or task",
        ("subsystems", "model"),
        (
            _E("12", "schedule independence for A and C, tests of recorded schedules for B"),
            _E("13", "its cost"),
        ),
        False,
        moved=moves.grew,
    ),
    Row(
        "07.trace-format",
        "the form of recorded schedules",
        ("trace_format",),
        (_E("06", "replay reads the new form"), _E("13", "its cost")),
        True,
    ),
    Row(
        "08.pin",
        "a library, a thread count, FMA, denormals",
        ("pins", "threads", "fma", "denormals", "reductions"),
        (
            _E("11", "the policy of hashing", "Does the precision change?"),
            _E("12", "the vector of replay equivalence"),
            _E("13", "its cost"),
        ),
        True,
    ),
    Row(
        "08.tolerance",
        "a tolerance",
        ("epsilon",),
        (_E("01", "the class"), _E("05", "the threshold"), _E("12", "what is asserted")),
        True,
    ),
    Row(
        "09.knob",
        "a switch, the driver, the collective algorithm, a kernel with atomics",
        ("knobs", "driver", "sku", "atomics", "multi_gpu"),
        (
            _E("11", "the policy of hashing", "Does the precision change?"),
            _E("12", "the vector of replay equivalence for each card"),
            _E("13", "its cost"),
        ),
        True,
    ),
    Row(
        "10.pattern",
        "how an effect is substituted",
        ("inventory",),
        (
            _E("06", "the wiring of the effects layer"),
            _E("12", "replay equivalence, with the effect's cursor"),
            _E("13", "its cost"),
        ),
        True,
        moved=moves.cell("what", "pattern"),
    ),
    Row(
        "10.effect",
        "another external effect",
        ("inventory",),
        (_E("06", "the effects layer"), _E("12", "a vector for it")),
        True,
        moved=moves.gained("what"),
    ),
    Row(
        "11.rule",
        "the encoding library or a rule of the canonical form",
        ("rule", "pins", "tensors", "delta", "lazy", "envelope"),
        (_E("04", "the bytes of snapshots"), _E("05", "digests"), _E("12", "vectors")),
        True,
    ),
    Row(
        "11.hashing",
        "the pattern of hashing: projection, Merkle, incremental",
        ("hashing", "hash"),
        (_E("05", "the digest at compare-points"), _E("06", "replay emits the same digests")),
        True,
    ),
)

_VERIFICATION: Final = (
    Row(
        "12.property",
        "another property",
        ("properties", "tests"),
        (),
        False,
        moved=moves.grew,
    ),
    Row(
        "12.generators",
        "broader generators",
        ("generators",),
        (),
        True,
        "Do they leave out what they drew before?",
    ),
    Row(
        "12.counterexample",
        "a property fails with a shrunk counterexample",
        (),
        (_E("cause", "what the counterexample is attributed to"),),
        True,
    ),
    Row(
        "13.relaxed",
        "a rule relaxed for speed",
        ("trades", "budget_percent", "boundary"),
        (_E("cause", "the rule that was relaxed"),),
        True,
    ),
    Row(
        "13.tier",
        "the tier promoted",
        ("justification",),
        (_E("*tier", "the sheets that the tier needs"),),
        True,
        "Is the tier promoted?",
    ),
)

ROWS: Final[tuple[Row, ...]] = (*_SPINE, *_CHANNELS, *_VERIFICATION)


def row_of(identifier: str) -> Row | None:
    """Give a row by its id."""
    return next((each for each in ROWS if each.id == identifier), None)


def rows_for(sheet: str, key: str, before: object, after: object) -> tuple[Row, ...]:
    """Give the rows that list how a key of a sheet moved; () when none does."""
    return tuple(
        row for row in ROWS if row.sheet == sheet and key in row.keys and row.moved(before, after)
    )
