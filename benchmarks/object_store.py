"""Large records: how much of one in an object store ``show --tick`` reads, and the first difference of two long ones.

Usage: python benchmarks/object_store.py [--rounds N] [--small] [--record FILE] [--output FILE.jsonl]

store        a training of 5,000 ticks, each with an input of 1.5 MiB and new weights of 0.5 MiB beside a growing list of
             losses, which makes 10 GB; it is recorded by ``twice record``, or given by --record. A server of this process
             answers the requests of S3 for ranges of the file, and counts them. Goals: at most 20 requests and 10 MB.
             A state that changes and keeps its size is stored as changes to the one before, up to 32 times, and each
             of these is one more request: a second record of a fiftieth of the ticks has such a state.
difference   two records of 100 million compare-points that part at 73 001 230, their blocks made by numpy and sealed by
             the record writer. CPU time to find the first difference, both open and both opened anew, and the most
             memory that Python and numpy hold for it. Goal: at most 50 ms.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import measuring
import numpy as np

from twice.recorder.record import RecordReader, RecordWriter, first_difference
from twice.recorder.record.layout import Head, Kind
from twice.recorder.record.writer import POINTS_PER_BLOCK

PROGRAM = """
def main(run):
    state, rng = run.track("training", {"weights": b"", "losses": []}), run.rng("weights")
    batches = run.rng("batches")
    for _ in run.ticks(run.config["ticks"]):
        batch = run.input("batch", lambda: batches.bytes(3 << 19))
        state["weights"] = rng.bytes(1 << 19)
        state["losses"].append(batch[0] / 255)
"""
STEADY = PROGRAM.replace("append(", "__setitem__(0, ").replace("[]", "[0.0]")
Lines = Iterator[dict[str, object]]


class RangeServer(ThreadingHTTPServer):
    """Answers requests for ranges of one file, as S3 does, and counts them."""

    def __init__(self, path: Path) -> None:
        super().__init__(("127.0.0.1", 0), RangeHandler)
        self.path, self.size = path, path.stat().st_size
        self.requests = self.sent = 0


class RangeHandler(BaseHTTPRequestHandler):
    """One connection to that server."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, RangeServer)
        first, last = self.headers["Range"].removeprefix("bytes=").split("-")
        begin, end = int(first), min(int(last) + 1, server.size)
        with server.path.open("rb") as file:
            file.seek(begin)
            content = file.read(end - begin)
        server.requests += 1
        server.sent += len(content)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{server.size}")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", '"of-this-file"')
        self.send_header("Last-Modified", "Mon, 30 Nov 2026 12:00:00 GMT")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def run_twice(*words: str, **variables: str) -> None:
    """Run a command of twice; an error of it ends the measurement."""
    subprocess.run(
        [sys.executable, "-m", "twice", *words],
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        check=True,
    )


def record_training(folder: Path, program: str, ticks: int) -> Path:
    """Record a training, with a snapshot before each tick."""
    folder.mkdir()
    (folder / "train.py").write_text(program)
    settings = ("--seed", "1", "--set", f"ticks={ticks}", "--snapshots", "tick", "--quiet")
    out = folder / "training.twice"
    run_twice("record", str(folder / "train.py:main"), *settings, "-o", str(out))
    return out


def store(record: Path, kind: str) -> Lines:
    """Yield what is read of a record for its first, a middle and its last tick."""
    with RecordReader.open(record) as reader:
        last = reader.points.point(-1).tick - 1
    with RangeServer(record) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        variables = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_address[1]}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_REGION": "us-east-1",
        }
        for tick in (0, last // 2, last):
            server.requests = server.sent = 0
            run_twice(
                "show", f"s3://bucket/{record.name}", "--tick", str(tick), "--json", **variables
            )
            name = f"show --tick {tick} of {server.size / 1e9:.2f} GB, {kind}"
            yield {"figure": name, "unit": "requests"} | measuring.spread([server.requests])
            yield {"figure": name, "unit": "MB"} | measuring.spread([server.sent / 1e6])
        server.shutdown()


def write_points(path: Path, count: int, other_from: int) -> None:
    """Write a record with points whose chains differ from the usual ones from ``other_from`` on."""
    usual, other = (
        np.random.default_rng(seed).integers(0, 256, (1 << 20, 16), np.uint8) for seed in (1, 2)
    )
    writer = RecordWriter.create(path, {"program": "benchmark"}, run_id=bytes(16))
    (shape,) = writer._symbols.number_shapes([(writer.layout([]), "tick")])
    writer._seal_symbols()
    for first in range(0, count, POINTS_PER_BLOCK):
        numbers = np.arange(first, min(first + POINTS_PER_BLOCK, count))
        records = np.zeros((len(numbers), 2, 16), np.uint8)
        records[:, 1] = usual[numbers % len(usual)]
        is_other = numbers >= other_from
        records[is_other, 1] = other[numbers[is_other] % len(other)]
        steps = np.ones(len(numbers), np.int64)
        steps[0] = first
        head = Head(first, len(numbers), Kind.POINTS, first, int(numbers[-1]))
        columns = steps.tobytes() + np.full(len(numbers), shape, np.uint32).tobytes()
        writer._blocks.append(Kind.POINTS, head.pack() + records.tobytes(), columns)
    writer.close({"how": "returned"})


def difference(folder: Path, rounds: int, count: int) -> Lines:
    """Yield the time and the memory that the first difference of two long records takes."""
    place = count * 73_001_230 // 100_000_000
    paths = folder / "a.twice", folder / "b.twice"
    for path, other_from in zip(paths, (count, place), strict=True):
        write_points(path, count, other_from)
    name = f"first difference of {count:,} compare-points"

    def find_anew() -> int | None:
        with RecordReader.open(paths[0]) as a, RecordReader.open(paths[1]) as b:
            return first_difference(a.points, b.points)

    with RecordReader.open(paths[0]) as a, RecordReader.open(paths[1]) as b:
        ways: dict[str, Callable[[], int | None]] = {
            "both open": lambda: first_difference(a.points, b.points),
            "both opened anew": find_anew,
        }
        for way, find in ways.items():
            assert find() == place
            taken = []
            for _ in range(rounds):
                began = time.process_time()
                find()
                taken.append((time.process_time() - began) * 1e3)
            yield {"figure": f"{name}, {way}", "unit": "ms"} | measuring.spread(taken)
    tracemalloc.start()
    find_anew()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    yield {"figure": f"{name}, both opened anew: memory", "unit": "MB"} | measuring.spread(
        [most / 1e6]
    )


def main() -> None:
    """Measure and print."""

    def arrange(parser: ArgumentParser) -> None:
        parser.add_argument("--record", type=Path, help="a large record that is there already")
        parser.add_argument("--only", choices=["store", "difference"], help="one of both")

    chosen = measuring.options("object_store", __doc__.splitlines()[0], rounds=5, arrange=arrange)

    def figures() -> Lines:
        with tempfile.TemporaryDirectory() as place:
            if chosen.only != "difference":
                ticks = 20 if chosen.small else 5000
                given = chosen.record or record_training(Path(place, "store"), PROGRAM, ticks)
                yield from store(given, "a growing state")
                steady = record_training(Path(place, "steady"), STEADY, max(ticks // 50, 20))
                yield from store(steady, "a state of one size")
            if chosen.only != "store":
                for count in (10_000,) if chosen.small else (10_000_000, 100_000_000):
                    folder = Path(place) / str(count)
                    folder.mkdir()
                    yield from difference(folder, chosen.rounds, count)

    measuring.tell("object_store", figures(), chosen.output)


if __name__ == "__main__":
    main()
