"""What to do after a diagnosis: commands for the same runs, and a test that fails until they agree.

Invariant: a command names program, seed, configuration and arguments as the record has them; where it cannot, it is
not proposed.
"""

from __future__ import annotations

import os
import re
import shlex
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from twice.diagnosis.attribution import READS_CLOCK
from twice.diagnosis.divergence import Divergence
from twice.diagnosis.schedule_parting import ScheduleParting
from twice.errors import UsageError
from twice.foundation.channels import Channel
from twice.foundation.next_step import NextStep
from twice.foundation.printable import printable
from twice.recorder.config import format_settings
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup

VARIED: Final = frozenset(
    (
        "hash seed",
        "threads",
        "time zone",
        "locale",
        "user and home",
        "memory layout",
        "umask",
        "processors",
    )
)
"""Differing surroundings that ``twice vary`` tries by the same name."""
_CLOCK: Final = "clock offset"
_VARIABLE: Final = "env "
_TESTED: Final = {"localised", "non-reproducing"}
_ENDS: Final = "This test fails until the runs agree. Written by twice diagnose --test."
_OF_INPUTS: Final = (
    "A value that a run takes as an input still differs between two runs: then remove this test."
)
_TEST: Final = '''\
"""{about}
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / {folder}
RUN = {run}


def run_twice(*words: str) -> None:
    command = [sys.executable, "-m", "twice", *words]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_runs_agree(tmp_path: Path) -> None:
{body}
'''


def list_next_steps(found: Divergence, a: RunRecord, b: RunRecord) -> list[NextStep]:
    """List the next steps of a verdict: first a command that shows whether a correction helps."""
    one, two = (shlex.quote(str(each.path)) for each in (a, b))
    if (
        found.result == "not-same-input" and a is b
    ):  # held against its own program, which was edited
        now = a.path.with_name(f"{a.path.stem}-now.twice")
        again = shlex.join(["twice", "record", *list_run_words(a.setup, "-o", str(now))])
        compare = f"twice diagnose {one} {shlex.quote(str(now))} --anyway"
        return [
            NextStep("record the program as it is now", again),
            NextStep("compare both", compare),
        ]
    if found.result == "not-same-input":
        return [NextStep("compare them anyway", f"twice diagnose {one} {two} --anyway")]
    if found.result in {"same", "within-tolerance", "extra-read"}:
        return [NextStep("look at a run", f"twice show {one}")]
    channel = found.attribution[0].channel if found.attribution else None
    steps = [] if found.schedule is None else _list_steps_of_orders(found.schedule, a, b)
    named = [factor for factor, *_ in found.surroundings if factor in VARIED]
    if named and _can_be_named(a):
        again = shlex.join(["twice", "vary", *list_run_words(a.setup, "--factor", named[0])])
        steps.append(NextStep("see whether a correction helps", again, channel))
    at, agreed = found.compare_point, found.last_agreement
    is_coarse = at is not None and agreed is not None and at.tick - agreed.tick > 1
    if is_coarse and a.setup.granularity != "tick" and _can_be_named(a):
        finer = ["twice", "record", *list_run_words(a.setup, "--compare", "tick")]
        about = "record both with a compare-point at each tick, which names the tick"
        steps.append(NextStep(about, shlex.join(finer), channel, is_optional=bool(found.operation)))
    if not _find_obstacle(found, a, b):
        diagnose = f"verify {one} --diagnose" if a is b else f"diagnose {one} {two}"
        name = re.sub(r"\W", "_", a.path.stem)
        test = f"twice {diagnose} --test test_{name}.py"
        about = "write a test that fails until they agree"
        steps.append(NextStep(about, test, channel, is_optional=True))
    if a is not b:
        report = f"twice report {one} {two} -o report.html"
        steps.append(NextStep("look at both runs", report, channel))
    return steps or [NextStep("look at the run", f"twice show {one}", channel)]


def _list_steps_of_orders(found: ScheduleParting, a: RunRecord, b: RunRecord) -> list[NextStep]:
    """List what to do with two orders of steps: after a correction, run the program in the one that makes the difference."""
    record = b if found.explained == "b" else a
    if found.orders and record.setup.order is not None and record.setup.order.after:
        again = f"twice rerun {record.path} -o {record.path.stem}-again.twice --informational"
        return [NextStep("run a corrected program in this order", again, Channel.CONCURRENCY)]
    if not _can_be_named(record):
        return []
    words = shlex.join(["twice", "explore", *list_run_words(record.setup)])
    about = "find a failing order, and keep it in a record that survives corrections"
    return [NextStep(about, words, Channel.CONCURRENCY)]


