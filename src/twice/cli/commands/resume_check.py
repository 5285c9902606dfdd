"""Kill a training behind its checkpoints, resume it, and compare with the run that was never stopped.

  twice resume-check train.py --seed 7 --at 10
  twice resume-check train.py --seed 7 --resume-with "--resume last.pt"

The training runs in private copies of the current folder: to its end, killed by SIGKILL behind so many writes of its
checkpoint, and started again by the same command, or with the arguments of --resume-with. Files, printed lines and the
state at the end are compared. Where they differ, the fields that the resumed run lacks are named, and an experiment
puts them back. Needs Linux.

Exit code 0 same, 1 differs, 2 wrong use, or it could not be told.
"""

from __future__ import annotations

import shlex
from typing import Annotated

from twice.cli.console import Status
from twice.cli.options import AsJson, build_command, option
from twice.cli.output import tell
from twice.cli.run_options import ProgramOptions
from twice.diagnosis.resume.check import check_resume
from twice.foundation.seeds import Seed


@build_command
def command(
    program: ProgramOptions,
    seed: Annotated[
        str | None, option("--seed N", "master seed, an integer; or the variable TWICE_SEED")
    ],
    at: Annotated[int, option("--at N", "at how many checkpoints it is killed, spread over the run")] = 3,
    resume_with: Annotated[
        str | None, option("--resume-with ARGS", "its arguments when it is resumed; else the same ones")
    ] = None,
    checkpoint: Annotated[
        tuple[str, ...], option("--checkpoint PATH", "a file of the checkpoint; else those that a resumed run reads")
    ] = (),
    ignored: Annotated[
        tuple[str, ...], option("--ignore-output REGEX", "printed lines that match are not compared")
    ] = (),
    as_json: AsJson = False,
) -> int:  # fmt: skip
    """Check, and print what came of it."""
    with Status() as status:
        found = check_resume(
            program.find("resume-check"),
            seed=None if seed is None else Seed.parse(seed),
            at=at,
            resume_arguments=None if resume_with is None else shlex.split(resume_with),
            checkpoints=checkpoint,
            ignored_output=ignored,
            progress=status,
        )
    return tell(found.to_json(), [found.to_text()], as_json=as_json, code=found.exit_code)
