"""The check that a record's compare-points agree with themselves: each root and chain is that of its digests.

A replay compares the digests of the columns alone. Chains are what two records are searched by, and roots are what
people read, so that a record with others would say something that no run has shown.

Not for: whether a run gave these digests, which only an execution shows.

Invariant: a record that twice wrote passes, whatever its class and tolerances.
"""

from __future__ import annotations

from twice.errors import RecordForeign
from twice.foundation.comparison import tolerance_from_json
from twice.foundation.digests import short_digest
from twice.recorder.compare_points import CHAIN_START, chain_link, is_judged
from twice.recorder.components import RESERVED
from twice.recorder.runrecord import RunRecord


def require_consistent_points(record: RunRecord) -> None:
    """Refuse a record in which the root or the chain of a compare-point is not that of its digests.

    Raises:
        RecordForeign: E-RECORD-002, naming the first such point.
    """
    short, chain = short_digest(record.setup.algorithm), CHAIN_START
    within = {
        name: tolerance_from_json(each)
        for name, each in (record.ending or {}).get("tolerances", {}).items()
    }
    judged = {
        name: is_judged(name, record.setup.predicate, within)
        for name in record.reader.points.columns()
    }
    for point in record.reader.points.iterate():
        chain = short(chain_link(chain, point.root, point.tick, point.name))
        root = short(b"".join(each for name, each in point.digests.items() if judged[name]))
        roots = {root}
        if not {*RESERVED} <= {*point.digests}:  # one compared value: judged by its own tolerance
            roots = {short(b""), short(b"".join(point.digests.values()))}
        if point.chain != chain or point.root not in roots:
            part = "chain" if point.root in roots else "root"
            raise RecordForeign(
                f"The {part} of compare-point {point.index} ({point.name} of tick {point.tick}) in {record.path} is "
                f"{getattr(point, part).hex()}, which is not the one of its digests.",
                "Expected the points of a run, each with the digest over its columns and over the points before it.",
                "Take the file from whoever recorded it, or record again.",
                path=str(record.path),
                index=point.index,
            )
