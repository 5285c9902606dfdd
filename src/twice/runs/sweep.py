"""A sweep: one program under many seeds and values, planned before the first run and written down in ``sweep.json``.

The seed of every run follows from the sweep's own seed and the number of the seed alone, so the arms of a sweep share
their seeds: a difference between two arms is not one of luck. The first command writes the manifest, and the same command
again goes on from the records that are whole.

Not for: executing anything. ``sweep_execution`` does that.

Invariant: manifest and records of a sweep follow from its seed, its program and its options, whoever executes it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Final

from twice.errors import ConfigError, OutputExists, UsageError
from twice.foundation.digests import digest_bytes
from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed, derive_in
from twice.foundation.version import VERSION
from twice.foundation.with_blocks import Closing
from twice.recorder.config import format_settings, parse_value
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.setup import Setup
from twice.writing import make_folder, write

FORMAT: Final = "twice.sweep/1"
MANIFEST: Final = "sweep.json"
RUNS_MAX: Final = 1_000_000
_LABEL_MAX: Final = 80
"""Bytes of the values in a file's name."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One combination of values: the configuration keys that it sets, and its name, which is that of its files."""

    label: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SweptRun:
    """One run of a sweep: its number, the number of its seed, the seed, its arm and the name of its record."""

    number: int
    index: int
    seed: Seed
    arm: int
    file: str


def parse_grid(pairs: Iterable[str]) -> dict[str, list[Any]]:
    """Read ``key=value,value`` pairs; the values are typed as TOML types them, and words are text.

    Raises:
        ConfigError: E-CONFIG-001, for what is no key with values, a key given twice, or a value given twice.
    """
    grid: dict[str, list[Any]] = {}
    for pair in pairs:
        key, equals, text = (part.strip() for part in pair.partition("="))
        values = _parse_values(text)
        shown = [repr(value) for value in values]
        wrong = ""
        if not equals or not key:
            wrong = "is not a key and its values"
        elif key in grid:
            wrong = "names a key that was given before"
        elif len({*shown}) < len(shown):
            wrong = "names a value twice"
        elif (
            any(isinstance(value, str) and "," in value for value in values)
            and text[0] not in "\"'"
        ):
            wrong = "mixes words with lists, tables or quotes"
        if wrong:
            raise ConfigError(
                f"--set {pair!r} {wrong}.",
                "Expected KEY=VALUE or KEY=VALUE,VALUE, each key and each of its values once.",
                'For example: --set lr=1e-3,3e-4 --set \'optimizer="sgd","adam"\'',
                key=key,
            )
        grid[key] = values
    return grid


def _parse_values(text: str) -> list[Any]:
    try:
        values = tomllib.loads(f"values = [{text}]")["values"]
    except tomllib.TOMLDecodeError:
        values = []
    if values or not text:
        return values or [""]
    if re.search(r"[\[{\"']", text):  # a comma may stand inside of a value
        return [text]
    return [parse_value(part.strip()) for part in text.split(",")]


def build_arms(grid: Mapping[str, Sequence[Any]]) -> list[Arm]:
    """Return every combination of values, the first key's changing slowest; one without values where there is no key."""
    arms: dict[str, Arm] = {}
    for values in product(*grid.values()):
        given = dict(zip(grid, values, strict=True))
        label = re.sub(r"[^A-Za-z0-9._=+,-]", "_", ",".join(format_settings(given)))[:_LABEL_MAX]
        if label in arms:
            label += f"+{len(arms)}"
        arms[label] = Arm(label, given)
    return [*arms.values()]


