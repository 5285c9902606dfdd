"""Every source of the world that a run touched, in five classes.

*Eliminated*: pinned, so that it cannot differ. *Recorded*: read through the effects layer and served
in replay. *Repeated*: processes that run again in a replay. *Assumed*: read beside the layer and taken
to be the same elsewhere. *Unsupported*: reached beside the layer, so that a replay cannot show its
outcome; such a run does not pass, unless the user allowed the source by name.

Not for: deciding what an operation is, and whose (``channels.py``).

Invariant: a source is reported once, when it is first met, and a name that stands in a record keeps its meaning.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from twice.errors import UsageError
from twice.foundation.dataclass import dataclass

if TYPE_CHECKING:
    from twice.recorder.setup import Setup

Class = Literal["eliminated", "recorded", "repeated", "assumed", "unsupported"]


class Coverage(NamedTuple):
    """The class of a source that the layer below Python sees, and why it has it."""

    kind: Class
    why: str


SIGNAL: Final = "process.signal"
"""Covered where it goes to a process of the run that runs again."""
WITHIN_RUN: Final = (
    "both ends belong to processes of the run, which run again in a replay; in which order they are served "
    "is not recorded"
)
# Not covered: what C code and such processes read of clocks, entropy and the network.
_FILES = Coverage("recorded", "files of code in any language are recorded, and compared in replay")
_PROCESSES = Coverage(
    "repeated",
    "the process runs again in a replay, in the same copy of the files; what it reads of clocks and "
    "entropy, and the order in which processes run, is not recorded",
)
_LOADED = Coverage(
    "assumed",
    "what C code that is called by hand does to files is recorded, and compared in replay; what it asks "
    "clocks and entropy for is not",
)
_COVERED: Final[Mapping[str, Coverage]] = {
    **dict.fromkeys(("files.change", "files.mmap", "files.open", "files.sqlite3", "files.write"), _FILES),
    **dict.fromkeys(("process.fork", "process.spawn", "process.start", SIGNAL), _PROCESSES),
    "native.load": _LOADED,
}  # fmt: skip
SOURCES: Final = (
    "clock.numpy", "entropy.device", "entropy.torch", "files.change", "files.device", "files.mmap",
    "files.native", "files.open", "files.sqlite3", "files.write", "native.load", "network.accept",
    "network.connect", "network.descriptor", "network.listen", "network.native", "network.resolve",
    "network.send", "process.descriptor", "process.exec", "process.fork", "process.signal",
    "process.spawn", "process.start", "system.log", "threads.unowned",
)  # fmt: skip
"""Names of the sources that are not recorded, as ``--allow`` takes them."""
_TALKING: Final = (
    "library", "native.load", "process.exec", "process.fork", "process.spawn", "process.start",
    *(name for name in SOURCES if name.startswith("network.")),
)  # fmt: skip
"""Sources that may use the network: where one is allowed, a replay keeps its network."""
_FAMILIES = (*dict.fromkeys(name.partition(".")[0] for name in SOURCES), "library")
"""What is written before the first dot; ``library.NAME`` stands for one that talks by itself."""


@dataclass
class Row:
    """One source that a run touched; its fields are the keys of its JSON form, but for ``kind``."""

    source: str  # ``family.operation``
    kind: Class
    count: int  # how often it was met; 0 where that is not counted
    first: str  # ``file:line`` in the user's code where it was first met; empty where none is known
    why: str  # what puts it into its class
    remedy: str = ""  # what to do about it; empty unless unsupported
    allowed: bool = False  # whether the user allowed it by name

    def to_json(self) -> dict[str, object]:
        """Return the form in the record's ending and in ``twice verify --json``."""
        return {"class" if name == "kind" else name: value for name, value in vars(self).items()}