def _can_be_named(record: RunRecord) -> bool:
    """Whether a command line can name the run."""
    is_flat = not any(isinstance(each, Mapping) for each in record.config.values())
    return is_flat and record.setup.program.rerunnable


def list_run_words(setup: Setup, *options: str) -> list[str]:
    """List the words that name a run on a command line: program, seed, configuration, options, arguments."""
    program = setup.program
    named = ["-m", program.target] if program.kind == "main" else [str(program)]
    given = [word for each in format_settings(setup.config) for word in ("--set", each)]
    arguments = ["--", *program.arguments] if program.arguments else []
    return [*named, "--seed", str(setup.seed.value), *given, *options, *arguments]


def write_regression_test(found: Divergence, path: Path) -> str:
    """Return the text of a test that fails until the runs of a diagnosis agree.

    Args:
        found: the diagnosis; its records are still there.
        path: of the test, which finds the program from there.

    Raises:
        UsageError: E-USE-001, where there is no difference to test, or no command line makes the runs.
    """
    with RunRecord.open(found.a) as a, RunRecord.open(found.b) as b:
        if obstacle := _find_obstacle(found, a, b):
            raise UsageError(
                f"No test was written of {found.a} and {found.b}: {obstacle}.",
                "Expected two runs of one input that part at a line.",
                f"Look at them: twice report {found.a} {found.b} -o report.html",
            )
        folder = os.path.relpath(a.setup.program.folder().resolve(), path.resolve().parent)
        run, calls = list_run_words(a.setup), _list_calls(found, a)
    first = found.attribution[0] if found.attribution else None
    why = [] if first is None else [f"Channel {first.channel.value}: {first.evidence[0]}."]
    if first is not None and first.channel is Channel.EFFECTS:
        why.append(_OF_INPUTS)
    about = [printable(line) for line in (found.headline(), "", *why, _ENDS)]
    return _TEST.format(
        about="\n".join(about).replace("\\", "/").replace('"""', "'''"),
        folder=repr(folder),
        run=repr(run),
        body=textwrap.indent("\n".join(calls), "    "),
    )


def _find_obstacle(found: Divergence, a: RunRecord, b: RunRecord) -> str:
    """Say why no test can be written; return an empty text where one can."""
    if found.result not in _TESTED or found.operation is None:
        return f"the result is {found.result}, without a line"
    if found.input_differences or a.parent is not None or b.parent is not None:
        return "they are runs of different inputs"
    if a.setup.order != b.setup.order or found.schedule is not None:
        return "no command line makes their orders of steps"
    if not _can_be_named(a):
        return "no command line names the program and its configuration"
    return "a sample is judged" if a.setup.predicate.sampled_parts else ""


def _list_calls(found: Divergence, a: RunRecord) -> list[str]:
    """Write the body of the test: the commands that must succeed."""
    options = _list_options(a.setup)
    if found.a == found.b:
        return [
            _call("record", *options, run="run"),
            'run_twice("verify", str(tmp_path / "run.twice"))',
        ]
    names = [factor for factor, *_ in found.surroundings]
    clock = [_CLOCK] if found.attribution and READS_CLOCK in found.attribution[0].evidence else []
    varied = [*(name for name in names if name in VARIED), *clock]
    if varied and not any(name.startswith(_VARIABLE) for name in names):
        return [_call("vary", "--factor", varied[0])]
    variables = [
        [
            word
            for name, *values in found.surroundings
            if name.startswith(_VARIABLE) and values[side]
            for word in ("--env", values[side])
        ]
        for side in (0, 1)
    ]
    return [
        *(
            _call("record", *options, *more, run=name)
            for name, more in zip("ab", variables, strict=True)
        ),
        'run_twice("diagnose", str(tmp_path / "a.twice"), str(tmp_path / "b.twice"))',
    ]


def _list_options(setup: Setup) -> list[str]:
    """List the options of ``twice record`` that decide how two runs are compared."""
    predicate, decisions = setup.predicate, setup.predicate.decisions.to_json()
    classes = [
        predicate.determinism_class,
        *(f"{name}={each}" for name, each in predicate.subsystems.items()),
    ]
    options = [word for each in classes for word in ("--class", str(each))]
    options += ["--scope", str(predicate.scope)]
    if decisions["measure"] != "exact":
        options += ["--measure", str(decisions["measure"]), "--epsilon", str(decisions["epsilon"])]
    options += [] if setup.compare_errors else ["--ignore-errors"]
    return [*options, *(f"--ignore-output={each}" for each in setup.ignored_output)]


def _call(command: str, *options: str, run: str = "") -> str:
    """Write a call of a command that executes the program, which records it where a run is named."""
    out = f', "-o", str(tmp_path / "{run}.twice")' if run else ""
    return f"run_twice({', '.join(map(repr, [command, *options]))}{out}, *RUN)"
