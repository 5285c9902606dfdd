"""Questions about a folder of 100,000 generated records: ten conditions, CPU time.

Usage: python benchmarks/catalogue.py [--rounds N] [--small] [--output FILE.jsonl]

A record has two compare-points and two set values. Every tenth was verified, with both files of the statement beside
it; every hundredth raised, every thousandth was killed, and as many have a changed byte. The first catalogue opens all
of them. After that, a command looks at every file for a change, which takes a system call each, and asks. Goal: at most
1,000 ms for each of the ten questions, once it is known that nothing has changed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import measuring
from commands import OWN, TWICE, cpu_ms

sys.path.insert(0, str(measuring.FOLDER.parent / "tests" / "runs"))

from made_records import RAISED, make_record, write_statement

from twice.runs.catalogue import FOLDER, RecordCatalogue
from twice.runs.record_query import select_rows

RECORDS = 100_000
QUESTIONS = (
    "seed < 100 and result = 'FAIL'",
    "seed = 340282366920938463463374607431768211455",
    "result = 'FAIL'",
    "result is null and error is not null and seed % 7 = 3",
    "error = 'ValueError' and place = 'train.py:7' and config.lr = 0.0003 and seed < 20000",
    "damage is not null",
    "ending = 'torn'",
    "config.lr < 1e-2 and config.name like 'a%' and seed between 500 and 700",
    "bytes > (select avg(bytes) from records) and seed < 500",
    "digest in (select digest from records group by digest having count(*) > 1) or seed < 10",
)
"""Each is true of few records: to print a row takes time of its own."""


def make_folder(folder: Path, count: int) -> None:
    """Write the records."""
    for number in range(count):
        path = make_record(
            folder / f"run-{number:06}.twice",
            seed=number,
            config={"lr": (1e-3, 3e-4)[number % 2], "name": "ab"[number % 2]},
            exception=RAISED if number % 100 == 0 else None,
            close=number % 1000 != 1,
        )
        if number % 10 == 5:
            write_statement(path, 1, "FAIL" if number % 1000 == 5 else "PASS")
        if number % 1000 == 2:
            data = bytearray(path.read_bytes())
            data[20] ^= 1
            path.write_bytes(data)


def figures(rounds: int, count: int) -> Iterator[dict[str, object]]:
    """Yield the figures of the first catalogue, and of what follows."""
    name = f"{count:,} records"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_folder(folder, count)
        began = time.process_time()
        catalogue = RecordCatalogue(folder)
        catalogue.update()
        spent = [time.process_time() - began]
        assert catalogue.opened == count
        yield {"figure": f"{name}: the first catalogue", "unit": "s"} | measuring.spread(spent)
        size = sum(part.stat().st_size for part in (folder / FOLDER).iterdir()) / count
        yield {"figure": f"{name}: the catalogue", "unit": "bytes a record"} | measuring.spread(
            [size]
        )
        yield from ask(rounds, folder, name)


def ask(rounds: int, folder: Path, name: str) -> Iterator[dict[str, object]]:
    """Yield the figures of a catalogue that is there."""
    catalogue, looked = RecordCatalogue(folder), []
    for _ in range(rounds):
        began = time.process_time()
        rows, _ = catalogue.update()
        looked.append(1e3 * (time.process_time() - began))
        assert not catalogue.opened
    yield {"figure": f"{name}: all files looked at", "unit": "ms"} | measuring.spread(looked, 0)
    for where in QUESTIONS:
        taken = []
        for _ in range(rounds):
            began = time.process_time()
            found = select_rows([(folder, rows)], where)
            taken.append(1e3 * (time.process_time() - began))
        figure = {"figure": f"{name}, question: {where}", "unit": "ms", "found": len(found)}
        yield figure | measuring.spread(taken, 0)
    command = [sys.executable, *TWICE, "ls", str(folder), "--json", "--where", QUESTIONS[0]]
    whole = [
        cpu_ms(command, str(folder), OWN) - cpu_ms([sys.executable, "-c", "pass"], str(folder), OWN)
        for _ in range(rounds)
    ]
    yield {"figure": f"{name}: a command, over bare Python", "unit": "ms"} | measuring.spread(
        whole, 0
    )


def main() -> None:
    """Measure and print."""
    chosen = measuring.options("catalogue", __doc__.splitlines()[0], rounds=5)
    measuring.tell(
        "catalogue", figures(chosen.rounds, 1000 if chosen.small else RECORDS), chosen.output
    )


if __name__ == "__main__":
    main()
