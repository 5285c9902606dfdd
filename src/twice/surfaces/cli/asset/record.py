"""Render an asset in a clean folder, and let the run fill its log.

  twice asset record --from render.toml -o hot/theme.wav -- fluidsynth -ni -F hot/theme.wav -r 48000 hot/gm.sf2 hot/theme.mid
  twice asset record --from render.toml --seed 7 --program -o hot/a.png -- python hot/draw.py --seed {seed} hot/a.png

The command runs once, without a shell, in an empty folder that holds copies of its inputs: files that its
arguments name, and those of --input. It gets no environment but pinned variables and --env. A Python script (or
-m) runs under the recorder with --seed as its master seed; {seed} in an argument or a variable stands for the seed.
What the run cannot know is taken from the project file (--from), from options, or asked for once on a terminal. The
asset, its draft OUTPUT.draft.json and the run's record go into the hot store; twice asset seal takes the draft.

Exit code 0 it was rendered and nothing is missing, 2 it was not: nothing is written then.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from twice.assets.making.command import SEED, rewritten
from twice.assets.making.drafting import Saying
from twice.assets.making.filling import PINS
from twice.assets.making.project import Project, read_project
from twice.assets.making.recording import Recorded, record_render
from twice.assets.model.log import AssetKind
from twice.assets.model.promise import WHY_CODES, Grade
from twice.assets.model.reading import Problem
from twice.assets.store.sealing import joined
from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.surfaces.cli.asset.seal import setting
from twice.surfaces.cli.asset.storing import add_store, store_of
from twice.surfaces.cli.showing import Doing, add_json, print_json


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="after --")
    parser.add_argument(
        "-o", "--out", action="append", default=[], type=Path, metavar="OUTPUT",
        help="what it writes, inside the store; by default every new file; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--input", action="append", default=[], type=Path, metavar="FILE",
        help="a file that it reads and that no argument names; repeatable",
    )  # fmt: skip
    parser.add_argument("--from", dest="project", type=Path, metavar="PROJECT.toml")
    parser.add_argument("--seed", metavar="N", help="stands for {seed}, and seeds the recorder")
    parser.add_argument("--no-seed", metavar="WHY", default="", help="why it needs no seed")
    parser.add_argument(
        "--program", action="store_true", help="it is a program, without a generative model"
    )
    parser.add_argument("--kind", choices=[str(each) for each in AssetKind], default="")
    parser.add_argument("--promise", choices=[str(each) for each in Grade], metavar="GRADE",
                        help="bytes, payload or tolerance")  # fmt: skip
    parser.add_argument("--profile", metavar="NAME", help="what tolerance means")
    parser.add_argument("--non-deterministic", metavar="WHY")
    parser.add_argument("--why-code", choices=WHY_CODES, default="other")
    parser.add_argument(
        "--constraint", action="append", default=[], metavar="TEXT",
        help="what keeps a non-deterministic asset consistent; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE",
        help="one more value of the log, such as work_unit=TU-7; repeatable",
    )  # fmt: skip
    parser.add_argument("--declared-by", default="", metavar="WHO")
    parser.add_argument("--log-id", metavar="ID")
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE",
        help="a variable that it gets; repeatable",
    )  # fmt: skip
    parser.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS")
    parser.add_argument("--force", action="store_true", help="replace the asset and its draft")
    add_store(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Render, and say what is there."""
    saying = _saying(options)
    store = store_of(options, options.out[0] if options.out else Path())
    command = rewritten(options.command, store, options.input, options.out, saying.seed)
    with Doing() as doing:
        doing(f"rendering with {Path(options.command[0]).name}")
        asked = _asking(saying) if sys.stdin.isatty() and sys.stderr.isatty() else _nobody
        done = record_render(store, command, saying, answering=asked, force=options.force)
    if options.json:
        print_json({"format": "twice.asset-recorded/1", "recorded": [_row(each) for each in done]})
        return 0
    for each in done:
        print(printable(f"rendered: {each.asset}"))
        print(printable(f"draft: {each.draft}, recorded in {each.record}"))
        if not each.own:
            print("note: the state folder cannot be written; a re-rendering will need --trust")
        for path in each.unnamed:
            print(printable(f"note: it read {path} by itself; to have it in the recipe: --input"))
        print(printable(f"next: twice asset seal {each.asset} --log {each.draft}"))
    return 0


