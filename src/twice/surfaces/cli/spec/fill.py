"""Read what sheets leave open from a record, from this environment and from the code.

  twice spec fill
  twice spec fill --record a.twice
  twice spec fill --dry-run

What somebody wrote stays. What cannot be read stays "?", and is listed. The record is the one that 01 names, unless
another is given. Exit code 0 when nothing is open any more, 1 otherwise.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from twice.recording.runrecord import RunRecord
from twice.specifying.filling.filling import Filled, filled
from twice.specifying.filling.from_environment import from_environment
from twice.specifying.filling.from_record import from_record
from twice.specifying.filling.proposal import Proposal
from twice.specifying.workspace import Workspace, save
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import FORMAT, add_project, opened
from twice.surfaces.cli.spec.reading_code import from_code


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="the one that 01 names by default"
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Read, put in, say what is still open."""
    before, _ = opened(options)
    first = filled(before, _read(before, options.record))
    # Draws and pins follow from what the record filled in.
    second = filled(first.workspace, from_environment(first.workspace))
    done = Filled(second.workspace, (*first.put_in, *second.put_in), second.unknown)
    if not options.dry_run:
        save(before, done.workspace)
    _report(options, done)
    return 1 if done.unknown else 0


def _read(workspace: Workspace, given: Path | None) -> Iterator[Proposal]:
    place = given
    promise = workspace.get("01")
    if place is None and promise is not None and promise.said("vector"):
        named = workspace.project / promise.said("vector")
        place = named if named.is_file() else None
    if place is not None:
        with RunRecord.open(place) as record:
            yield from from_record(record, _inside(workspace, place))
    yield from from_code(workspace)


def _inside(workspace: Workspace, place: Path) -> str:
    """Give a path as sheets name it: from the project on, where it lies in there."""
    try:
        return place.resolve().relative_to(workspace.project.resolve()).as_posix()
    except ValueError:
        return place.as_posix()


def _report(options: argparse.Namespace, done: Filled) -> None:
    if options.json:
        print_json({
            "format": FORMAT,
            "filled": [{"sheet": each.sheet, "key": each.key, "value": each.value, "source": each.source} for each in done.put_in],
            "unknown": [{"sheet": number, "key": key, "says": says} for number, key, says in done.unknown],
        })  # fmt: skip
        return
    for each in done.put_in:
        print(f"{each.sheet} {each.key}: {each.source}")
    print(
        f"{len(done.put_in)} filled{' (nothing was written)' if options.dry_run else ''}, {len(done.unknown)} open"
    )
    for number, key, says in done.unknown:
        print(f"  {number} {key}: {says}")
    print(
        "next: "
        + ("write what is open, then twice spec status" if done.unknown else "twice spec lock")
    )
