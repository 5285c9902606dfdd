"""What ``twice demo`` does: record, verify, diverge, diagnose.

The program is copied into a folder, because installed files do not count as a user's own. What the
diagnosis says about the copy is said about the shipped file, which has the same lines and stays.

Invariant: both records are of one program, one seed and one configuration; the hash seed differs.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence
from twice.recording.naming import parse_program
from twice.recording.recorder import record
from twice.replayer.verification import Verification
from twice.replayer.verify import verify

SEED: Final = 7
HASH_SEEDS: Final = ("1", "2")
RECORDS: Final = ("a.twice", "b.twice")
SHIPPED: Final = Path(__file__).with_name("harbour.py")
_PLANTED: Final = "for name in self.at_sea:"


@dataclass(frozen=True)
class Staged:
    """What came out.

    Attributes:
        folder: where program and records stand.
        verification: of the first record, in a fresh process.
        divergence: of the two records.
    """

    folder: Path
    verification: Verification
    divergence: Divergence

    @property
    def as_planted(self) -> bool:
        """Whether the record verified, and the diagnosis named the planted line."""
        operation = self.divergence.operation
        return (
            self.verification.result == "PASS"
            and operation is not None
            and Path(operation.file).name == SHIPPED.name
            and operation.line == planted_line()
        )

    def about_shipped(self) -> Divergence:
        """The divergence with the shipped file in place of its copy, which will be gone."""
        operation = self.divergence.operation
        if operation is None or Path(operation.file).name != SHIPPED.name:
            return self.divergence
        return replace(
            self.divergence,
            a=RECORDS[0],
            b=RECORDS[1],
            operation=replace(operation, file=str(SHIPPED)),
            next=("twice demo --keep DIR",),
        )


def planted_line() -> int:
    """Number of the line in the shipped program at which runs part, from 1."""
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    return next(at for at, line in enumerate(lines, start=1) if line.strip() == _PLANTED)


def stage(folder: Path, doing: Callable[[str], None], *, force: bool = False) -> Staged:
    """Record twice, verify once, diagnose.

    Args:
        folder: is there, and takes ``harbour.py``, two records and a statement.
        doing: called with what is being done.
        force: replace records that are there.
    """
    shutil.copyfile(SHIPPED, folder / SHIPPED.name)
    program = parse_program(f"{SHIPPED.name}:main", cwd=folder)
    paths = [folder / name for name in RECORDS]
    for path, hash_seed in zip(paths, HASH_SEEDS, strict=True):
        doing(f"recording under hash seed {hash_seed}")
        surroundings = {"PYTHONHASHSEED": hash_seed}
        record(program, seed=SEED, out=path, env=surroundings, force=force).close()
    doing("verifying in a fresh process")
    verification = verify(paths[0])
    verification.write_beside()
    return Staged(folder, verification, diagnose(*paths, progress=doing))
