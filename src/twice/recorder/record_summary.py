"""A record in short: the facts that a notebook shows of it, and the command that follows.

Nothing is executed, and no state is decoded; the whole of the file is not checked.

Invariant: the same record has the same summary.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from twice.errors import TwiceError
from twice.foundation.html_summary import format_html
from twice.foundation.printable import pluralize
from twice.recorder.config import format_settings
from twice.recorder.record_form import describe_ending, describe_parent

if TYPE_CHECKING:
    from twice.recorder.runrecord import RunRecord


def summarize_record(record: RunRecord) -> str:
    """Return a record as HTML; the error in its place where it was closed, or is damaged."""
    ending = describe_ending(record.ending if record.complete else None)
    exit_code = 0 if ending == "completed" else 2
    try:
        headline = (
            f"{record.path.name}: {record.setup.program}, seed {record.seed.value}, "
            f"{pluralize(record.ticks, 'tick')}"
        )
        return format_html(ending, exit_code, headline, _list_facts(record), next_command(record))
    except TwiceError as error:
        return format_html(error.id, 2, error.happened, [("do", error.remedy)])


def _list_facts(record: RunRecord) -> Iterator[tuple[str, str]]:
    ending = record.ending or {}
    if exception := ending.get("exception"):
        frames = exception.get("frames") or [{}]
        yield "exception", f"{exception['type']}: {exception['message']}"
        yield "raised at", f"{frames[-1].get('file')}:{frames[-1].get('line')}"
    yield "record", str(record.path)
    yield "program", str(record.setup.program)
    if record.parent is not None:
        yield "parent", describe_parent(record.parent)
    yield "seed", str(record.seed.value)
    if record.config:
        yield "config", ", ".join(format_settings(record.config))
    yield "predicate", record.setup.predicate.sentence()
    yield "compare-points", f"{len(record.reader.points):,}"
    yield "snapshots", f"{record.reader.snapshot_count:,}"
    if components := ending.get("components"):
        yield "components", ", ".join(components)
    if streams := ending.get("streams"):
        yield "streams", ", ".join(streams)
    yield from (("caveat", each) for each in ending.get("caveats", ()))


def next_command(record: RunRecord) -> str:
    """Return the command that goes on from here: verify a whole record, close a torn one."""
    path = shlex.quote(str(record.path))
    if record.complete:
        return f"twice verify {path}"
    return f"twice migrate {path} -o {shlex.quote(str(record.path.with_suffix('.closed.twice')))}"
