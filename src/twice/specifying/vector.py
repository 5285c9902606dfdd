"""The test vector: a record whose compare-points every run of the same code and seed gives again.

Invariant: the digest depends on what the run did and not on the file that holds it.
"""

from __future__ import annotations

from twice.recording.comparepoints import CHAIN_START
from twice.recording.runrecord import RunRecord


def vector_digest(record: RunRecord) -> str:
    """Give where a record's chain of compare-points ends, labelled."""
    last = record.reader.points.last
    return f"{record.reader.algorithm}:{(last.chain if last else CHAIN_START).hex()}"
