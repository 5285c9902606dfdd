"""See it happen: record a simulation, verify it, make it diverge, find the line.

  twice demo
  twice demo --keep harbour

A small simulation that comes with twice is recorded and verified in a fresh process. Then it is
recorded under another hash seed, and the diagnosis names the planted mistake. With --keep, program,
records and a page to look at stay in that folder.

Exit code 0 when everything came out as planted, else 1.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from twice.cli.console import Status
from twice.cli.options import AsJson, build_command, option
from twice.cli.output import tell
from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence
from twice.foundation.next_step import NextStep
from twice.foundation.printable import printable
from twice.recorder.program_spec import parse_program
from twice.recorder.recorder import record, refuse_existing
from twice.replayer.verification import Verification
from twice.replayer.verify import verify
from twice.writing import make_folder

# An ordinary program with one mistake. It is copied, because installed files do not count as a user's own.
SHIPPED: Final = Path(__file__).parents[1] / "harbour.py"
PLANTED: Final = "for name in self.at_sea:"
_SEED: Final = 7
_HASH_SEEDS: Final = ("1", "2")
_RECORDS: Final = ("a.twice", "b.twice")


@build_command
def command(
    keep: Annotated[Path | None, option("--keep DIR", "leave everything in this folder")],
    force: Annotated[bool, option("--force", "replace what stands in that folder")],
    as_json: AsJson,
) -> int:
    """Record twice, verify and diagnose in a folder that goes or stays, and print both verdicts."""
    if keep is not None:
        for name in (SHIPPED.name, *_RECORDS):
            refuse_existing(keep / name, force=force)
        make_folder(keep)
    place = tempfile.TemporaryDirectory(prefix="twice-demo-") if keep is None else nullcontext(keep)
    with place as folder, Status() as status:
        verification, divergence = _stage(Path(folder), status, force=force)
    operation = divergence.operation
    is_found = operation is not None and Path(operation.file).name == SHIPPED.name
    rows = SHIPPED.read_text(encoding="utf-8").splitlines()
    as_planted = (
        verification.result == "PASS" and operation is not None and is_found
        and rows[operation.line - 1].strip() == PLANTED
    )  # fmt: skip
    following = "twice demo --keep harbour"
    if keep is not None:
        a, b = (keep / name for name in _RECORDS)
        following = f"twice report {a} {b} -o {keep / 'report.html'}"
    elif operation is not None and is_found:
        # The copy is gone, and has the lines of the shipped file.
        divergence = replace(
            divergence, a=_RECORDS[0], b=_RECORDS[1], operation=replace(operation, file=str(SHIPPED)),
            next=[NextStep("keep its files", "twice demo --keep DIR")],
        )  # fmt: skip
    document = {
        "format": "twice.demo/1",
        "folder": None if keep is None else str(keep),
        "as_planted": as_planted,
        "verification": verification.to_json(),
        "divergence": divergence.to_json(),
    }
    lines = [*_describe(verification, divergence), f"next: {following}"]
    return tell(document, lines, as_json=as_json, code=0 if as_planted else 1)


def _stage(folder: Path, status: Status, *, force: bool) -> tuple[Verification, Divergence]:
    """Record under two hash seeds, verify the first record, diagnose both."""
    shutil.copyfile(SHIPPED, folder / SHIPPED.name)
    program = parse_program(f"{SHIPPED.name}:main", cwd=folder)
    paths = [folder / name for name in _RECORDS]
    for path, hash_seed in zip(paths, _HASH_SEEDS, strict=True):
        status(f"recording under hash seed {hash_seed}")
        record(
            program, seed=_SEED, out=path, env={"PYTHONHASHSEED": hash_seed}, force=force
        ).close()
    status("verifying in a fresh process")
    verification = verify(paths[0])
    verification.write_beside()
    return verification, diagnose(*paths, progress=status)


def _describe(verification: Verification, divergence: Divergence) -> Iterator[str]:
    counts = verification.counts
    yield (
        f"{verification.result}: {SHIPPED.name}, seed {_SEED}, recorded and verified in a fresh "
        f"process: {counts['passed']} of {counts['evaluated']} compare-points agree"
    )
    operation = divergence.operation
    if operation is None:
        yield divergence.to_text()
        return
    where = f"{operation.file}:{operation.line}"
    tick = divergence.compare_point.tick if divergence.compare_point is not None else -1
    yield f"{divergence.result}: under another hash seed it parts at tick {tick}, at {where}"
    yield f"  operation: {printable(operation.code)}"
    yield f"      {printable(operation.name)}: {printable(operation.a)} / {printable(operation.b)}"
    for field in divergence.fields[:2]:
        yield f"  field: {printable(field.path)}: {printable(field.a)} / {printable(field.b)}"
    for entry in divergence.attribution[:1]:
        yield f"  channel: {entry.channel.value}"
        yield from (f"      {printable(text)}" for text in entry.evidence)
    yield f"  hash seed: {_HASH_SEEDS[0]} / {_HASH_SEEDS[1]}"
