r"""Record a run of a program in a fresh process with pinned surroundings.

  twice record examples/swarm.py:main --seed 42 --set n=1000 \
      --set ticks=500 -o a.twice
  twice record package.module:main --seed 42 --config run.toml -o a.twice
  twice record script.py --seed 7 -- --lr 3e-4
  twice record -m package.module --seed 7 -- --lr 3e-4
  twice record train.py:main --seed 1 --class statistical \
      --summary reward --epsilon 0.5 --n 30
  twice record train.py:main --seed 1 --summary reward:policy --epsilon 0.5
  twice record train.py:main --seed 1 -o s3://bucket/runs/a.twice

A function of a run is recorded tick by tick. A script, or a module with -m, runs unchanged as Python
would run it; what stands after -- is its own.
The statistical class records N further runs, under seeds derived from the run's, as its sample. NAME:COMPONENT makes
one component statistical and leaves the class of everything else.

Exit code 0 when the program ended well, 1 when it did not, 2 when nothing could be recorded.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from twice.cli.console import show_progress
from twice.cli.options import RECORD, AsJson, Quiet, build_command, option
from twice.cli.output import print_beside, print_json
from twice.cli.policies import PolicyOptions
from twice.cli.run_options import ProgramOptions, StartOptions
from twice.cli.secrets import still_in
from twice.errors import UsageError
from twice.foundation.determinism_class import (
    DeterminismClass,
    Predicate,
    SampleTest,
    Summary,
    parse_test,
)
from twice.foundation.printable import pluralize
from twice.foundation.record_url import RecordUrl
from twice.recorder.config import refuse_unread
from twice.recorder.environment.surroundings import Surroundings, for_recording
from twice.recorder.program import Program
from twice.recorder.program_spec import list_run_functions
from twice.recorder.recorder import choose_master_seed, record_program, refuse_existing
from twice.recorder.redaction.redaction import Redaction
from twice.recorder.runrecord import RunRecord
from twice.recorder.samples import read_sample, summary_of
from twice.recorder.session_job import GO_ON
from twice.recorder.setup import Setup
from twice.runs.places import open_executor

if TYPE_CHECKING:
    from twice.worker.executor import Executor


@dataclass(frozen=True, slots=True)
class PredicateOptions:
    """How far a promise reaches, and what its class needs to be told."""

    # fmt: off
    scope: Annotated[str, option("--scope SCOPE", "process, host or cross-host")] = "host"
    summary: Annotated[tuple[str, ...], option(
        "--summary NAME", "statistical: what is compared over seeds; NAME:COMPONENT for one component")] = ()
    test: Annotated[str | None, option("--test TEST", "statistical: means (default), iqm, mann-whitney, ks or multiset")] = None
    measure: Annotated[str | None, option(
        "--measure MEASURE", "logical: how compared values are judged: exact (default), abs, rel, ulp or quantum",
    )] = None
    epsilon: Annotated[float | None, option(
        "--epsilon E", "logical: within how much; statistical: margin of the test")] = None
    n: Annotated[int | None, option("--n N", "statistical: how many seeds (30)")] = None
    alpha: Annotated[float | None, option("--alpha P", "statistical: chance of passing a difference")] = None
    power: Annotated[float | None, option("--power P", "statistical: chance of passing equal systems")] = None
    # fmt: on


_PRINTED_BYTES: Final = 4000
"""Of each stream, in the JSON."""


@build_command
def command(
    program: ProgramOptions,
    start: Annotated[
        StartOptions, {"classes": "bit-exact, logical or statistical; or NAME=CLASS for one component"}
    ],
    out: Annotated[Path | None, option("-o, --out FILE", "path or URL of the record", type=RECORD)],
    force: Annotated[bool, option("--force", "replace an existing record")],
    promise: PredicateOptions,
    policies: PolicyOptions,
    exit_code: Annotated[bool, option("--exit-code", "exit with the program's own exit code, not 0 or 1")],
    on_full: Annotated[str, option(
        "--on-full",
        "when the record cannot be written any more: go on without it, or end the program",
        [GO_ON, "stop"], default=GO_ON)],
    on: Annotated[str | None, option(
        "--on PLACE", "where the runs of a statistical sample are executed: local, ray, or ray://HOST:PORT")],
    quiet: Quiet,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Record, and say what was recorded."""
    found = program.find("record")
    setup = Setup(
        program=found,
        seed=choose_master_seed(start.master_seed()),
        config=start.values(),
        predicate=parse_predicate(start.classes, promise),
        **policies.to_setup(),
    )
    name = found.target if found.kind == "main" else Path(found.target).stem
    out = out or Path(f"{name}.twice")
    variables, summary = policies.environment(), summary_of(setup.predicate)
    surroundings = for_recording(os.environ, explicit=variables)
    print_beside(*_introduce(setup, surroundings, summary))
    with written_to(out, force=force) as written:
        with (
            show_progress("sampling") as progress,
            _open_place(on, found, summary) as executor,
        ):
            ended = record_program(
                setup,
                surroundings,
                written,
                force=force,
                show=not quiet and not as_json,
                stdin=True,
                progress=progress,
                on_full=on_full,
                executor=executor,
            )
        printed = _read_printed(written) if as_json else {}
        said = [] if as_json else [*_describe(found, ended, out, written, summary)]
        left = still_in(written, {**os.environ, **variables}, Redaction(setup.redaction))
        said += [f"note: the record still contains a secret, {place}" for place in left]
    # Only now: where the record goes to a store, it is whole there from here on.
    if as_json:
        print_json({"format": "twice.recorded/1", "record": str(out), **ended, "printed": printed})
    print_beside(*said)
    if ended["how"] == "completed":
        refuse_unread(ended["unread"], out)
    if setup.predicate.subsystems:
        from twice.replayer.verify import require_known

        with RunRecord.open(out) as record:
            require_known(setup.predicate, record)
    code = int(ended["exit_code"])
    return code & 0xFF if exit_code else int(code != 0)


