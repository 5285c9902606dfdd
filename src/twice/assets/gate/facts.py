"""What rules judge: everything that was seen of one asset, and what is known of all of them.

Invariant: nothing here looks at the disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from twice.assets.gate.row import Row, Status, clipped
from twice.assets.log.io import Examined, Problem
from twice.assets.log.models import Asset, DeterminismLog

PRODUCER: Final = "producer"
EMPTY: Final = Examined(DeterminismLog(), ())


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of the file of an asset.

    Args:
        path: from the folder that was judged; not that of the log when the file was renamed.
        file_sha256: of its bytes.
        measured: the whole of it measured now, where that was asked for or the bytes changed.
        trouble: why it could not be measured.
    """

    path: str
    file_sha256: str
    measured: Asset | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What was seen of one asset with its log.

    Args:
        name: path of the asset from the folder that was judged.
        log_path: path of the sidecar; "" where there is none.
        trouble: why the sidecar could not be read.
        examined: the log, and what is wrong with its document.
        log_digest: of its canonical text; "" where neither checkpoint nor index names the log.
        seen: the file; None where it is not there.
        inputs: of the recipe's inputs by path: their sha256 now, or None where they are not there.
        others: paths of other logs about the same payload.
        same_id: paths of other logs of the same id.
        listed: the digest under which the work unit's checkpoint names the log; "" where it does not;
            None where there is no checkpoint.
        indexed: the digest under which the store's index has it; None where it has none of its id.
        broken: what is wrong with the revision that it supersedes; "" where nothing is.
        records: of the run records that evidence names by path and that are there: their sha256.
    """

    name: str
    log_path: str
    trouble: str = ""
    examined: Examined = EMPTY
    log_digest: str = ""
    seen: Seen | None = None
    inputs: Mapping[str, str | None] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    same_id: tuple[str, ...] = ()
    listed: str | None = None
    indexed: str | None = None
    broken: str = ""
    records: Mapping[str, str] = field(default_factory=dict)

    @property
    def log(self) -> DeterminismLog:
        """The log as far as it could be read."""
        return self.examined.log

    @property
    def owner(self) -> str:
        """The role that made the asset."""
        producer = self.log.producer
        return (producer.role if producer is not None else None) or PRODUCER

    def green(self, check: str, evidence: str) -> Row:
        """Give a row that holds."""
        return Row(self.name, check, Status.GREEN, clipped(evidence))

    def red(self, check: str, evidence: str, fix: str, owner: str = "") -> Row:
        """Give a row that does not."""
        row = (clipped(evidence), clipped(fix), owner or self.owner)
        return Row(self.name, check, Status.RED, *row)

    def yellow(self, check: str, evidence: str, fix: str, owner: str = "") -> Row:
        """Give a row that holds under a condition."""
        row = (clipped(evidence), clipped(fix), owner or self.owner)
        return Row(self.name, check, Status.YELLOW, *row)


def faulty(facts: Facts, pointer: str) -> bool:
    """Whether something at or below a pointer is missing or wrong, and has its own row."""
    return any(
        each.pointer == pointer or each.pointer.startswith(f"{pointer}/")
        for each in facts.examined.problems
    )


def problems(facts: Facts) -> Iterator[Problem]:
    """Give what is missing or wrong in the document."""
    yield from facts.examined.problems


def value_of(found: Any) -> Any:
    """Give a value; None for a reason, or where nobody said anything."""
    from twice.assets.log.block import NotApplicable

    return None if isinstance(found, NotApplicable) else found
