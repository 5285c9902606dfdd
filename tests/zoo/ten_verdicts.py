"""Ten runs that part, each recorded and diagnosed, and the page that shows their verdicts.

    python tests/zoo/ten_verdicts.py

writes ``docs/guides/ten-verdicts.md``. ``test_ten_verdicts.py`` holds each verdict of the page against what
``twice diagnose`` prints now.

Invariant: written twice, the page is the same. Values that chance or the processor makes are kept from the page
that is there, as long as everything around them is what is printed now.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
PAGE = ROOT / "docs" / "guides" / "ten-verdicts.md"
README = ROOT / "README.md"
PROSE = 120
"""Columns of a paragraph on the page."""

UNSET = (
    "PYTHONHASHSEED", "TZ", "COLUMNS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    "OVEN_METRICS", "ZOO_WATCHED",
)  # fmt: skip
"""Variables of the caller's that would show in a verdict."""
Twice = Callable[[Sequence[str], Path], str]
"""Runs one command of twice in a folder, and returns what it prints."""


@dataclass(frozen=True)
class Example:
    """One run that parts from another.

    Attributes:
        name: as tests call it.
        title: the heading on the page.
        source: the program, from the folder of the zoo; ``README.md`` for the walk of the README.
        file: what the program is called on the page.
        shown: first and last line of each piece of the program that the page shows.
        happened: what the program does, and why the runs part.
        commands: as typed; the last one is the diagnosis.
        reading: how to read the verdict, and what to do.
        by_chance: whether the values are other ones in each recording, or on another processor.
        needs: preconditions, as in ``cases.PRECONDITIONS``.
    """

    name: str
    title: str
    source: str
    file: str
    shown: tuple[tuple[int, int], ...]
    happened: str
    commands: tuple[str, ...]
    reading: str
    by_chance: bool = False
    needs: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The program, without the marks that tests read."""
        if self.source == "README.md":
            return re.findall(
                r"```python\n(# walk\.py\n.*?)```", README.read_text("utf-8"), re.DOTALL
            )[0]
        marked = (TESTS / self.source).read_text("utf-8")
        return re.sub(r"  # (ZOO: )?(guilty|also|innocent)$", "", marked, flags=re.MULTILINE)

    @property
    def link(self) -> str:
        """The program, as seen from the page."""
        return os.path.relpath(
            README if self.source == "README.md" else TESTS / self.source, PAGE.parent
        )


DIAGNOSE = "twice diagnose a.twice b.twice"


def twin(program: str, a: str = "", b: str = "") -> tuple[str, ...]:
    """The commands that record a program twice, with other options, and diagnose."""
    record = f"twice record {program}:main --seed 1"
    return (
        f"{record} {a} -o a.twice".replace("  ", " "),
        f"{record} {b} -o b.twice".replace("  ", " "),
        DIAGNOSE,
    )


EXAMPLES = (
    Example(
        name="set order",
        title="The order of a set",
        source="corpora/zoo/28_dict_from_set.py",
        file="shop.py",
        shown=((12, 20), (30, 35)),
        happened="A dict is filled from a set of texts. Python salts the hashes of texts, so another hash seed "
        "gives the set, and then the dict, another order. `sell` draws one number for each name in that order.",
        commands=twin("shop.py", b="--env PYTHONHASHSEED=2"),
        reading="Both values of `offers` have the same members, in another order. Line 13 is the first that iterates "
        "over them; the fields only show what followed. Write `for name in sorted(offers)`.",
    ),
    Example(
        name="extra draw",
        title="A variable that makes one run draw more",
        source="corpora/zoo/29_global_random.py",
        file="game.py",
        shown=((9, 25),),
        happened="With `ZOO_WATCHED=yes` a preview is shuffled with the global generator. The game draws from the "
        "same generator, so all later cards differ.",
        commands=twin("game.py", b="--env ZOO_WATCHED=yes"),
        reading="`streams['global/random']` is the generator of the module `random`: run B has drawn nine more words "
        "from it. twice names the line that draws, not the line above that reads the variable. Give the "
        'preview a generator of its own: `run.python("preview")`.',
    ),
    Example(
        name="unseeded generator",
        title="A generator that nobody seeded",
        source="zoo/page_programs/pond.py",
        file="pond.py",
        shown=((8, 18), (27, 32)),
        happened="`default_rng()` without an argument takes its seed from the operating system. Both recordings were "
        "started alike.",
        commands=twin("pond.py"),
        reading="The runs part at tick 3, where the generator is first used. The line that the verdict names is the "
        'one that made the generator, before the first tick. Give it a seed: `run.rng("wind")`.',
        by_chance=True,
    ),
    Example(
        name="threads of BLAS",
        title="Threads of a BLAS library",
        source="corpora/zoo/11_blas_threads.py",
        file="trainer.py",
        shown=((8, 14), (23, 29)),
        happened="A product of long vectors is shared among the threads of the BLAS library. Each thread adds up its "
        "part, so two threads round differently from one.",
        commands=twin(
            "trainer.py", a="--env OPENBLAS_NUM_THREADS=1", b="--env OPENBLAS_NUM_THREADS=2"
        ),
        reading="The values agree in all but the last digits; `ulps` counts the representable numbers between them. "
        "Record both runs with the same number of threads, or declare a tolerance for `trainer`.",
        by_chance=True,
        needs=("two cores",),
    ),
    Example(
        name="replaced input",
        title="An input that a branch replaced",
        source="README.md",
        file="walk.py",
        shown=((6, 7), (16, 19)),
        happened="Run B is a branch of run A: `twice branch` replaces one input at tick 120 and runs on from there. "
        "This is the walk of the README.",
        commands=(
            "twice record walk.py:main --seed 42 --set ticks=500 -o a.twice",
            "twice branch a.twice --at 120 --input push=0.3 -o b.twice",
            DIAGNOSE,
        ),
        reading="`inputs['push']` shows what run A computed and what the branch was given. The channel is `replay`, "
        "because you made the difference yourself. There is nothing to correct, so there is no `do` line.",
    ),
    Example(
        name="left out of state",
        title="A field that `state()` leaves out",
        source="corpora/zoo/13_missing_cache.py",
        file="couriers.py",
        shown=((12, 17), (23, 27)),
        happened="The map remembers routes in `_routes`, and roads get slower. `state()` does not return `_routes`, "
        "so a run that is restored at tick 12 begins with no routes and computes them anew.",
        commands=(
            "twice record couriers.py:main --seed 1 --snapshots tick -o a.twice",
            "twice branch a.twice --at 12 -o b.twice",
            DIAGNOSE,
        ),
        reading="`not in state()` names the field: run A has routes in it, and the restored run has none. Return it "
        "from `state()` and put it back in `restore()`, or clear it at every tick. `reproduced` counts "
        "executions from the first tick on as well: they differ from run B, because run B was restored.",
    ),
    Example(
        name="other settings",
        title="Settings that differ",
        source="README.md",
        file="walk.py",
        shown=((16, 19),),
        happened="The same program was recorded with another seed and another number of ticks.",
        commands=(
            "twice record walk.py:main --seed 42 --set ticks=500 -o a.twice",
            "twice record walk.py:main --seed 43 --set ticks=400 -o b.twice",
            DIAGNOSE,
        ),
        reading="Runs with different settings are expected to differ, so twice executes nothing and lists the "
        "settings. Record one of the runs again with the settings of the other, or add `--anyway` to find the "
        "first line.",
    ),
    Example(
        name="extra read",
        title="A read that reaches nothing",
        source="corpora/fourth_blind_set/programs/oven_metrics.py",
        file="oven.py",
        shown=((14, 22), (26, 31)),
        happened="With `OVEN_METRICS=1` each control step is measured with the clock. The times go into a profile that "
        "no state contains.",
        commands=twin("oven.py", b="--env OVEN_METRICS=1"),
        reading="One run reads the clock and the other does not. Everything that is compared agrees, so the exit code "
        "is 0 and there is nothing to do.",
    ),
    Example(
        name="no line is sure",
        title="No line is sure",
        source="zoo/page_programs/raffle.py",
        file="raffle.py",
        shown=((8, 20),),
        happened="SQLite draws the winner with a random generator of its own, which it seeds by itself. twice sees the "
        "call, but not inside the database.",
        commands=twin("raffle.py"),
        reading="Line 20 is the likeliest one, but not sure: the tickets in the database may have differed before. "
        'The caveats name the objects that twice could not look into. Draw with `run.rng("raffle")`, or wrap '
        "the call in `run.input`, so that a replay gets the recorded winner.",
        by_chance=True,
    ),
    Example(
        name="not reproducing",
        title="A run that does not reproduce itself",
        source="corpora/zoo/03_fleet_unpinned.py",
        file="fleet.py",
        shown=((30, 44),),
        happened="The class has no `__hash__` of its own, so a set orders wagons by their addresses in memory. The program "
        "makes these random, as they are in any large program.",
        commands=twin("fleet.py"),
        reading="No execution of run A or of run B gives what was recorded, so A and B cannot be compared. The two "
        "values of `heavy` are those of two executions of run A. Correct this first, then record both runs "
        "again.",
        by_chance=True,
    ),
)

HEADER = """# Ten verdicts, and how to read them