@contextmanager
def written_to(out: Path, *, force: bool) -> Iterator[Path]:
    """Give the path of a file to record to: the output, or a file here whose bytes go to its URL."""
    if isinstance(out, RecordUrl):
        from twice.runs.upload import upload_record

        with upload_record(out, force=force) as local:
            print_beside(f"the run is written to {local.name} until {out} is whole")
            yield local
    else:
        refuse_existing(out, force=force, is_record=True)
        yield out


def _open_place(
    on: str | None, program: Program, summary: Summary | None
) -> AbstractContextManager[Executor | None]:
    """Open the place for the runs of a sample; E-USE-001 where there is no sample."""
    if on is None:
        return nullcontext()
    if summary is None:
        raise UsageError(
            f"--on {on} was given, and {program} is one run, which is recorded here.",
            "Expected --class statistical with it: the runs of a sample can be spread.",
            "Many runs of one program: twice sweep",
        )
    return open_executor(on, None)


def _introduce(setup: Setup, surroundings: Surroundings, summary: Summary | None) -> Iterator[str]:
    """Say what is to be known before the run begins."""
    # Loaded for the few runs that have a policy of numbers or a sample.
    if setup.float_profile or setup.gpu_policy:
        from twice.recorder.environment.policy_variables import list_overruled

        yield from list_overruled(surroundings, setup.apply_policies(surroundings))
    if summary is not None:
        from twice.foundation.sample_size import describe_power

        yield f"sample: {describe_power(summary)}"


def _read_printed(out: Path) -> dict[str, str]:
    """Read the ends of what the program printed."""
    with RunRecord.open(out) as record:
        ends = (stream[-_PRINTED_BYTES:] for stream in record.printed())
        texts = [end.decode("utf-8", "replace") for end in ends]
    return dict(zip(("output", "errors"), texts, strict=True))


