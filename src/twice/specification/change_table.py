"""The table of changes: which sheet rests on which, and what follows when a key of a sheet changes.

A row is recognised by the keys that changed and, where several rows share a key, by how the value moved. It says
what is written anew, whether the class breaks, and which checks of the gate are run again.

Invariant: each row's id begins with the sheet whose change it is, and the graph has no circle.

Source: dependency graph, tables of coordinated re-emission and update workflows of the specification's seed document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

ALL_CHECKS: Final = tuple(range(1, 18))
CHECKS_OF_SHEET: Final[Mapping[str, tuple[int, ...]]] = {
    "00": ALL_CHECKS, "01": ALL_CHECKS, "02": (3,), "03": (4,), "04": (5, 8), "05": (6,), "06": (7,), "07": (11,),
    "08": (12,), "09": (13,), "10": (14,), "11": (15,), "12": (16,), "13": (17,), "99": (8, 9),
}  # fmt: skip
"""The checks that judge a sheet: they are run again after any change of it."""

EDGES: Final[tuple[tuple[str, str], ...]] = (
    ("01", "00"), ("02", "01"), ("03", "02"), ("04", "03"), ("05", "04"), ("06", "04"),
    *((channel, "01") for channel in ("07", "08", "09", "10", "11")),
    *(("12", number) for number in ("02", "03", "04", "05", "06", "07")),
    *(("13", f"{number:02}") for number in range(1, 13)),
    *(("99", f"{number:02}") for number in range(14)),
)  # fmt: skip
"""A sheet, and one that it rests on."""


def list_dependents(number: str) -> tuple[str, ...]:
    """Give the sheets that rest directly on one."""
    return tuple(above for above, below in EDGES if below == number)


def list_downstream(number: str) -> tuple[str, ...]:
    """Give every sheet that rests on one, at any distance, in order."""
    found: set[str] = set()
    waiting = [number]
    while waiting:
        new = {*list_dependents(waiting.pop())} - found
        found |= new
        waiting += new
    return tuple(sorted(found))


def is_any_change(before: object, after: object) -> bool:
    """Whatever way a value moved; one that was not there is None."""
    del before, after
    return True


def _has_rows(before: object, after: object) -> bool:
    """Whether any row stands there now."""
    del before
    return bool(after)


def _has_no_rows(before: object, after: object) -> bool:
    return not _has_rows(before, after)


def has_only_additions(before: object, after: object) -> bool:
    """Whether everything that stood there still does, and something was added."""
    if not isinstance(after, list):
        # A text such as a description of generators: nobody can tell broader from narrower.
        return False
    left = list(after)
    for each in before if isinstance(before, list) else []:
        if each not in left:
            return False
        left.remove(each)
    return bool(left)


def _has_new_cell(name: str, column: str) -> Callable[[object, object], bool]:
    """Give a test whether a row, known by one column, has another value in a second."""

    def is_moved(before: object, after: object) -> bool:
        then, now = _rows_by(before, name), _rows_by(after, name)
        return any(then[each].get(column) != now[each].get(column) for each in then if each in now)

    return is_moved


def _has_new_row(name: str) -> Callable[[object, object], bool]:
    """Give a test whether there is a row, known by one column, that was not there."""
    return lambda before, after: not (_rows_by(after, name).keys() <= _rows_by(before, name).keys())


def _rows_by(value: object, name: str) -> dict[object, dict[str, object]]:
    rows = value if isinstance(value, list) else []
    return {row.get(name): row for row in rows if isinstance(row, dict)}


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One row of the table.

    Args:
        id: ``SHEET.word``.
        change: what changed, in words.
        keys: deciding keys whose change it is.
        emits: for each sheet that is written anew what of it; ``"*"`` for all that rest on the changed one.
        checks: checks of the gate that are run again, beside those of the sheet.
        breaks: whether the class breaks, unless the sheet's own ``class_breaking`` says otherwise.
        moved: of two values of a key, whether this is how it moved.
    """

    id: str
    change: str
    keys: tuple[str, ...]
    emits: Mapping[str, str]
    checks: tuple[int, ...] = ()
    breaks: bool = True
    moved: Callable[[object, object], bool] = is_any_change

    @property
    def sheet(self) -> str:
        """The number of the sheet that changed."""
        return self.id.partition(".")[0]


_BY_PRECISION: Final = "the policy of hashing, if the precision changes"
_SCHEDULES: Final = "schedule independence for A and C, tests of recorded schedules for B"
_TIER: Final = "what the other tier asks for"

