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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from twice.assets.making.command import SEED, rewritten
from twice.assets.making.drafting import Saying
from twice.assets.making.filling import PINS
from twice.assets.making.project import Project, read_project
from twice.assets.making.recording import Recorded, record_render
from twice.assets.model.log import AssetKind
from twice.assets.model.promise import WHY_CODES, Grade
from twice.cli.commands.asset.hot_store import StoreOptions, read_clock, store_options
from twice.cli.commands.asset.log_values import (
    add_settings,
    ask_missing,
    settings_option,
    who_option,
)
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import PATH, gather, json_option, several, split_pairs
from twice.cli.output import tell
from twice.errors import UsageError
from twice.foundation.printable import printable


@dataclass(frozen=True, slots=True)
class PromiseOptions:
    """What is promised of an asset, and the rest that a person declares."""

    promise: str | None
    profile: str | None
    non_deterministic: str | None
    why_code: str
    constraints: tuple[str, ...]
    settings: tuple[str, ...]
    log_id: str | None

    def to_log(self) -> dict[str, Any]:
        """Give it as a part of a log.

        Raises:
            UsageError: E-USE-001: both promises were given, or something is no setting.
        """
        declared: dict[str, Any] = {}
        if self.promise is not None and self.non_deterministic is not None:
            raise UsageError(
                "--promise and --non-deterministic were given together.",
                "Expected one of the two promises.",
                "Leave one of them out.",
            )
        if self.promise is not None:
            declared["promise"] = {"mode": "deterministic", "grade": self.promise}
            if self.profile is not None:
                declared["promise"]["profile"] = {"name": self.profile}
        if self.non_deterministic is not None:
            why = {"why": self.non_deterministic, "why_code": self.why_code}
            declared["promise"] = {"mode": "non-deterministic", **why}
            if self.constraints:
                declared["promise"]["constraints"] = list(self.constraints)
        if self.log_id is not None:
            declared["log_id"] = self.log_id
        return add_settings(declared, self.settings)


_PROMISE: Final = gather(
    "promised",
    PromiseOptions,
    click.option(
        "--promise", type=click.Choice([*map(str, Grade)]), metavar="GRADE",
        help="bytes, payload or tolerance",
    ),
    click.option("--profile", metavar="NAME", help="what tolerance means"),
    click.option("--non-deterministic", metavar="WHY", help="why nothing is promised of it"),
    click.option(
        "--why-code", type=click.Choice(WHY_CODES), default="other", help="the same as a code"
    ),
    several(
        "--constraint", "constraints", metavar="TEXT",
        help="what keeps a non-deterministic asset consistent",
    ),
    settings_option,
    click.option("--log-id", metavar="ID", help="the log's id"),
)  # fmt: skip


_SAYING: Final = gather(
    "saying",
    Saying,
    click.option("--seed", default="", metavar="N", help="stands for {seed}, and seeds the recorder"),
    click.option("--no-seed", "seedless", default="", metavar="WHY", help="why it needs no seed"),
    click.option("--program", is_flag=True, help="it is a program, without a generative model"),
    click.option(
        "--kind", type=click.Choice([*map(str, AssetKind)]), help="by default the file's name says it"
    ),
    who_option,
    click.option(
        "--timeout", "timeout_s", type=click.FloatRange(0, min_open=True), default=600.0,
        metavar="SECONDS", help="how long it may take (600)",
    ),
)  # fmt: skip


@make_command(
    click.argument("words", nargs=-1, required=True, metavar="-- COMMAND..."),
    click.option(
        "-o", "--out", "outputs", multiple=True, type=PATH, metavar="OUTPUT",
        help="what it writes, inside the store; by default every new file; repeatable",
    ),
    several(
        "--input", "inputs", type=PATH, metavar="FILE",
        help="a file that it reads and that no argument names",
    ),
    click.option(
        "--from", "project_file", type=PATH, metavar="PROJECT.toml", help="what holds for all renderings"
    ),
    _SAYING,
    _PROMISE,
    several("--env", "variables", metavar="NAME=VALUE", help="a variable that it gets"),
    click.option("--force", is_flag=True, help="replace the asset and its draft"),
    store_options,
    json_option,
)  # fmt: skip
def command(
    words: tuple[str, ...],
    outputs: tuple[Path, ...],
    inputs: tuple[Path, ...],
    project_file: Path | None,
    saying: Saying,
    promised: PromiseOptions,
    variables: tuple[str, ...],
    force: bool,
    store: StoreOptions,
    as_json: bool,
) -> int:
    """Render, and say what is there."""
    seed = saying.seed
    if seed and not seed.isdecimal():
        raise UsageError(
            f"--seed {seed!r} is no seed.",
            "Expected a whole number of at least 0, in decimal digits.",
            "For example: --seed 7",
        )
    given = split_pairs(variables, "--env", "OMP_NUM_THREADS=2")
    env = {name: text.replace(SEED, seed) if seed else text for name, text in given.items()}
    saying = replace(
        saying,
        project=Project() if project_file is None else read_project(project_file),
        declared=promised.to_log(),
        when=read_clock(),
        seeded=any(SEED in each for each in variables),
        env={**PINS, **env},
    )
    opened = store.open(outputs[0] if outputs else Path())
    rendering = rewritten(list(words), opened, inputs, outputs, seed)
    with Status() as status:
        status(f"rendering with {Path(words[0]).name}")
        done = record_render(opened, rendering, saying, answering=ask_missing(saying), force=force)
    return tell(
        {"format": "twice.asset-recorded/1", "recorded": [each.to_json() for each in done]},
        (printable(line) for each in done for line in _lines(each)),
        as_json=as_json,
    )


def _lines(done: Recorded) -> Iterator[str]:
    yield f"rendered: {done.asset}"
    yield f"draft: {done.draft}, recorded in {done.record}"
    if not done.own:
        yield "note: the state folder cannot be written; a re-rendering will need --trust"
    for path in done.unnamed:
        yield f"note: it read {path} by itself; to have it in the recipe: --input"
    yield f"next: twice asset seal {done.asset} --log {done.draft}"
