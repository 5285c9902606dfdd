r"""Search for an order of steps in which a program over asyncio fails.

  twice explore app.py:main --seed 1 --schedules 2000
  twice explore app.py:main --seed 1 --strategy delay-bounded --json
  twice explore script.py --seed 1 -- --port 0

The program runs in a simulated loop: in virtual time, one step at a time, with connections in memory, in a copy of your
files. An async function without arguments is executed fastest. A schedule that fails is shrunk to the faults and the orders of
steps that it needs, and recorded. Faults happen where the program calls twice.schedules.fault, and to what it starts by
twice.schedules.host; those of the network only with --faults.

A search that finds nothing proves nothing, unless it was exhausted: then no schedule within the bound fails.

Exit code 0 when none failed, 1 when one did, 2 when the program could not be executed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from twice.cli.console import show_progress
from twice.cli.options import AsJson, build_command, option, split_pairs
from twice.cli.output import tell
from twice.cli.run_options import ProgramOptions, StartOptions
from twice.schedules.explore import explore
from twice.simulation.faults import DECLARED, KINDS
from twice.simulation.order import STRATEGIES


@build_command
def command(
    program: ProgramOptions,
    start: StartOptions,
    schedules: Annotated[int, option("--schedules N", "how many executions at most, without those that shrink")] = 1000,
    strategy: Annotated[str, option("--strategy HOW", "how orders are chosen", STRATEGIES)] = "portfolio",
    faults: Annotated[str, option(
        "--faults KINDS", f"that may happen: some of {', '.join(KINDS)}, or all, or none"
    )] = ",".join(DECLARED),
    out: Annotated[Path | None, option("-o, --out FOLDER", "folder for records of failing schedules")] = None,
    force: Annotated[bool, option("--force", "replace records of failures in the folder")] = False,
    variables: Annotated[tuple[str, ...], option("--env NAME=VALUE", "an environment variable of the program")] = (),
    goes_on: Annotated[bool, option("--all", "go on behind a failure, for others")] = False,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    """Search, record what fails, and say it."""
    found = program.find("explore")
    name = found.target if found.kind == "main" else Path(found.target).stem
    with show_progress("executing") as progress:
        exploration = explore(
            found,
            seed=start.master_seed(),
            schedules=schedules,
            strategy=strategy,
            faults=faults,
            out=out or Path(f"{name}-schedules"),
            force=force,
            config=start.values(),
            env=split_pairs(variables, "--env", "OMP_NUM_THREADS=1"),
            goes_on=goes_on,
            progress=progress,
        )
    code = int(exploration.result == "found")
    return tell(
        exploration.to_json(), exploration.to_text().split("\n"), as_json=as_json, code=code
    )
