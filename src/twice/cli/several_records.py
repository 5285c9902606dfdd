"""Several records, or those of a folder, verified or run afresh by one command: a line for each, one document of all.

Invariant: the order of the lines is that of the records, whatever finished first.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import click

from twice.cli.citations import cite
from twice.cli.console import show_progress
from twice.cli.options import option
from twice.cli.output import PRINTED, print_beside, print_lines, tell
from twice.errors import UsageError
from twice.foundation.next_step import NextStep
from twice.foundation.printable import pluralize, printable
from twice.foundation.record_url import RecordUrl
from twice.recorder.record.layout import MAGIC
from twice.recorder.record.object_store import list_objects
from twice.runs.places import open_executor

if TYPE_CHECKING:
    from twice.runs.verifications import Verifications
    from twice.runs.verify_options import VerifyOptions


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """Where several runs are executed, and how many at once."""

    on: Annotated[str | None, option(
        "--on PLACE", "where several runs are executed: local, ray, or ray://HOST:PORT")] = None  # fmt: skip
    jobs: Annotated[int | None, option(
        "--jobs N", "how many of several at once: here 1, on a cluster as many as it has processors; rates are lower then",
        type=click.IntRange(1))] = None  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptPlaceOptions(PlaceOptions):
    """The same, with a file of what is done."""

    journal: Annotated[Path | None, option(
        "--journal FILE", "keep each result as it comes; if the file is there, go on from it")] = None  # fmt: skip


def find_records(paths: Sequence[Path]) -> list[Path]:
    """Return the records among paths, with those of each folder in the order of their names.

    Raises:
        UsageError: E-USE-001, a folder has none or cannot be listed.
    """
    found: list[Path] = []
    for path in paths:
        if isinstance(path, RecordUrl) and path.suffix != ".twice":
            inside: Sequence[Path] = [
                path / name for name in sorted(list_objects(path)) if name.endswith(".twice")
            ]
        elif not path.is_dir():
            inside = [path]
        else:
            try:
                inside = [
                    each
                    for each in sorted(path.iterdir())
                    if not each.is_dir() and _is_record(each)
                ]
            except OSError as error:
                raise _no_records(path, f"cannot be listed: {error.strerror}") from error
        if not inside:
            raise _no_records(path, "has no run record in it")
        found += inside
    return found


def _is_record(path: Path) -> bool:
    """Whether a file has the name or the first bytes of a record: a damaged one is not passed over."""
    if path.suffix == ".twice":
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _no_records(folder: Path, why: str) -> UsageError:
    return UsageError(
        f"{folder} {why}.",
        "Expected run records, or a folder that holds some.",
        f"See what is there: twice ls {quote(str(folder))} -v",
        path=str(folder),
    )


def verify_several(
    paths: Sequence[Path],
    options: VerifyOptions,
    where: KeptPlaceOptions,
    *,
    writes: bool,
    as_json: bool,
) -> int:
    """Verify records, print their lines or their document, and return the worst exit code.

    Args:
        paths: of the records.
        options: how each is verified.
        where: they are executed.
        writes: whether statements are written beside the records.
        as_json: print one document instead of lines.
    """
    # What one record needs none of.
    from twice.runs.journal import Journal
    from twice.runs.verifications import Verifications, describe_entry

    head = {"command": "verify", **options.to_json(), "statements": writes}
    told = partial(cite, judges_recorded_class=not options.classes)
    on, jobs = where.on or "local", where.jobs
    with Journal(where.journal, head) as journal, show_progress("verified") as progress:
        made = Verifications(paths, options, told, writes=writes, journal=journal)
        with open_executor(on, jobs) as executor:
            made.run(executor, progress)
        if made.repeated:
            print_beside(
                f"{pluralize(made.repeated, 'run')} began again because a worker died; each is counted once"
            )
        if as_json:
            _print_document(made, {"jobs": jobs or 1, "on": on})
            return made.exit_code
        for entry in made.entries():
            print_lines([describe_entry(entry)])
    counted = ", ".join(f"{number} {result}" for result, number in made.counts.items())
    print_lines([f"{pluralize(len(paths), 'record')}: {counted}"])
    print_lines(printable(f"next: {each['command']}") for each in made.next_steps[:1])
    return made.exit_code


def _print_document(made: Verifications, facts: dict[str, object]) -> None:
    """Print the document entry by entry: there may be more of them than fit into memory."""
    from twice.runs.verifications import FORMAT

    PRINTED.append({"format": FORMAT})
    write = sys.stdout.write
    write(f'{{\n"format": "{FORMAT}",\n"runs": [')
    for at, entry in enumerate(made.entries()):
        del entry["explained"]
        write(f"{',' if at else ''}\n{json.dumps(entry, indent=2)}")
    rest = {"counts": made.counts, **facts, "next": made.next_steps}
    write(f"\n],\n{json.dumps(rest, indent=2)[2:]}\n")


def rerun_several(
    paths: Sequence[Path],
    folder: Path,
    where: PlaceOptions,
    *,
    force: bool,
    informational: bool,
    as_json: bool,
) -> int:
    """Run the programs of records afresh, print their lines or their document, and return the exit code."""
    from twice.runs.reruns import FORMAT, describe_entry, rerun_records

    with (
        show_progress("run afresh") as progress,
        open_executor(where.on or "local", where.jobs) as executor,
    ):
        entries = rerun_records(
            paths, folder, executor, force=force, informational=informational, progress=progress
        )
    counts = Counter("not made" if "error" in each else str(each["how"]) for each in entries)
    parted = [each for each in entries if each.get("parts_at") is not None]
    steps = [
        NextStep("see where they part", f"twice diagnose {quote(each['path'])} {quote(each['record'])}")
        for each in parted
    ]  # fmt: skip
    document = {
        "format": FORMAT,
        "runs": entries,
        "counts": dict(sorted(counts.items())),
        "next": [each.to_json() for each in steps],
    }
    counted = ", ".join(f"{number} {how}" for how, number in sorted(counts.items()))
    lines = [
        *map(describe_entry, entries),
        f"{pluralize(len(paths), 'run')}: {counted}; {len(parted) or 'none'} parted from the record",
        *(f"next: {each.command}" for each in steps[:1]),
    ]
    is_well = all(each.get("how") == "completed" or each.get("exit_code") == 0 for each in entries)
    return tell(document, lines, as_json=as_json, code=2 if counts["not made"] else 1 - is_well)