What `twice diagnose` prints for ten pairs of runs that differ. Each example shows a part of the program, the commands, the
verdict, and what to do. [Find where two runs part](diagnose.md) explains the parts of a verdict.

You need twice and numpy. To try an example, copy its program into an empty folder, under the name given above its lines,
and type the commands.

<!-- Written by tests/zoo/ten_verdicts.py: change that, and run it. -->

| what happened | verdict | exit code |
|---|---|---|
"""

FOOTER = """
## Limits

- Where values come from chance or from your processor (examples {by_chance}), you get other ones.
- twice names one line, the first whose result stays different. If you correct it, a second one may show: record and
  diagnose again.
- A verdict has at most 25 lines. `--json` has everything.
"""

EXIT_CODES = {
    "extra-read": 0,
    "localised": 1,
    "candidates": 1,
    "non-reproducing": 2,
    "not-same-input": 2,
}


def find_verdict(example: Example, folder: Path, twice: Twice) -> str:
    """Type the commands of an example in an empty folder; what the last one prints."""
    (folder / example.file).write_text(example.text, encoding="utf-8")
    said = ""
    for command in example.commands:
        said = twice(shlex.split(command)[1:], folder)
    return said.strip()


def mask(example: Example, verdict: str) -> str:
    """The verdict without what chance, the processor and the version of Python decide.

    Where values are made by chance, so is which fields differ, in which lines two values are laid out, and whether
    an earlier difference passed.
    """
    told = re.sub(r"(\.<locals>)?\.<(list|dict|set)comp>", "", verdict)
    if not example.by_chance:
        return told
    told = re.sub(r"^( *\S.*?):\n +a: .*\n +b: .*$", r"\1: # / #", told, flags=re.MULTILINE)
    told = re.sub(r"^( *(?:field: .*?|\S+)): .* / .*$", r"\1: # / #", told, flags=re.MULTILINE)
    told = re.sub(r"^  field: .*\n", "", told, flags=re.MULTILINE)
    told = told.replace(
        "  observed: It is the first operation after which the runs stay different.\n", ""
    )
    told = re.sub(r"\d+ of \d+\b|\d+ ulps?\b", "#", told)
    return " ".join(told.split())


def verdicts_on(page: str) -> dict[str, str]:
    """The verdicts that a page shows, by the name of their example."""
    found = {}
    for example in EXAMPLES:
        _, heading, section = page.partition(f". {example.title}\n")
        blocks = re.findall(
            r"^```\w*\n(.*?)\n```$", section.partition("\n## ")[0], re.DOTALL | re.MULTILINE
        )
        if heading and blocks:  # pieces of the program, the commands, the verdict
            found[example.name] = blocks[-1]
    return found


def wrap(text: str) -> list[str]:
    """A paragraph of prose in lines."""
    return textwrap.wrap(text, PROSE, break_long_words=False, break_on_hyphens=False)


def section_of(number: int, example: Example, verdict: str) -> str:
    """One example, as the page shows it."""
    lines = example.text.splitlines()
    pieces = ["\n".join(lines[first - 1 : last]) for first, last in example.shown]
    places = " and ".join(f"{first} to {last}" for first, last in example.shown)
    return "\n".join(
        [
            f"## {number}. {example.title}",
            "",
            *wrap(example.happened),
            "",
            f"Lines {places} of `{example.file}` ([the program]({example.link})):",
            "",
            *(line for piece in pieces for line in ("```python", piece, "```", "")),
            "```",
            *example.commands,
            "```",
            "",
            "```",
            verdict,
            "```",
            "",
            *wrap(example.reading),
            "",
        ]
    )


def page_of(verdicts: dict[str, str]) -> str:
    """The whole page."""
    rows, sections, by_chance = [], [], []
    for number, example in enumerate(EXAMPLES, 1):
        verdict = verdicts[example.name]
        result = verdict.partition(":")[0]
        anchor = re.sub(r"[^\w -]", "", f"{number} {example.title}".lower()).replace(" ", "-")
        rows.append(
            f"| [{example.title.replace('`', '')}](#{anchor}) | `{result}` | {EXIT_CODES[result]} |"
        )
        sections.append(section_of(number, example, verdict))
        by_chance += [str(number)] * example.by_chance
    listed = f"{', '.join(by_chance[:-1])} and {by_chance[-1]}"
    return HEADER + "\n".join(rows) + "\n\n" + "\n".join(sections) + FOOTER.format(by_chance=listed)


def settle(example: Example, now: str, kept: str | None) -> str:
    """What the page is to show: what it shows already, where nothing but values of chance differ."""
    return kept if kept is not None and mask(example, kept) == mask(example, now) else now


def type_command(command: Sequence[str], folder: Path) -> str:
    """Run a command in a process of its own, with none of the variables that would show in a verdict."""
    told = {name: value for name, value in os.environ.items() if name not in UNSET}
    done = subprocess.run(
        [sys.executable, "-m", "twice", *command],
        cwd=folder,
        env=told,
        capture_output=True,
        text=True,
        check=False,
    )
    if command[0] != "diagnose" and done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def main() -> int:
    kept = verdicts_on(PAGE.read_text("utf-8")) if PAGE.exists() else {}
    verdicts = {}
    for example in EXAMPLES:
        with tempfile.TemporaryDirectory(prefix="verdict-") as folder:
            now = find_verdict(example, Path(folder), type_command)
        print(f"{example.name}: {now.partition(chr(10))[0]}", flush=True)
        verdicts[example.name] = settle(example, now, kept.get(example.name))
    PAGE.write_text(page_of(verdicts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