ROWS: Final = (
    ChangeRow(
        "00.tier", "the tier", ("tier",),
        {"01": "the same tier", "13": "the tier's justification", **dict.fromkeys(("04", "05", "07", "12"), _TIER)},
    ),
    ChangeRow(  # No promise is about where the code is, and all checks read the new place.
        "00.sources", "where the code is", ("sources",), {}, breaks=False
    ),
    ChangeRow(
        "01.class", "the determinism class",
        ("tier", "class", "scope", "axis", "predicate", "measure", "epsilon", "summary", "test", "seeds", "power", "alpha",
         "subsystems", "vector", "tolerates", "closed_world", "contested", "component", "id",
         "class_breaking", "depends_on", "text"),
        {"*": "every tolerance"},
    ),
    ChangeRow(
        "02.propagation", "how seeds reach what draws: another component, another rule",
        ("surface", "derivation", "names", "workers"),
        {"03": "a slot for the new generator", "05": "a compare-point for it", "06": "replay derives the new seed",
         "12": "the vector of seed isolation"},
        (3, 4, 6, 16),
    ),
    ChangeRow(
        "03.hierarchy", "the hierarchy of generators", ("library", "slots", "shared"),
        {"02": "the derivation rule, if it changes", "05": "how dense compare-points are",
         "06": "replay of the new hierarchy", "12": "the vector of seed isolation"},
        (3, 4, 6, 16),
    ),
    ChangeRow(
        "04.cadence", "how often snapshots are taken", ("cadence",),
        {"05": "how dense compare-points are", "06": "how far back a step goes"}, breaks=False,
    ),
    ChangeRow(
        "04.components", "what is tracked", ("components",),
        {"05": "the projection", "06": "replay of the new state"},
    ),
    ChangeRow(  # The class holds where old snapshots are not given up: class_breaking of the sheet says so.
        "04.encoding", "the encoding of snapshots", ("strategy", "encoding"),
        {"05": "the digest", "06": "how snapshots are read back", "11": "the canonical form of deltas"},
        (5, 6, 7, 15),
    ),
    ChangeRow(
        "05.compare-points", "the set of compare-points", ("granularity", "projection", "emission"),
        {"06": "the replay loop emits them", "11": "the bytes that are hashed"}, (6,), breaks=False,
    ),
    ChangeRow(  # The class holds where branching is not new.
        "06.capability", "what can be rewound or branched", ("operations",),
        {"04": "full snapshots where runs branch, if branching is new", "12": "the property fork-and-converge"},
        (5, 7, 16),
    ),
    ChangeRow(
        "07.strategy", "a concurrency strategy", ("subsystems",), {"12": _SCHEDULES, "13": "its cost"}, (11,),
        moved=_has_new_cell("name", "strategy"),
    ),
    ChangeRow(
        "07.component", "another thread, process, actor or task", ("subsystems", "model"),
        {"12": _SCHEDULES, "13": "its cost"}, (11,), breaks=False, moved=has_only_additions,
    ),
    ChangeRow(
        "07.trace-format", "the form of recorded schedules", ("trace_format",),
        {"06": "replay reads the new form", "13": "its cost"},
    ),
    ChangeRow(
        "08.pin", "a library, a thread count, FMA, denormals",
        ("pins", "threads", "fma", "denormals", "reductions"),
        {"09": "the pins of the GPU", "11": _BY_PRECISION, "12": "the vector of replay equivalence", "13": "its cost"},
        (12, 13, 15),
    ),
    ChangeRow(
        "08.tolerance", "a tolerance", ("epsilon",),
        {"01": "the class", "05": "the threshold", "12": "what is asserted"},
    ),
    ChangeRow(
        "09.knob", "a switch, the driver, the collective algorithm, a kernel with atomics",
        ("knobs", "driver", "sku", "atomics", "multi_gpu"),
        {"08": "the pins of arithmetic", "11": _BY_PRECISION,
         "12": "the vector of replay equivalence for each card", "13": "its cost"},
        (12, 13, 15),
    ),
    ChangeRow(
        "10.pattern", "how an effect is substituted", ("inventory",),
        {"06": "the wiring of the effects layer", "12": "replay equivalence, with the effect's cursor",
         "13": "its cost"},
        (14, 16), moved=_has_new_cell("what", "pattern"),
    ),
    ChangeRow(
        "10.effect", "another external effect", ("inventory",),
        {"06": "the effects layer", "12": "a vector for it"}, (14, 16), moved=_has_new_row("what"),
    ),
    ChangeRow(
        "11.rule", "the encoding library or a rule of the canonical form",
        ("rule", "pins", "tensors", "delta", "lazy", "envelope"),
        {"04": "the bytes of snapshots", "05": "digests", "08": "the pins of arithmetic", "09": "the pins of the GPU",
         "12": "vectors"},
        (12, 13, 15),
    ),
    ChangeRow(
        "11.hashing", "the pattern of hashing: projection, Merkle, incremental", ("hashing", "hash"),
        {"05": "the digest at compare-points", "06": "replay emits the same digests"},
    ),
    ChangeRow(
        "12.property", "another property", ("properties", "tests"), {}, breaks=False, moved=has_only_additions
    ),
    ChangeRow(  # The class holds where they still draw what they drew before.
        "12.generators", "broader generators", ("generators",), {},
    ),
    ChangeRow(  # Whoever relaxes a rule of another sheet changes that sheet, too.
        "13.relaxed", "a rule relaxed for speed", ("trades", "budget_percent", "boundary"), {}
    ),
    ChangeRow(
        "13.relaxation", "a rule relaxed for a part of the system", ("relaxations",), {}, moved=_has_rows
    ),
    ChangeRow(
        "13.held", "no rule relaxed any more", ("relaxations",), {}, breaks=False, moved=_has_no_rows
    ),
    ChangeRow("13.reevaluate", "what brings the costs up again", ("reevaluate",), {}, breaks=False),
    ChangeRow(  # The class holds where the tier stays.
        "13.tier", "the tier promoted", ("justification",),
        dict.fromkeys(("04", "05", "07", "08", "09", "10", "11", "12"), _TIER), ALL_CHECKS,
    ),
)  # fmt: skip
