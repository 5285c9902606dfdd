"""Record a program under many seeds and values, and say what the runs have in common.

  twice sweep program.py:main --seeds 1000 -o folder
  twice sweep program.py:main --seeds 1000 --set lr=0.1,0.3 -o folder
  twice sweep program.py:main --seeds 100 --verify -o folder
  twice sweep train.py:main --seeds 5000 --summary x --until 0.1 -o out

Each run is recorded into FOLDER. Its seed is derived from that of the sweep and its own number, so every combination of
values, an arm, has the same seeds. The same command again goes on where an earlier one was killed. Runs that fail are
grouped by cause, with a record of each.

--summary reports the mean of a number for each arm. With --until an arm takes no more seeds once the interval around its
mean is that narrow; the interval allows for looking after every run.

Exit code 0 when all runs ended well, 1 when any failed, 2 when something could not be told.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import click

from twice.cli.console import show_progress
from twice.cli.options import AsJson, Limit, build_command, option, refuse_without
from twice.cli.output import limit_rows, print_beside, tell
from twice.cli.policies import PolicyOptions
from twice.cli.run_options import ProgramOptions, StartOptions
from twice.cli.several_records import PlaceOptions
from twice.errors import SeedMissing, UsageError
from twice.foundation.determinism_class import Predicate
from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed
from twice.recorder.config import read_config
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.recorder import choose_master_seed
from twice.recorder.setup import Setup
from twice.runs.places import open_executor
from twice.runs.sweep import Sweep, SweepFolder, parse_grid
from twice.runs.sweep_execution import run_sweep
from twice.runs.sweep_report import SummaryOptions


@dataclass(frozen=True, slots=True)
class SweptNumberOptions:
    """The number that is reported for each arm, and how well it is to be known."""

    summary: Annotated[
        str | None, option("--summary NAME", "report the mean of this number of the runs")
    ]
    until: Annotated[
        float | None, option("--until WIDTH", "take no more seeds once the interval is that wide")
    ]
    alpha: Annotated[float, option("--alpha P", "chance that the interval misses the mean")] = 0.05

    def read(self) -> SummaryOptions:
        """Give them as a value.

        Raises:
            UsageError: E-USE-001, for a width without a number, or one that nothing can reach.
        """
        refuse_without({"--until": self.until}, {"--summary": self.summary})
        for name, value, top in (("--until", self.until, math.inf), ("--alpha", self.alpha, 1.0)):
            if value is not None and not 0 < value < top:
                raise UsageError(
                    f"{name} is {value!r}.",
                    f"Expected a number above 0 and below {top:g}.",
                    "For example: --summary reward --until 0.1 --alpha 0.05",
                )
        return SummaryOptions(self.summary or "", self.until, self.alpha)


@build_command
def command(
    program: ProgramOptions,
    start: Annotated[StartOptions, {
        "seed": "seed of the sweep; without it that of the folder, or one of chance, which sweep.json keeps",
        "settings": "values of one key of run.config: KEY=VALUE,VALUE; each combination is an arm"}],
    seeds: Annotated[int, option("--seeds N", "how many seeds for each arm", type=click.IntRange(1))],
    out: Annotated[Path, option("-o, --out FOLDER", "folder of the records, free or of the same sweep")],
    policies: PolicyOptions,
    number: SweptNumberOptions,
    verifies: Annotated[bool, option("--verify", "verify each record once it is made")],
    where: PlaceOptions,
    limit: Limit,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Sweep, and say what came of it."""
    summary = number.read()
    grid = parse_grid(start.settings)
    try:
        given = choose_master_seed(start.master_seed())
    except SeedMissing:
        given = None  # that of the folder, or one of chance
    setup = Setup(
        program=program.find("sweep"),
        seed=given or Seed(0),
        config={} if start.config is None else read_config(start.config),
        predicate=Predicate.parse(start.classes, "host"),
        **policies.to_setup(),
    )
    surroundings = for_recording(os.environ, explicit=policies.environment())
    sweep = Sweep(setup, surroundings, grid, seeds)
    with SweepFolder(out) as folder:
        sweep = replace(sweep, setup=replace(setup, seed=folder.choose_seed(given)))
        print_beside(
            f"sweep seed {sweep.setup.seed.value}: {pluralize(len(sweep), 'run')}, {pluralize(len(sweep.arms), 'arm')}"
        )
        with (
            show_progress("recorded") as progress,
            open_executor(where.on or "local", where.jobs) as executor,
        ):
            report = run_sweep(
                sweep, folder, executor, summary=summary, verifies=verifies, progress=progress
            )
    document = limit_rows(report.to_json(), "causes", limit)
    return tell(document, report.to_lines(), as_json=as_json, code=report.exit_code)
