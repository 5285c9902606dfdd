"""List every place where code draws at random, or asks the world, and who owns it.

  twice audit seeds examples
  twice audit effects examples
  twice audit seeds examples --json

seeds: which stream owns each draw: a named stream of the run, a generator and the seed it was made
from, a process-wide stream, or nobody (an orphan). A generator whose seed is written into the
program, or is a default that a call relies on, is an orphan as well: the run's seed never reaches
it. effects: what is asked of the clock, entropy, environment, files, network, processes and host,
what becomes of it, and whether it goes through the effects layer; raw in the core, it is a gap.
Exit code 0 none, 1 orphans or gaps outside of tests, 2 wrong use, or none and a file that could not
be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from twice.cli.checked_project import SourceOptions, open_sources
from twice.cli.options import AsJson, argument, build_command
from twice.cli.output import align, tell
from twice.foundation.printable import printable

if TYPE_CHECKING:
    from twice.checker.audits.audit import WorldRead
    from twice.checker.audits.streams import RandomUse


@build_command
def command(
    what: Annotated[Literal["seeds", "effects"], argument()],
    options: SourceOptions,
    as_json: AsJson,
) -> int:
    """Read and list."""
    from twice.checker.review.document import unread_json

    audited = open_sources(options, command=f"twice audit {what}").audit()
    if what == "seeds":
        found, document, rows, last = _list_draws(audited.uses)
    else:
        found, document, rows, last = _list_questions(audited.reads)
    unread = unread_json(audited.unread)
    lines = [
        *align(rows, indent=""),
        *last,
        *(printable(f"not read: {each.path}: {each.what}") for each in audited.unread),
    ]
    code = 1 if found else 2 if unread else 0  # What is not read is not known to be fine.
    return tell({**document, "unread": unread}, lines, as_json=as_json, code=code)


_Rows = list[tuple[str, ...]]
_Listing = tuple[int, dict[str, Any], _Rows, tuple[str, str]]
"""How many faults there are, the document, the rows, and the lines under them."""


def _list_draws(draws: Sequence[RandomUse]) -> _Listing:
    from twice.checker.review.document import seeds_json
    from twice.checker.review.markdown import describe_draws

    orphans = sum(each.is_orphan and each.zone != "tests" for each in draws)
    rows: _Rows = []
    for each in draws:
        origin = each.origin
        owner = origin.owner.value
        if each.is_orphan:  # One that a generator of the project draws keeps that beside the word.
            owner = f"ORPHAN {owner}" if origin.unreached else "ORPHAN"
        seed = f"seed {origin.seed}" if origin.seed else ""
        made = f"made in {each.where}" if each.where else ""
        whence = "; ".join(filter(None, (seed, made, origin.note)))
        rows.append((f"{each.path}:{each.line}", owner, each.kind.value, each.call, whence))
    last = (describe_draws(draws), f"orphans outside of tests: {orphans}")
    return orphans, {"format": "twice.seed-audit/1", **seeds_json(draws)}, rows, last


def _list_questions(asks: Sequence[WorldRead]) -> _Listing:
    from twice.checker.review.document import effects_json
    from twice.checker.review.markdown import describe_reads

    gaps = sum(each.is_gap for each in asks)
    rows: _Rows = []
    for each in asks:
        through = "GAP" if each.is_gap else "layer" if each.is_recorded else each.zone
        rows.append((f"{each.path}:{each.line}", through, each.kind, each.call, each.ends))
    last = (describe_reads(asks), f"raw in the core: {gaps}")
    return gaps, {"format": "twice.effects-audit/1", **effects_json(asks)}, rows, last