class Inventory:
    """What was touched beside the effects layer."""

    def __init__(self) -> None:
        self.allowed: Collection[str] = ()  # names of sources, or of their families
        # Called with a row when an unsupported source that was not allowed is first met.
        self.tell: Callable[[Row], None] | None = None
        self._rows: dict[str, Row] = {}

    def count_unsupported(self, source: str, place: str, why: str, remedy: str = "") -> Row:
        """Count an operation that reached the world beside the layer; its row."""
        is_new = source not in self._rows
        row = self.count(source, "unsupported", place, why, remedy)
        if is_new:
            row.allowed = allows(self.allowed, source)
            if self.tell is not None and not row.allowed:
                self.tell(row)
        return row

    def count(self, source: str, kind: Class, place: str, why: str, remedy: str = "") -> Row:
        """Count an operation of some class; its row, which keeps the class of the first one."""
        row = self._rows.setdefault(source, Row(source, kind, 0, place, why, remedy))
        row.count += 1
        row.first = row.first or place
        return row

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
    inventory: Inventory, manifest: Mapping[str, object], setup: Setup, environ: Mapping[str, str]
) -> list[dict[str, object]]:
    """Return every row of a run: pinned, recorded, assumed and unsupported sources, by class and name.

    ``manifest`` has the reads through the layer, as ``EffectLayer.manifest`` gives them.
    """
    pinned = _describe_pinned(setup, environ)
    rows = [Row(name, "eliminated", 0, "", why) for name, why in sorted(pinned.items())]
    for kind, asker in (("strict", "the program"), ("lenient", "libraries for themselves")):
        counts = manifest.get(kind)
        assert isinstance(counts, Mapping), "a manifest counts reads by name"
        why = f"recorded and served in replay: asked by {asker}"
        rows += [Row(str(name), "recorded", int(n), "", why) for name, n in counts.items()]
    return [row.to_json() for row in (*rows, *inventory.rows())]


def _describe_pinned(setup: Setup, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the sources whose value is fixed by the record, and their settings, by name."""
    found = {"random.globals": "generators of random and numpy begin from the run's seed"}
    if environ.get("PYTHONHASHSEED", "random") != "random":
        found["hash.seed"] = f"PYTHONHASHSEED={environ['PYTHONHASHSEED']}"
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    for source, names in (
        ("threads.numeric", threads),
        ("locale", ("LC_ALL", "LANG", "LC_CTYPE")),
        ("timezone", ("TZ",)),
    ):
        if values := [f"{name}={environ[name]}" for name in names if name in environ]:
            found[source] = ", ".join(values)
    if setup.clock is not None:
        found["clock"] = f"a function of the tick: {setup.clock}"
    return found


def covered_sources(*, is_recording: bool, was_supervised: bool) -> Mapping[str, Coverage]:
    """Return the sources that need not be refused here, and why.

    While recording, the supervisor sees what any process does to files. In replay the same code runs in a copy of
    the files, and so do the processes that it starts. A source is covered in replay only when it was in recording.
    """
    # Commands import this module for its names, and load nothing of the kernel's.
    from twice.recorder.kernel.confinement import current

    confinement = current()
    covers = confinement.is_watching if is_recording else confinement.is_world and was_supervised
    return _COVERED if covers else {}


def allows(allowed: Collection[str], source: str) -> bool:
    """Return whether a source was allowed, by its name or its family's."""
    return source in allowed or source.partition(".")[0] in allowed


def may_talk(allowed: Collection[str]) -> bool:
    """Return whether an allowed source may use the network, so that a replay must keep it."""
    by_itself = any(name.startswith("library.") for name in allowed)
    return by_itself or any(allows(allowed, source) for source in _TALKING)


def parse_allowed(names: Iterable[str]) -> tuple[str, ...]:
    """Parse the names of sources that the user allows, and sort them; a name that is none is E-USE-001."""
    found = tuple(sorted(set(names)))
    for name in found:
        is_library = name.startswith("library.") and name != "library."
        if name not in SOURCES and name not in _FAMILIES and not is_library:
            raise UsageError(
                f"{name!r} is no source of the world that can be allowed.",
                f"Expected a family ({', '.join(_FAMILIES)}) or one of {', '.join(SOURCES)}.",
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


def find_numpy_clock_reads(paths: Iterable[Path]) -> Iterator[str]:
    """Yield ``file:line`` of every ``datetime64("now")`` and ``datetime64("today")`` in some files.

    numpy reads the clock in C then, through a type that cannot be replaced, and raises no event: it is looked for
    in the source. Not covered: a text that is put together, and packages that are installed.
    """
    for path in paths:
        try:
            source = path.read_bytes()
            tree = ast.parse(source) if b"datetime64" in source else ast.Module([], [])
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Name(id="datetime64") | ast.Attribute(attr="datetime64"),
                    args=[ast.Constant(value="now" | "today"), *_],
                ):
                    yield f"{path}:{node.lineno}"
