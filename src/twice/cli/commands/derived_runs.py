"""Runs that are made from a record: a branch with another input, a run with fresh effects. The record is only read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from twice.cli.citations import require_pins
from twice.cli.options import (
    RECORD,
    AsJson,
    Informational,
    Quiet,
    RecordPath,
    argument,
    build_command,
    option,
    split_pairs,
)
from twice.cli.output import print_beside, print_json, tell
from twice.cli.run_options import OutputOptions, TrustOptions, refuse_own_source
from twice.cli.several_records import PlaceOptions, find_records, rerun_several
from twice.diagnosis.log_comparison import compare_logs
from twice.foundation.next_step import NextStep
from twice.foundation.printable import pluralize, printable
from twice.recorder.config import parse_value
from twice.recorder.record_form import describe_ending, describe_parent
from twice.recorder.runrecord import RunRecord
from twice.recorder.states import Migration
from twice.report.values import as_json as to_plain
from twice.report.values import inline, mapping


@build_command
def branch(
    record: RecordPath,
    at: Annotated[int, option("--at T", "first tick to differ")],
    inputs: Annotated[tuple[str, ...], option(
        "--input NAME=VALUE", "what the program gets for that input; none at all resumes the run")],
    onwards: Annotated[bool, option("--onwards", "at every later tick too")],
    sealed: Annotated[bool, option("--sealed", "refuse reads that go to the world")],
    informational: Informational,
    quiet: Quiet,
    output: Annotated[OutputOptions, {"out": "path of the branch's record"}],
    trust: TrustOptions,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Leave a record at a tick, with another input, into a record of its own.

      twice branch a.twice --at 120 --input push=0.3 -o c.twice
      twice branch a.twice --at 120 --input push=0.3 --onwards --sealed -o d.twice

    The value of an input is typed as TOML types it, and is text otherwise. It replaces tick T only; with
    --onwards every later tick too. Past the tick, reads of the world that match come from the record;
    the first that does not goes to the world, or is refused when --sealed. The parent is only read.
    Exit code 0 when the program ended well, else 1.
    """
    from twice.replayer.branch_session import branch as branch_off
    from twice.replayer.branch_session import prefix_proof

    given = split_pairs(inputs, "--input", "push=0.3").items()
    values = {name: parse_value(text.strip()) for name, text in given}
    refuse_own_source(output.out, record)
    require_pins(record, informational=informational)
    with (
        trust.trusting(record),
        branch_off(
            record,
            at=at,
            inputs=values,
            onwards=onwards,
            out=output.out,
            force=output.force,
            sealed=sealed,
            informational=informational,
            show=not quiet and not as_json,
        ) as made,
        RunRecord.open(record) as parent,
    ):
        fork, ending = mapping(mapping(made.parent).get("fork")), mapping(made.ending)
        compare = NextStep("see what the input changed", _compare(record, output.out))
        told: dict[str, Any] = {
            "format": "twice.branched/1",
            "record": str(output.out),
            "parent": {"record": str(record), "run_id": parent.run_id},
            "fork": {key: fork.get(key) for key in ("tick", "point")},
            "inputs": {name: to_plain(value) for name, value in values.items()},
            "onwards": onwards,
            "prefix": {
                "identical": prefix_proof(made, parent),
                "points": int(fork.get("point", -1)) + 1,
                "chain": f"{made.reader.algorithm}:{fork.get('chain')}",
            },
            "ending": made.ending,
            "ticks": made.ticks,
            "next": [compare.to_json()],
        }
        prefix, said = told["prefix"], inline(told["inputs"]) if inputs else "no input (resumed)"
        migrated = [*map(Migration.from_json, mapping(ending.get("branch")).get("migrated", ()))]
        # Up to the fork everything else was compared, and a difference ends a branch.
        moved = f"identical but for {', '.join(each.component for each in migrated)}"
        agrees = "identical" if prefix["identical"] else moved if migrated else "NOT identical"
        departs = () if inputs or informational else _list_departures(parent, made)
        told["caveats"] = caveats = [*ending.get("caveats", ()), *departs]
        lines = [
            f"branched {record} before tick {at}: {output.out}",
            f"  substituted: {said}{' onwards' * onwards}",
            f"  before the fork: {pluralize(prefix['points'], 'compare-point')}, {agrees}, chain {prefix['chain']}",
            f"  after it: {pluralize(made.ticks - at, 'tick')}, {describe_ending(made.ending)}",
            *(f"  caveat: {printable(each)}" for each in caveats),
            f"next: {compare.command}",
        ]
        well = (prefix["identical"] or migrated) and _ended_well(made)
        return tell(told, lines, as_json=as_json, code=0 if well else 1)


def _list_departures(parent: RunRecord, made: RunRecord) -> Iterator[str]:
    """Say where a run that was only resumed leaves its parent."""
    where = compare_logs(parent, made).at
    if where is not None:
        yield (
            f"no input was replaced, and the run leaves its parent at tick {where.tick}: what it started from lacks "
            f"something. twice verify {parent.path} --restores --diagnose names it"
        )


@build_command
def rerun(
    records: Annotated[tuple[Path, ...], argument(metavar="RECORD...", required=True, type=RECORD)],
    output: Annotated[OutputOptions, {"out": "path of the new record; of several, of their folder"}],
    informational: Informational,
    quiet: Quiet,
    where: PlaceOptions,
    trust: TrustOptions,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Run a record's program afresh: same seed, configuration and surroundings, fresh effects.

      twice rerun a.twice -o again.twice
      twice rerun runs --jobs 4 -o again

    A re-run is not a replay: the world is read again, and may answer otherwise. The new record names the
    run that it was made after. Of several records, or a folder of them, each has one line, which says whether
    the new run parts from its record; the same command again goes on where it was stopped.

    Exit code 0 when the program ended well, else 1; 2 when one of several could not be run.
    """
    from twice.replayer.rerun import rerun as run_afresh

    paths = find_records(records)
    for path in paths:
        refuse_own_source(output.out, path)
        refuse_own_source(output.out / path.name, path)
    if paths != [*records] or len(paths) > 1 or where != PlaceOptions():
        with trust.trusting(*paths):
            return rerun_several(
                paths, output.out, where, force=output.force, informational=informational, as_json=as_json
            )  # fmt: skip
    record = paths[0]
    with (
        trust.trusting(record),
        run_afresh(
            record,
            out=output.out,
            force=output.force,
            informational=informational,
            show=not quiet and not as_json,
        ) as made,
    ):
        if as_json:
            ending = made.ending or {}
            told = {"record": str(output.out)} | {
                key: ending.get(key) for key in ("how", "exit_code")
            }
            counts = {"ticks": made.ticks, "points": len(made.reader.points)}
            print_json({"format": "twice.recorded/1", **told, **counts, "parent": made.parent})
        else:
            ended = f"{describe_ending(made.ending)}, {describe_parent(made.parent)}"
            print_beside(
                f"recorded {pluralize(made.ticks, 'tick')}: {output.out} ({ended})",
                f"next: {_compare(record, output.out)}",
            )
        return 0 if _ended_well(made) else 1


def _compare(record: Path, made: Path) -> str:
    return shlex.join(["twice", "diagnose", str(record), str(made)])


def _ended_well(made: RunRecord) -> bool:
    ending = made.ending or {}
    return ending.get("how") == "completed" or ending.get("exit_code") == 0
