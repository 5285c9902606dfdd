"""The audits of a project: the facts of its files put together, each place with its zone and its owner.

Invariant: the lists depend on the text of the files, the catalogue and the zones alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from twice.checker.analysis.generators import StreamOrigin, StreamOwner, UseKind
from twice.checker.audits.streams import RandomUse, settle_owners
from twice.checker.findings import Reach
from twice.checker.housekeeping import UNREADABLE, unread_reason
from twice.checker.policy import Policy, Zone
from twice.foundation.channels import Channel

if TYPE_CHECKING:
    from twice.checker.driver import Checked

FACTS: Final = "facts.gather"
"""The name under which the facts of a file are kept."""


@dataclass(frozen=True, slots=True)
class WorldRead:
    """A question to the world.

    Args:
        path: the file.
        line: from 1.
        function: dotted path of the function; "" at the top of the file.
        kind: clock, entropy, environment, files, listing, network, processes, input, host, process, declared.
        call: the call, as it is written, shortened.
        is_recorded: whether it goes through the effects layer.
        use: where the answer ends.
        ends: the same as the end of a sentence.
        reach: how far the answer was seen to travel.
        zone: what part of the project the place is.
    """

    path: str
    line: int
    function: str
    kind: str
    call: str
    is_recorded: bool
    use: str
    ends: str
    reach: Reach
    zone: str

    @property
    def is_gap(self) -> bool:
        """Whether the core computes with an answer that no replay can give again."""
        return not self.is_recorded and self.zone == "core" and self.reach is not Reach.QUIET


@dataclass(frozen=True, slots=True)
class NotedPlace:
    """A place with a few words, and the channel that it is evidence of, if any."""

    path: str
    line: int
    what: str
    channel: str = ""


@dataclass(frozen=True, slots=True)
class AuditedFile:
    """The audits of one file.

    Args:
        path: as outputs show it.
        zone: what part of the project it is.
        uses: where it draws, makes or seeds, before the other files were looked at.
        reads: where it reads the world.
        evidence: where it touches which channel.
        present: what it certainly does that a specification asks about.
        dynamic: where code is made or imported by a computed name.
        native: where code that is not Python is loaded.
        imports: what it imports by full name, without relative imports.
    """

    path: str
    zone: str
    uses: tuple[RandomUse, ...]
    reads: tuple[WorldRead, ...]
    evidence: tuple[NotedPlace, ...]
    present: tuple[NotedPlace, ...]
    dynamic: tuple[NotedPlace, ...]
    native: tuple[NotedPlace, ...]
    imports: tuple[NotedPlace, ...]

    @property
    def packages(self) -> list[str]:
        """The top-level packages that it imports, sorted."""
        return sorted({each.what.partition(".")[0] for each in self.imports})


@dataclass(frozen=True)
class Audit:
    """The audits of all files.

    Args:
        files: in the order given.
        unread: files that could not be read, with the reason.
        facts: the facts of each file as the rules gathered them.
    """

    files: tuple[AuditedFile, ...]
    unread: tuple[NotedPlace, ...]
    facts: Mapping[str, Mapping[str, Any]]

    @classmethod
    def from_check(
        cls, checked: Checked, policy: Policy, shown: Callable[[str], str] = str
    ) -> Audit:
        """Read the audits from a check.

        Args:
            checked: the results and facts of all files.
            policy: says what part of a project each file is.
            shown: gives a path as outputs show it.
        """
        files, unread = [], []
        every = checked.facts()
        facts = {shown(path): every.get(path, {}) for path in checked.results}
        for path, result in checked.results.items():
            name, zone = shown(path), policy.zone(path)
            fault = next((each for each in result.found if each.rule == UNREADABLE), None)
            if fault is not None:
                unread.append(NotedPlace(name, fault.place.line, unread_reason(fault)))
                continue
            stretches = result.remarks.boundaries if zone is Zone.CORE else ()
            files.append(_audit_file(name, zone, facts[name], stretches))
        return cls(tuple(files), tuple(unread), facts)

    @cached_property
    def uses(self) -> tuple[RandomUse, ...]:
        """Every place that draws, makes or seeds, with its owner over all files."""
        from twice.checker.analysis.project_names import ProjectNames
        from twice.checker.analysis.seed_flow import SeedFlow
        from twice.checker.analysis.streams import StreamSeeding
        from twice.checker.rule import ProjectFacts

        zones = {each.path: Zone(each.zone) for each in self.files}
        facts = {path: self.facts[path] for path in zones}
        by_name = ProjectFacts.by_name(facts, zones.__getitem__, ProjectNames.from_facts(facts))
        flow = SeedFlow(by_name["seed_facts.gather"].outside_tests())
        notes = {f"{each.path}:{each.at[0]}": each.note for each in flow.list_unreached()}
        seeded = StreamSeeding(by_name["streams.gather"]).seeded
        return settle_owners([each for file in self.files for each in file.uses], seeded, notes)

    @property
    def reads(self) -> tuple[WorldRead, ...]:
        """Every question to the world."""
        return tuple(each for one in self.files for each in one.reads)


def _audit_file(
    path: str,
    zone: Zone,
    every: Mapping[str, Any],
    stretches: Sequence[tuple[int, int]],
) -> AuditedFile:
    facts = every.get(FACTS) or {}

    def zone_at(line: int) -> str:
        inside = any(first <= line <= last for first, last in stretches)
        return Zone.BOUNDARY.value if inside else zone.value

    def list_notes(key: str) -> tuple[NotedPlace, ...]:
        return tuple(
            NotedPlace(path, line, what, *said) for line, what, *said in facts.get(key, ())
        )

    uses = []
    for line, function, kind, call, stream, (owner, made, *rest) in facts.get("draws", ()):
        where = f"{path}:{made}" if made else ""
        origin = StreamOrigin(StreamOwner(owner), made, *rest)
        place = (path, line, function, UseKind(kind), call, stream, origin, where)
        uses.append(RandomUse(*place, zone_at(line)))
    reads = []
    for line, function, kind, call, is_recorded, use, ends, reach in facts.get("reads", ()):
        said = (line, function, kind, call, is_recorded, use, ends, Reach(reach))
        reads.append(WorldRead(path, *said, zone_at(line)))
    world = [NotedPlace(path, each.line, each.call, Channel.EFFECTS) for each in reads]
    drawn = [
        NotedPlace(path, each.line, each.call, _CHANNELS.get(each.kind, Channel.SEEDS))
        for each in uses
    ]
    more = [
        each
        for each in list_notes("evidence")
        if each.channel != Channel.DIVERGENCE or zone is Zone.TESTS
    ]
    return AuditedFile(
        path,
        zone.value,
        tuple(uses),
        tuple(reads),
        (*drawn, *world, *more),
        (*list_notes("present"), *world),
        list_notes("dynamic"),
        list_notes("native"),
        list_notes("imports"),
    )


_CHANNELS: Final = {UseKind.DRAWS: Channel.RNG}