@dataclass(frozen=True)
class Sweep:
    """The plan of a sweep.

    Attributes:
        setup: of every run; its seed is the sweep's own, and its configuration lacks the values of the arms.
        surroundings: of every run.
        grid: the values of each key.
        seeds: how many seeds.
    """

    setup: Setup
    surroundings: Surroundings
    grid: Mapping[str, Sequence[Any]]
    seeds: int

    def __post_init__(self) -> None:
        """Refuse what makes no runs, too many, or a sample of samples: ``UsageError``, E-USE-001."""
        wrong = ""
        if self.setup.predicate.sampled_parts:
            wrong = "A statistical class was given: its record holds a sample of runs, and a sweep is one itself."
        elif not 1 <= self.seeds * len(self.arms) <= RUNS_MAX:
            wrong = f"{pluralize(self.seeds, 'seed')} of {pluralize(len(self.arms), 'arm')} make {self.seeds * len(self.arms):,} runs."
        if wrong:
            raise UsageError(
                wrong,
                f"Expected 1 to {RUNS_MAX:,} runs of another class.",
                "For example: twice sweep program.py:main --seeds 1000 --set lr=1e-3,3e-4 -o folder",
            )

    @cached_property
    def arms(self) -> list[Arm]:
        """Return the arms."""
        return build_arms(self.grid)

    def __len__(self) -> int:
        return self.seeds * len(self.arms)

    def __getitem__(self, number: int) -> SweptRun:
        """Return a run by its number: all arms of the first seed, then all of the next."""
        index, arm = divmod(number, len(self.arms))
        seed = derive_in(self.setup.seed, "sweep", index, rule=self.setup.rule)
        label = self.arms[arm].label
        digits = max(4, len(str(self.seeds - 1)))
        return SweptRun(number, index, seed, arm, f"{index:0{digits}}{label and f'-{label}'}.twice")

    def setup_of(self, run: SweptRun) -> Setup:
        """Return the setup of a run."""
        config = {**self.setup.config, **self.arms[run.arm].values}
        return replace(self.setup, seed=run.seed, config=config)

    def to_json(self) -> dict[str, Any]:
        """Return the manifest, ``twice.sweep/1``."""
        setup = self.setup.to_json()
        explicit = [row for row in self.surroundings.to_json()["variables"] if row["source"] == "explicit"]  # fmt: skip
        # Neither the seed nor the folder of the checkout: both may come from the manifest of a sweep that goes on.
        decided = {**setup, "seed": "", "program": {**self.setup.program.to_json(), "root": ""}}
        text = json.dumps([decided, explicit], sort_keys=True, default=str)
        return {
            "format": FORMAT,
            "twice": VERSION,
            "program": str(self.setup.program),
            "seed": str(self.setup.seed.value),
            "seed_rule": self.setup.rule,
            "seeds": self.seeds,
            "grid": {key: [*values] for key, values in self.grid.items()},
            "setup": setup,
            "setup_digest": str(digest_bytes(text.encode())),
            "arms": [{"label": arm.label, "values": dict(arm.values)} for arm in self.arms],
            "runs": [
                {"file": run.file, "seed": str(run.seed.value), "arm": run.arm} for run in self
            ],
        }

    def __iter__(self) -> Iterator[SweptRun]:
        return map(self.__getitem__, range(len(self)))


class SweepFolder(Closing):
    """The folder of a sweep, which one process at a time works on.

    Args:
        path: of the folder; made where it is not there.

    Raises:
        OutputUnwritable: E-OUTPUT-002. OutputExists: E-OUTPUT-001, when something other than a sweep is in it.
        UsageError: E-USE-001, when another process works on it.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._is_new = path, not path.exists()
        make_folder(path)
        self._lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._take()
            self.manifest = self._read_manifest()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let another process work on it; a new one without a manifest goes."""
        if self._is_new:
            with suppress(OSError):  # it is not empty
                self.path.rmdir()
        os.close(self._lock)

    def choose_seed(self, given: Seed | None) -> Seed:
        """Return the sweep's seed: the given one, that of the sweep that is here, or one of chance, which the manifest keeps."""
        # twice: ignore[time-seed] the manifest keeps it, and the same command takes it from there
        if given is not None or self.manifest is None:
            return given or Seed(int.from_bytes(os.urandom(16), "big"))
        return Seed.parse(str(self.manifest.get("seed")))

    def begin(self, sweep: Sweep) -> None:
        """Write the manifest of a sweep, or see that the one that is here is the same.

        Raises:
            OutputExists: E-OUTPUT-001, when it is another. OutputUnwritable: E-OUTPUT-002.
        """
        document = json.loads(text := json.dumps(sweep.to_json(), indent=1, default=str))
        if self.manifest is None:
            write(self.path / MANIFEST, f"{text}\n".encode())
            return
        names = ("format", "program", "seeds", "grid", "seed", "setup_digest")
        for name in names:
            if document[name] != (there := self.manifest.get(name)):
                raise OutputExists(
                    f"{self.path} holds another sweep: its {MANIFEST} says {name} {there!r}, this command {document[name]!r}.",
                    "Expected the command that began it, with the same options, or a folder that is free.",
                    "Choose another folder with -o.",
                    path=str(self.path),
                )

    def undo(self, sweep: Sweep) -> None:
        """Leave the folder as it was found, if no earlier command worked on it."""
        if self.manifest is not None:
            return
        if self._is_new:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        for name in (*(run.file for run in sweep), MANIFEST):
            (self.path / name).unlink(missing_ok=True)

    def _take(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"{self.path} cannot be locked: {error.strerror}; another process may be working on its sweep.",
                "Expected one process at a time.",
                "Wait for it to end, or choose another folder with -o.",
                path=str(self.path),
            ) from error

    def _read_manifest(self) -> dict[str, Any] | None:
        path = self.path / MANIFEST
        if path.exists():
            try:
                found = json.loads(path.read_bytes())
            except (OSError, ValueError):
                found = None
            return found if isinstance(found, dict) else {}
        # What begins with a dot is what a killed command left, or a catalogue.
        others = sorted(each.name for each in self.path.iterdir() if not each.name.startswith("."))
        if others:
            raise OutputExists(
                f"{self.path} is not empty, and no sweep: {others[0]} is in it.",
                f"Expected a folder that is free or empty, or one with the {MANIFEST} of the same sweep.",
                "Choose another folder with -o.",
                path=str(self.path),
            )
        return None
