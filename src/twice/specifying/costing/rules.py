"""The rules of determinism, and how each is switched off to see what it costs: data.

A rule names the sheet that answers for it, and what a process reads back of itself that differs when the rule
is off: a switch that nobody obeyed measured nothing.

Invariant: a rule has a switch, or others to be held against, or it stands in ``NOT_SWITCHED`` with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from twice.foundation.digests import Algorithm
from twice.recording.cadence import Cadence
from twice.recording.redaction.policy import RULES as REDACTIONS
from twice.recording.redaction.policy import Policy
from twice.specifying.costing.making import Making, Switch


@dataclass(frozen=True, slots=True)
class Other:
    """Another way to keep a rule, held against the declared one.

    Args:
        name: as people write it on the command line.
        switch: what sets it.
    """

    name: str
    switch: Switch


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Args:
        name: how sheet 13 calls it.
        artifact: the number of the sheet that answers for it.
        what: what it does, in a few words.
        off: what stands in its place when it is off.
        switch: what sets it off; none for a rule that only has others.
        seen: what the process reads back that differs when it is off.
        others: other ways to keep it.
        kind: ``whole`` for a rule of whole programs alone; "" for every program.
    """

    name: str
    artifact: str
    what: str
    off: str
    switch: Switch = field(default_factory=Switch)
    seen: tuple[str, ...] = ()
    others: tuple[Other, ...] = ()
    kind: str = ""

    def speaks_of(self, making: Making) -> bool:
        """Whether it is a rule of programs like this one."""
        return self.kind != "whole" or making.setup.program.whole


@dataclass(frozen=True, slots=True)
class Unswitched:
    """A rule that cannot be off in any run.

    Args:
        name: how sheet 13 calls it.
        artifact: the sheet that answers for it.
        why: the reason, after "unmeasured because".
    """

    name: str
    artifact: str
    why: str


RULES: Final = (
    Rule(
        "shared generators",
        "03",
        "the generators that everybody shares are seeded and are part of the state",
        "they begin where the machine's entropy puts them",
        Switch(parts=("generators",)),
        ("shared generators",),
    ),
    Rule(
        "snapshots",
        "04",
        "the whole state is kept at the declared cadence",
        "no snapshot",
        Switch(policies={"cadence": Cadence("none")}),
        ("snapshots",),
        (
            Other("--snapshots tick", Switch(policies={"cadence": Cadence("tick", 1)})),
            Other("--strategy full", Switch(policies={"strategy": "full"})),
            Other("--strategy delta", Switch(policies={"strategy": "delta"})),
            Other("--strategy event-sourced", Switch(policies={"strategy": "event-sourced"})),
        ),
    ),
    Rule(
        "compare-points",
        "05",
        "every component's state is digested at the declared points",
        "no point, not even at the start and the end",
        Switch(parts=("points",)),
        ("points",),
        (
            Other("--compare tick", Switch(policies={"granularity": "tick"})),
            Other("--compare decision", Switch(policies={"granularity": "decision"})),
            Other("--compare snapshot", Switch(policies={"granularity": "snapshot"})),
        ),
    ),
    Rule(
        "library steps",
        "05",
        "steps of known libraries are ticks of a whole program",
        "one tick for the whole program",
        Switch(policies={"auto_points": False}),
        ("auto points",),
        kind="whole",
    ),
    Rule(
        "output captured",
        "05",
        "what is printed is read back, written down and compared",
        "it is printed, and that is all",
        Switch(making=("captured",)),
        ("output",),
    ),
    Rule(
        "record written",
        "06",
        "what is observed is chained, compressed and written",
        "it is observed and dropped",
        Switch(making=("written",)),
        ("record",),
    ),
    Rule(
        "one numeric thread",
        "08",
        "BLAS and OpenMP compute with the declared number of threads",
        "as many threads as the libraries choose on this machine",
        Switch(
            variables=(
                "*_NUM_THREADS",
                "*_MAXIMUM_THREADS",
                "*_MAX_THREADS",
                "OMP_THREAD_LIMIT",
                "*_DYNAMIC",
            )
        ),
        ("numeric threads",),
    ),
    Rule(
        "effects recorded",
        "10",
        "reads of the world go through the layer and are written down",
        "the program reads the world by itself",
        Switch(parts=("reads",)),
        ("reads",),
    ),
    Rule(
        "back channels watched",
        "10",
        "operations that pass by the layer are noticed and named",
        "nobody looks",
        Switch(parts=("watch",)),
        ("watch",),
    ),
    Rule(
        "files",
        "10",
        "of files that are read, what the policy says is kept",
        "--files none",
        Switch(policies={"files": "none"}),
        ("files",),
        (
            Other("--files digest", Switch(policies={"files": "digest"})),
            Other("--files contents", Switch(policies={"files": "contents"})),
        ),
    ),
    Rule(
        "secrets blanked",
        "10",
        "what looks secret is blanked before it is written",
        "every rule of redaction is off",
        Switch(policies={"redaction": Policy(off=tuple(sorted(REDACTIONS)))}),
        ("redaction",),
    ),
    Rule(
        "hash seed",
        "10",
        "sets of text have the order of one declared hash seed",
        "another order in every process",
        Switch(variables=("PYTHONHASHSEED",)),
        ("hash seed",),
    ),
    Rule(
        "locale",
        "10",
        "one locale",
        "that of the machine",
        Switch(variables=("LANG", "LANGUAGE", "LC_*")),
        ("locale",),
    ),
    Rule(
        "time zone",
        "10",
        "one time zone",
        "that of the machine",
        Switch(variables=("TZ",)),
        ("time zone",),
    ),
    Rule(
        "digest",
        "11",
        "every digest of the record is made by the declared algorithm",
        "",
        seen=("digest",),
        others=(
            Other("--digest blake3", Switch(policies={"algorithm": Algorithm.BLAKE3})),
            Other("--digest sha256", Switch(policies={"algorithm": Algorithm.SHA256})),
            Other("--digest xxh3_128", Switch(policies={"algorithm": Algorithm.XXH3_128})),
        ),
    ),
)

NOT_SWITCHED: Final = (
    Unswitched(
        "sub-seeds by name",
        "02",
        "a program takes its generators through it, so that no run is without it",
    ),
    Unswitched(
        "schedule of threads and tasks",
        "07",
        "twice does not schedule them; a design that does is measured in the program itself",
    ),
    Unswitched(
        "arithmetic beyond threads",
        "08",
        "twice sets no precision, order or library; a program that does is measured by running it without",
    ),
    Unswitched(
        "deterministic kernels",
        "09",
        "twice sets no switch of a GPU; a program that does is measured by running it without",
    ),
    Unswitched(
        "canonical form",
        "11",
        "digests and snapshots are made of it, and its cost is in theirs",
    ),
    Unswitched(
        "sealed replay",
        "06",
        "it acts when a record is verified, and what is measured here is recording",
    ),
)