def _describe(
    program: Program, ended: Mapping[str, Any], out: Path, written: Path, summary: Summary | None
) -> Iterator[str]:
    """Say what was recorded, and why a record contains less than its maker may think."""
    code = f", exit code {ended['exit_code']}" if ended["how"] == "exit" else ""
    done, kept = (
        ("recorded", "") if ended["complete"] else ("ran", "the record holds a part of them, ")
    )
    yield (
        f"{done} {pluralize(ended['ticks'], 'tick')}, {pluralize(ended['points'], 'compare-point')}, {kept}"
        f"{pluralize(written.stat().st_size, 'byte')}: {out} ({ended['how']}{code})"
    )
    if program.whole and ended["ticks"]:
        yield "note: a plain script: steps of its libraries are ticks; the rest of its state is not seen"
    elif program.whole:
        found = list_run_functions(program.path()) if program.kind == "script" else []
        instead = f"; tick by tick: {program}:{found[0]}" if found else ""
        seen = "its reads, files, output and exit code count; its state is not seen"
        yield f"note: a plain script: {seen}{instead}"
    elif ended["ticks"] == 0 and ended["how"] == "completed":
        yield "note: run.ticks() was not used: only construction and end are compared"
    if summary is not None:
        from twice.foundation.sample_size import describe_reached

        with RunRecord.open(written) as record:
            reached = describe_reached(summary, read_sample(record).values)
        if reached:
            yield f"sample: {reached}"
    yield f"next: twice verify {shlex.quote(str(out))}"


def parse_predicate(classes: Sequence[str], options: PredicateOptions) -> Predicate:
    """Read the class from the options, with its tolerance or its statistical test.

    Raises:
        ClassRefused: E-CLASS-001, for a tolerance that makes no sense. UsageError: E-USE-001, for options that belong
            to another class.
    """
    predicate = Predicate.parse(classes, options.scope)
    if len(options.summary) > 1:
        raise UsageError(
            f"--summary was given more than once: {', '.join(options.summary)}.",
            "Expected one summary: a record has one sample.",
            f"For example: --summary {options.summary[0]}",
        )
    summary = next(iter(options.summary), None)
    if options.measure is not None and summary is not None:
        raise UsageError(
            f"--measure {options.measure} and --summary {summary} were given, and both take --epsilon.",
            "Expected one of them: a tolerance of compared values, or a margin of samples.",
            "For example: --class logical --summary reward:policy --epsilon 0.5",
        )
    if options.measure is not None:
        if DeterminismClass.LOGICAL not in {
            predicate.determinism_class,
            *predicate.subsystems.values(),
        }:
            raise UsageError(
                f"--measure {options.measure} was given without a logical class.",
                "Expected --class logical beside it: other classes compare bytes, or samples.",
                "For example: --class logical --measure abs --epsilon 1e-6",
            )
        from twice.foundation.comparison import tolerance_of  # numbers alone need it

        return replace(predicate, decisions=tolerance_of(options.measure, options.epsilon))
    given = {
        name: value
        for name in ("test", "epsilon", "n", "alpha", "power")
        if (value := getattr(options, name)) is not None
    }
    if not given and summary is None:
        return predicate
    name, component = summary or "", ""
    if predicate.determinism_class is not DeterminismClass.STATISTICAL:
        name, _, component = name.rpartition(":")
    if not name or ("" not in predicate.sampled_parts and not component):
        raise UsageError(
            f"--{'summary' if summary else next(iter(given))} was given without a statistical class and a "
            "summary.",
            "Expected --class statistical --summary NAME beside it, or --summary NAME:COMPONENT; or of a logical class "
            "--measure.",
            "For example: --class statistical --summary reward --test means --epsilon 0.5; "
            "--summary reward:policy --epsilon 0.5; --class logical --measure abs --epsilon 1e-6",
        )
    if component:
        own = predicate.subsystems.get(component, DeterminismClass.STATISTICAL)
        if own is not DeterminismClass.STATISTICAL:
            raise UsageError(
                f"{component} is {own} by --class, and statistical by --summary {summary}.",
                "Expected one class for one component.",
                f"Leave out --class {component}={own}, or the summary.",
            )
        predicate = predicate.amend([f"{component}={DeterminismClass.STATISTICAL}"])
    test = parse_test(given.pop("test", "means"))
    if test is not SampleTest.MULTISET and not given.get("epsilon", 0.0) > 0:
        raise UsageError(
            f"The test {test.value} has no margin.",
            "Expected --epsilon E with E > 0: no two samples are 0 apart but equal ones.",
            "For example: --epsilon 0.5; or --test multiset for the very same values.",
        )
    return replace(predicate, sample=Summary(name, test, **given))