def _row(done: Recorded) -> dict[str, object]:
    return {
        "asset": str(done.asset), "draft": str(done.draft), "record": str(done.record),
        "own": done.own, "unnamed": [str(each) for each in done.unnamed],
    }  # fmt: skip


def _saying(options: argparse.Namespace) -> Saying:
    """Put the options together."""
    if options.seed is not None and not options.seed.isdecimal():
        raise UsageError(
            f"--seed {options.seed!r} is no seed.",
            "Expected a whole number of at least 0, in decimal digits.",
            "For example: --seed 7",
        )
    if options.timeout <= 0:
        raise UsageError(
            f"--timeout {options.timeout:g} leaves no time.",
            "Expected a number of seconds above 0.",
            "For example: --timeout 600",
        )
    seed = "" if options.seed is None else options.seed
    variables = dict(_variable(each, seed) for each in options.env)
    return Saying(
        project=read_project(options.project) if options.project is not None else Project(),
        declared=_declared(options),
        who=options.declared_by,
        when=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seed=seed,
        seeded=any(SEED in each for each in options.env),
        seedless=options.no_seed,
        program=options.program,
        kind=options.kind,
        env={**PINS, **variables},
        timeout_s=options.timeout,
    )


def _variable(text: str, seed: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(
            f"--env {text!r} is no variable.",
            "Expected NAME=VALUE.",
            "For example: --env OMP_NUM_THREADS=2",
        )
    return name, value.replace(SEED, seed) if seed else value


def _declared(options: argparse.Namespace) -> dict[str, Any]:
    declared: dict[str, Any] = {}
    if options.promise is not None and options.non_deterministic is not None:
        raise UsageError(
            "--promise and --non-deterministic were given together.",
            "Expected one of the two promises.",
            "Leave one of them out.",
        )
    if options.promise is not None:
        declared["promise"] = {"mode": "deterministic", "grade": options.promise}
        if options.profile is not None:
            declared["promise"]["profile"] = {"name": options.profile}
    if options.non_deterministic is not None:
        declared["promise"] = {
            "mode": "non-deterministic", "why": options.non_deterministic,
            "why_code": options.why_code,
            **({"constraints": options.constraint} if options.constraint else {}),
        }  # fmt: skip
    if options.log_id is not None:
        declared["log_id"] = options.log_id
    for each in options.set:
        declared = joined(declared, setting(each))
    return declared


def _nobody(missing: list[Problem]) -> None:
    """In a pipe there is nobody to ask."""
    del missing


def _asking(saying: Saying) -> Callable[[list[Problem]], Saying]:
    """Ask on the terminal for each missing value, once."""
    said = saying

    def ask(missing: list[Problem]) -> Saying:
        nonlocal said
        sys.stderr.write("\nAn empty line leaves a value open; na: REASON says that it has none.\n")
        for each in missing:
            expected = _WORDS.get(each.pointer, each.expected)
            sys.stderr.write(printable(f"{each.pointer} ({each.words}; {expected}): "))
            sys.stderr.flush()
            answer = sys.stdin.readline().strip()
            if answer and each.pointer == "/evidence//who":
                said = replace(said, who=answer)
            elif answer:
                path = each.pointer[1:].replace("/", ".")
                said = replace(said, declared=joined(said.declared, answered(path, answer)))
        return said

    return ask


_WORDS: Final = {
    "/promise": "bytes, payload or tolerance; else why it cannot be promised",
    "/producer": "a role such as illustrator",
    "/promise/constraints": "what keeps it consistent all the same",
}
"""What is asked for where a block would be expected."""


def answered(path: str, answer: str) -> dict[str, Any]:
    """Read what was typed on the terminal for a value, as a part of a log.

    Args:
        path: of the value, with dots.
        answer: a value, or ``na: REASON``; of a promise its grade or why there is none.
    """
    if answer.startswith("na:"):
        answer = json.dumps({"not_applicable": answer.removeprefix("na:").strip()})
    elif path == "promise" and not answer.startswith("{"):
        grades = {str(each) for each in Grade}
        if answer in grades:
            return {"promise": {"mode": "deterministic", "grade": answer}}
        return {"promise": {"mode": "non-deterministic", "why": answer, "why_code": "other"}}
    elif path == "producer" and not answer.startswith("{"):
        path = "producer.role"
    elif path == "promise.constraints" and not answer.startswith("["):
        answer = json.dumps([answer])
    return setting(f"{path}={answer}")
