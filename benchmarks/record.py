"""The run record against SQLite and MCAP, the search for a difference, and a snapshot's price.

Usage: python benchmarks/record.py [--only NAME] [--rounds N] [--output FILE.jsonl]

journal      200 000 frames of 32 random bytes: write, scan all, read 1 000 at random by position.
points       write compare-points; open a record of 1 000 000 and read points at random.
difference   first difference of two logs of 10 000 000 points, at 7 300 123: by the index, and after
             opening both anew; beside it numpy over the bare chains in memory, which nobody has who
             only has two files.
snapshot     64 MB of which 1 % of the pages changed: bytes and time, beside a copy in memory.

Every round times every way once; ratios are taken within a round and reported as median, lowest and
highest. Times are CPU seconds of this process, kernel included; nothing waits for the disk.

What is not the same: SQLite (WAL, synchronous=NORMAL, 1 000 rows a transaction) can be changed and
queried, MCAP keeps names and schemas for robots' tools; neither chains its content, so neither finds a
changed byte. Reading at random, twice proves every block it opens; the others prove nothing.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import measuring
import numpy as np

from twice.recorder.record import RecordReader, RecordWriter, first_difference

RESULTS = Path(__file__).parent / "results" / "record.jsonl"
FRAMES = 200_000
PICKS = 1_000
LOG = 10_000_000
PLACE = 7_300_123
PAGE = 4096
Lines = Iterator[dict[str, object]]


def timed(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def compared(
    ways: dict[str, Callable[[], object]], rounds: int, base: str, per: int = 1
) -> dict[str, dict[str, object]]:
    """Median time of each way per item, and its ratio to the base with the spread."""
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            samples[name].append(timed(run))
    out = {}
    for name, found in samples.items():
        ratios = [a / b for a, b in zip(found, samples[base], strict=True)]
        out[name] = {
            "us_per_item": round(statistics.median(found) / per * 1e6, 3),
            "ms": round(statistics.median(found) * 1e3, 3),
            f"to_{base}": round(statistics.median(ratios), 3),
            "lowest": round(min(ratios), 3),
            "highest": round(max(ratios), 3),
            "rounds": rounds,
        }
    return out


# The journal -----------------------------------------------------------------------------------


class Twice:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal.twice"

    def write(self, payloads: list[bytes]) -> None:
        writer = RecordWriter.create(self.path, {"program": "benchmark"}, force=True)
        frame = writer.frame
        for tick, payload in enumerate(payloads):
            frame("event", 0, payload, tick=tick)
        writer.close({"how": "returned"})

    def scan(self) -> int:
        with RecordReader.open(self.path) as reader:
            return sum(len(frame.payload) for frame in reader.frames())

    def prove(self) -> None:
        with RecordReader.open(self.path) as reader:
            reader.check()


class Sqlite:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal.sqlite"

    def connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None)
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=normal")
        return connection

    def write(self, payloads: list[bytes]) -> None:
        for end in ("", "-wal", "-shm"):
            Path(f"{self.path}{end}").unlink(missing_ok=True)
        connection = self.connect()
        connection.execute(
            "create table event (id integer primary key, actor int, tick int, payload blob)"
        )
        for first in range(0, len(payloads), 1000):
            rows = enumerate(payloads[first : first + 1000], first)
            connection.execute("begin")
            connection.executemany(
                "insert into event values (?, 0, ?, ?)", ((i, i, payload) for i, payload in rows)
            )
            connection.execute("commit")
        connection.close()

    def scan(self) -> int:
        connection = self.connect()
        found = sum(
            len(row[2]) for row in connection.execute("select actor, tick, payload from event")
        )
        connection.close()
        return found

    def pick(self, places: list[int]) -> int:
        connection = self.connect()
        query = "select payload from event where id = ?"
        found = sum(len(connection.execute(query, (at,)).fetchone()[0]) for at in places)
        connection.close()
        return found


class Mcap:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal.mcap"

    def write(self, payloads: list[bytes]) -> None:
        from mcap.writer import CompressionType, Writer

        with self.path.open("wb") as out:
            writer = Writer(out, compression=CompressionType.NONE)
            writer.start()
            schema = writer.register_schema("event", "", b"")
            channel = writer.register_channel("event", "", schema)
            for tick, payload in enumerate(payloads):
                writer.add_message(channel, tick, payload, tick, tick)
            writer.finish()

    def scan(self) -> int:
        from mcap.reader import make_reader

        with self.path.open("rb") as file:
            return sum(len(message.data) for _, _, message in make_reader(file).iter_messages())

    def pick(self, places: list[int]) -> int:
        from mcap.reader import make_reader

        found = 0
        with self.path.open("rb") as file:
            reader = make_reader(file)
            for at in places:
                for _, _, message in reader.iter_messages(starting_at=at, ending_before=at + 1):
                    found += len(message.data)
        return found


def journal(folder: Path, rounds: int) -> Lines:
    draw = random.Random(1)
    payloads = [draw.randbytes(32) for _ in range(FRAMES)]
    places = [draw.randrange(FRAMES) for _ in range(PICKS)]
    ours, sqlite, mcap = Twice(folder), Sqlite(folder), Mcap(folder)
    writes = {
        "twice": lambda: ours.write(payloads),
        "sqlite": lambda: sqlite.write(payloads),
        "mcap": lambda: mcap.write(payloads),
    }
    for name, line in compared(writes, rounds, "twice", FRAMES).items():
        path = {"twice": ours, "sqlite": sqlite, "mcap": mcap}[name].path
        yield {"task": "journal write", "way": name, "file_bytes": path.stat().st_size, **line}
    assert ours.scan() == sqlite.scan() == mcap.scan() == 32 * FRAMES
    scans = {
        "twice": ours.scan, "twice, every byte proved": ours.prove,
        "sqlite": sqlite.scan, "mcap": mcap.scan,
    }  # fmt: skip
    for name, line in compared(scans, rounds, "twice", FRAMES).items():
        yield {"task": "journal scan", "way": name, **line}
    with point_log(folder / "points.twice", FRAMES) as reader:
        picks = {
            "twice": lambda: [reader.points.point(at) for at in places],
            "sqlite": lambda: sqlite.pick(places),
            "mcap": lambda: mcap.pick(places[:20]),
        }
        for name, line in compared(picks, rounds, "twice", PICKS).items():
            if name == "mcap":
                line["us_per_item"] = round(line["ms"] * 1e3 / 20, 3)  # type: ignore[operator]
                scale = PICKS / 20
                line |= {
                    key: round(line[key] * scale, 1) for key in ("to_twice", "lowest", "highest")
                }  # type: ignore[operator]
            yield {"task": "one at random", "way": name, "items": FRAMES, **line}


# Compare-points --------------------------------------------------------------------------------


def point_log(path: Path, count: int, other_from: int | None = None) -> RecordReader:
    """Write a log of points whose chains differ from the usual ones from ``other_from`` on."""
    pool = np.random.default_rng(1).bytes(16 * min(count, 1 << 20))
    other = np.random.default_rng(2).bytes(len(pool))
    writer = RecordWriter.create(path, {"program": "benchmark"}, force=True)
    layout, point, root = writer.layout([]), writer.point, bytes(16)
    mask = len(pool) - 1 if count >= 1 << 20 else None
    for index in range(count):
        at = (16 * index) & mask if mask else 16 * index
        source = pool if other_from is None or index < other_from else other
        point(layout, index, "tick", root, source[at : at + 16], b"")
    writer.close({"how": "returned"})
    return RecordReader.open(path)


def points(folder: Path, rounds: int) -> Lines:
    draw = random.Random(1)
    marks = [draw.randbytes(16) for _ in range(1000)]

    def write(columns: int) -> None:
        writer = RecordWriter.create(folder / "w.twice", {"program": "benchmark"}, force=True)
        layout = writer.layout([f"component {n}" for n in range(columns)])
        point, digests = writer.point, [mark * columns for mark in marks]
        for tick in range(FRAMES):
            mark = marks[tick % 1000]
            point(layout, tick, "tick", mark, mark, digests[tick % 1000])
        writer.close({"how": "returned"})

    ways = {"1 component": lambda: write(1), "8 components": lambda: write(8)}
    for name, line in compared(ways, rounds, "1 component", FRAMES).items():
        yield {"task": "points write", "way": name, **line}
    point_log(folder / "million.twice", 1_000_000).close()
    with RecordReader.open(folder / "million.twice") as reader:
        places = [draw.randrange(1_000_000) for _ in range(PICKS)]
        ways = {
            "open": lambda: RecordReader.open(folder / "million.twice").close(),
            "by index": lambda: [reader.points.point(at) for at in places],
            "by tick": lambda: [reader.points.index_of_tick(at) for at in places],
        }
        found = compared(ways, rounds, "open")
        for name, line in found.items():
            if name != "open":
                line["us_per_item"] = round(line["ms"] * 1e3 / PICKS, 3)  # type: ignore[operator]
            yield {"task": "points of 1 000 000", "way": name, **line}


def difference(folder: Path, rounds: int) -> Lines:
    a = point_log(folder / "a.twice", LOG)
    b = point_log(folder / "b.twice", LOG, PLACE)
    data = (folder / "b.twice").read_bytes()
    torn = folder / "torn.twice"
    torn.write_bytes(data[: -len(data) // 1000])
    del data
    bare = np.random.default_rng(1).integers(0, 2**63, (LOG, 2), np.int64)
    changed = bare.copy()
    changed[PLACE:] ^= 1

    def opened_anew(name: str) -> int | None:
        with RecordReader.open(folder / "a.twice") as x, RecordReader.open(folder / name) as y:
            return first_difference(x.points, y.points)

    def numpy_in_memory() -> int:
        for at in range(0, LOG, 1 << 16):
            differs = bare[at : at + (1 << 16)] != changed[at : at + (1 << 16)]
            if differs.any():
                return at + int(differs.any(axis=1).argmax())
        return LOG

    ways: dict[str, Callable[[], object]] = {
        "both open": lambda: first_difference(a.points, b.points),
        "both opened anew": lambda: opened_anew("b.twice"),
        "one torn, scanned anew": lambda: opened_anew("torn.twice"),
        "numpy over bare chains in memory": numpy_in_memory,
    }
    for name, run in ways.items():
        assert run() == PLACE, name
    for name, line in compared(ways, rounds, "both opened anew").items():
        yield {"task": f"first difference of {LOG} points", "way": name, **line}
    a.close()
    b.close()


# Snapshots -------------------------------------------------------------------------------------


def snapshot(folder: Path, rounds: int) -> Lines:
    draw = np.random.default_rng(1)
    count = 64 * 1024 * 1024 // PAGE
    state = draw.standard_normal((count, PAGE // 4)).astype(np.float32)
    copy = np.empty_like(state)
    path = folder / "state.twice"
    writer = RecordWriter.create(path, {"program": "benchmark"}, force=True)
    store = lambda: (writer.page_blob("state", [state.data]), writer.flush())  # noqa: E731
    times: dict[str, list[float]] = {"full": [timed(store)]}
    full = path.stat().st_size
    added = []
    for _ in range(rounds):
        state[draw.choice(count, count // 100, replace=False)] += np.float32(0.5)
        size = path.stat().st_size
        times.setdefault("1 % of pages changed", []).append(timed(store))
        added.append((path.stat().st_size - size) / full)
        times.setdefault("nothing changed", []).append(timed(store))
        times.setdefault("copy in memory", []).append(timed(lambda: np.copyto(copy, state)))
    writer.close({"how": "returned"})
    with RecordReader.open(path) as reader:
        last = len(reader.blobs) - 1
        times["read back"] = [timed(lambda: reader.blob(last)) for _ in range(rounds)]
        assert reader.blob(last) == state.tobytes()
    copies = times["copy in memory"]
    for name, found in times.items():
        ratios = [a / b for a, b in zip(found, copies, strict=False)]
        yield {
            "task": "snapshot of 64 MB", "way": name,
            "ms": round(statistics.median(found) * 1e3, 3),
            "to_copy": round(statistics.median(ratios), 3),
            "lowest": round(min(ratios), 3), "highest": round(max(ratios), 3),
            "rounds": len(found),
        }  # fmt: skip
    yield {
        "task": "snapshot of 64 MB", "way": "bytes of 1 % changed, of the full ones",
        "share": round(statistics.median(added), 5), "highest_share": round(max(added), 5),
        "full_bytes": full,
    }  # fmt: skip


# -----------------------------------------------------------------------------------------------


def conditions() -> dict[str, object]:
    """Return the conditions that the figures depend on: machine, Python, commit, versions."""
    peers = ("blake3", "mcap", "numpy", "xxhash", "zstandard")
    versions = {peer: importlib.metadata.version(peer) for peer in peers}
    return measuring.conditions() | {"versions": versions | {"sqlite": sqlite3.sqlite_version}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {"journal": journal, "points": points, "difference": difference, "snapshot": snapshot}
    parser.add_argument("--only", choices=sorted(parts))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="quick and meaningless: for tests")
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    rounds = max(chosen.rounds, 5)
    if chosen.small:
        rounds = 1
        globals().update(FRAMES=2_000, PICKS=50, LOG=20_000, PLACE=12_345)
    where = conditions()
    print(f"{where['machine']}, Python {where['python']}, {where['commit']}")
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        if chosen.only not in (None, name):
            continue
        folder = Path(tempfile.mkdtemp(prefix="twice-benchmark-"))
        try:
            for line in part(folder, rounds):
                print("  " + "  ".join(f"{key}={value}" for key, value in line.items()))
                with chosen.output.open("a", encoding="utf-8") as out:
                    out.write(json.dumps({"benchmark": "record"} | line | where) + "\n")
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
