r"""Render an asset in a clean folder, and let the run fill its log.

  twice asset record --from render.toml -o hot/theme.wav -- \
      fluidsynth -ni -F hot/theme.wav -r 48000 hot/gm.sf2 hot/theme.mid
  twice asset record --from render.toml --seed 7 --program -o hot/a.png -- \
      python hot/draw.py --seed {seed} hot/a.png

The command runs once, without a shell, in an empty folder that holds copies of its inputs: files that its
arguments name, and those of --input. It gets no environment but pinned variables and --env. A Python script (or
-m) runs under the recorder with --seed as its master seed; {seed} in an argument or a variable stands for the seed.
What the run cannot know is taken from the project file (--from) and from options; one error names all that is missing.
The asset, its draft OUTPUT.draft.json and the run's record go into the hot store; twice asset seal takes the draft.

Exit code 0 it was rendered and nothing is missing, 2 it was not: nothing is written then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import click

from twice.assets.log.models import WHY_CODES, AssetKind, Grade
from twice.assets.media.similarity import PROFILES
from twice.assets.render.command import TIMEOUT_S, rewrite_command
from twice.assets.render.draft import Declarations, read_declarations
from twice.assets.render.recorder import record_render
from twice.cli.commands.asset.store import (
    Settings,
    StoreOptions,
    Who,
    add_settings,
    read_clock,
)
from twice.cli.console import Status
from twice.cli.options import AsJson, argument, build_command, option, refuse_together, split_pairs
from twice.cli.output import tell
from twice.foundation.printable import printable


@dataclass(frozen=True, slots=True)
class PromiseOptions:
    """What is promised of an asset, and the rest that a person declares."""

    promise: Annotated[str | None, option(
        "--promise GRADE", "bytes, payload or tolerance", Grade)]  # fmt: skip
    profile: Annotated[str | None, option("--profile", "what tolerance means", sorted(PROFILES))]
    non_deterministic: Annotated[str | None, option(
        "--non-deterministic WHY", "why nothing is promised of it")]  # fmt: skip
    why_code: Annotated[str, option(
        "--why-code", "the same as a code", WHY_CODES, default="other")]  # fmt: skip
    constraints: Annotated[tuple[str, ...], option(
        "--constraint TEXT", "what keeps a non-deterministic asset consistent")]  # fmt: skip
    settings: Settings
    log_id: Annotated[str | None, option("--log-id ID", "the log's id")]  # fmt: skip

    def to_log(self) -> dict[str, Any]:
        """Give it as a part of a log.

        Raises:
            UsageError: E-USE-001: both promises were given, or something is no setting.
        """
        options = {"--promise": self.promise, "--non-deterministic": self.non_deterministic}
        refuse_together(options, "one of the two promises")
        declared: dict[str, Any] = {} if self.log_id is None else {"log_id": self.log_id}
        if self.promise is not None:
            profile = {} if self.profile is None else {"profile": {"name": self.profile}}
            declared["promise"] = {"mode": "deterministic", "grade": self.promise, **profile}
        elif self.non_deterministic is not None:
            why = {"why": self.non_deterministic, "why_code": self.why_code}
            kept = {"constraints": [*self.constraints]} if self.constraints else {}
            declared["promise"] = {"mode": "non-deterministic", **why, **kept}
        return add_settings(declared, self.settings)


@build_command
def command(
    words: Annotated[tuple[str, ...], argument(required=True, metavar="-- COMMAND...")],
    outputs: Annotated[tuple[Path, ...], option(
        "-o, --out OUTPUT", "what it writes, inside the store; by default every new file")],
    inputs: Annotated[tuple[Path, ...], option("--input FILE", "a file that it reads and that no argument names")],
    project_file: Annotated[Path | None, option("--from PROJECT.toml", "what holds for all renderings")],
    number: Annotated[int | None, option(
        "--seed N", "stands for {seed}, and seeds the recorder", type=click.IntRange(0))],
    seedless: Annotated[str, option("--no-seed WHY", "why it needs no seed", default="")],
    program: Annotated[bool, option("--program", "it is a program, without a generative model")],
    kind: Annotated[str | None, option(
        "--kind", "by default the file's name says it", AssetKind)],
    who: Who,
    timeout_s: Annotated[float, option(
        "--timeout SECONDS", "how long it may take (600)", default=TIMEOUT_S, type=click.FloatRange(0, min_open=True))],
    promised: PromiseOptions,
    variables: Annotated[tuple[str, ...], option("--env NAME=VALUE", "a variable that it gets")],
    force: Annotated[bool, option("--force", "replace the asset and its draft")],
    store: StoreOptions,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Render, and say what is there."""
    seeds = {"--seed": number, "--no-seed": seedless or None}
    refuse_together(seeds, "a seed, or why it needs none")
    said = Declarations() if project_file is None else read_declarations(project_file)
    said = replace(
        said, who=who or said.who, when=said.when or read_clock(), declared=promised.to_log(),
        seedless=seedless, program=program, kind=kind,
    )  # fmt: skip
    opened = store.open(outputs[0] if outputs else Path())
    job = rewrite_command(
        words, opened, inputs=inputs, outputs=outputs, seed=number, timeout_s=timeout_s,
        env=split_pairs(variables, "--env", "OMP_NUM_THREADS=2"),
    )  # fmt: skip
    with Status() as status:
        status(f"rendering with {Path(words[0]).name}")
        done = record_render(opened, job, said, force=force)
    lines = []
    for each in done:
        lines += [f"rendered: {each.asset}", f"draft: {each.draft}, recorded in {each.record}"]
        if not each.own:
            lines += ["note: the state folder cannot be written; a re-rendering will need --trust"]
        if each.watched:
            lines += [
                f"note: {words[0]} is another Python than this one: it ran unrecorded, and its chance is not governed"
            ]
        note = "note: it read {} by itself; to have it in the recipe: --input"
        lines += [note.format(path) for path in each.unnamed]
        lines += [f"next: twice asset seal {each.asset} --log {each.draft}"]
    rows = [each.to_json() for each in done]
    document = {"format": "twice.asset-recorded/1", "recorded": rows}
    return tell(document, map(printable, lines), as_json=as_json)
