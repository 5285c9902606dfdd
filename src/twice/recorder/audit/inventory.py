"""Every source of the world that a run touched, in five classes.

*Eliminated*: pinned, so that it cannot differ. *Recorded*: read through the effects layer and served
in replay. *Repeated*: processes that run again in a replay. *Assumed*: read beside the layer and taken to be the same elsewhere. *Unsupported*: reached
beside the layer, so that a replay cannot show what would have come of it; such a run does not pass,
unless the user allowed the source by name.

Not for: deciding what an operation is (``backchannels.py``), nor whose (``places.py``).

Invariant: a source is told of once, when it is first met.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal

from twice.errors import UsageError
from twice.foundation.dataclass import dataclass
from twice.recorder.audit.names import FAMILIES, NETWORKED, SOURCES

Class = Literal["eliminated", "recorded", "repeated", "assumed", "unsupported"]


@dataclass
class Row:
    """One source that a run touched.

    Attributes:
        source: ``family.operation``.
        kind: its class.
        count: how often it was met; 0 where that is not counted.
        first: ``file:line`` in the user's code where it was first met; empty where none is known.
        why: what puts it into its class.
        remedy: what to do about it; empty unless unsupported.
        allowed: whether the user allowed it by name.
    """

    source: str
    kind: Class
    count: int
    first: str
    why: str
    remedy: str = ""
    allowed: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the form in the record's ending and in ``twice verify --json``."""
        return {
            "source": self.source,
            "class": self.kind,
            "count": self.count,
            "first": self.first,
            "why": self.why,
            "remedy": self.remedy,
            "allowed": self.allowed,
        }


class Inventory:
    """What was touched beside the effects layer.

    Attributes:
        allowed: names of sources, or of their families, that the user allowed.
        tell: called with a row when an unsupported source that was not allowed is first met.
    """

    def __init__(self) -> None:
        self.allowed: Collection[str] = ()
        self.tell: Callable[[Row], None] | None = None
        self._rows: dict[str, Row] = {}

    def unsupported(self, source: str, place: str, why: str, remedy: str = "") -> Row:
        """Count an operation that reached the world beside the layer; its row."""
        row = self._rows.get(source)
        if row is not None:
            row.count += 1
            row.first = row.first or place
            return row
        allowed = allows(self.allowed, source)
        row = self._rows[source] = Row(source, "unsupported", 1, place, why, remedy, allowed)
        if self.tell is not None and not allowed:
            self.tell(row)
        return row

    def assumed(self, source: str, place: str, why: str) -> None:
        """Count a read beside the layer that is taken to be the same elsewhere."""
        self.count(source, "assumed", place, why)

    def count(self, source: str, kind: Class, place: str, why: str) -> None:
        """Count an operation of some class."""
        row = self._rows.get(source)
        if row is None:
            self._rows[source] = Row(source, kind, 1, place, why)
        else:
            row.count += 1
            row.first = row.first or place

    def has(self, source: str) -> bool:
        """Return whether a source was met."""
        return source in self._rows

    def has_repeated(self) -> bool:
        """Return whether processes were met that run again in a replay."""
        return any(row.kind == "repeated" for row in self._rows.values())

    def rows(self) -> list[Row]:
        """Return the sources that were met, by name."""
        return [self._rows[name] for name in sorted(self._rows)]


def whole_inventory(
    inventory: Inventory, manifest: Mapping[str, object], pinned: Mapping[str, str]
) -> list[dict[str, object]]:
    """Return every row of a run: pinned, recorded, assumed and unsupported sources, by class and name.

    Args:
        inventory: what was touched beside the layer.
        manifest: reads through the layer, as ``EffectLayer.manifest`` gives them.
        pinned: what was eliminated, and how.
    """
    rows = [Row(name, "eliminated", 0, "", why) for name, why in sorted(pinned.items())]
    for kind in ("strict", "lenient"):
        counts = manifest.get(kind)
        assert isinstance(counts, Mapping), "a manifest counts reads by name"
        for name, count in counts.items():
            why = "recorded and served in replay"
            rows.append(Row(str(name), "recorded", int(count), "", f"{why}: {_ASKER[kind]}"))
    return [row.to_json() for row in (*rows, *inventory.rows())]


_ASKER = {"strict": "asked by the program", "lenient": "asked by libraries for themselves"}


def allows(allowed: Collection[str], source: str) -> bool:
    """Return whether a source was allowed, by its name or its family's."""
    return source in allowed or source.partition(".")[0] in allowed


def may_talk(allowed: Collection[str]) -> bool:
    """Return whether an allowed source may use the network, so that a replay must keep it."""
    by_itself = any(name.startswith("library.") for name in allowed)
    return by_itself or any(allows(allowed, source) for source in NETWORKED)


def parse_allowed(names: Iterable[str]) -> tuple[str, ...]:
    """Parse the names of sources that the user allows, and sort them.

    Raises:
        UsageError: E-USE-001, for a name that is none.
    """
    found = tuple(sorted(set(names)))
    for name in found:
        family = name.partition(".")[0]
        if name in SOURCES or name in FAMILIES or (family == "library" and name != "library."):
            continue
        raise UsageError(
            f"{name!r} is no source of the world that can be allowed.",
            f"Expected a family ({', '.join(FAMILIES)}) or one of {', '.join(SOURCES)}.",
            "The warning of twice record, and twice show RECORD, name the source.",
            name=name,
        )
    return found


def rows_of(inventory: object) -> list[Mapping[str, object]]:
    """Return the rows of a record's inventory.

    A record from a stranger may hold anything there; what is not of the expected form is left out.
    """
    rows = inventory if isinstance(inventory, list | tuple) else ()
    return [row for row in rows if isinstance(row, Mapping) and isinstance(row.get("source"), str)]


def is_repeated(row: Mapping[str, object]) -> bool:
    """Return whether a row of an inventory is about something that a replay repeats."""
    return row.get("class") == "repeated"


def is_process(row: Mapping[str, object]) -> bool:
    """Return whether a row is about processes that run again, not about connections within the run."""
    return is_repeated(row) and not str(row.get("source")).startswith("network.")


def unsupported_rows(inventory: object) -> list[Mapping[str, object]]:
    """Return the rows that are unsupported and were not allowed."""
    return [
        row
        for row in rows_of(inventory)
        if row.get("class") == "unsupported" and not row.get("allowed")
    ]


def in_words(row: Mapping[str, object]) -> str:
    """Describe one unsupported row in a sentence."""
    first = row.get("first")
    where = f" at {first}" if first else ""
    count = row.get("count")
    times = f", {count} times" if isinstance(count, int) and count > 1 else ""
    return f"{row.get('source')}{where}{times}: {row.get('why')}"
