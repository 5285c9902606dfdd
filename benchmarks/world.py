"""What it costs to record what a program asks of the world, beside the raw call and the peers.

Usage: python benchmarks/world.py [--rounds N] [--small] [--output FILE.jsonl] [--retrace PYTHON]

``programs/asking.py``, a script that never heard of recording, asks one thing many times: as it is,
recorded by twice, and under the peers that do that job (time-machine for clocks, VCR.py for HTTP,
retracesoftware where ``--retrace`` names a Python that has it). They take turns, so that a busy
machine slows all alike; ratios are of neighbours. Figures are microseconds of wall clock per call,
because a round trip waits for another process. Every record is verified afterwards, with the server gone.
Goals: an HTTP round trip at most 5 % slower, at most 16 bytes for a clock read.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import measuring

import twice
from twice.recorder.runrecord import RunRecord

ASKING, ANSWERING = (
    measuring.PROGRAMS / "asking.py",
    measuring.PROGRAMS / "answering.py",
)
NAMES = {
    "clock": "clock read",
    "urandom": "os.urandom(16)",
    "variable": "os.environ[...]",
    "socket": "1 KB round trip",
    "http": "HTTP round trip",
}
COUNTS = {
    "clock": 1_000_000,
    "urandom": 50_000,
    "variable": 50_000,
    "socket": 4_000,
    "http": 1_000,
}
PEERS = {"clock": ["time-machine"], "http": ["vcr"]}


@contextmanager
def serving() -> Iterator[tuple[int, int]]:
    """Ports of a server in a process of its own."""
    with subprocess.Popen(
        [sys.executable, str(ANSWERING)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        echo, answer = map(int, server.stdout.readline().split())
        try:
            yield echo, answer
        finally:
            server.terminate()


class Asked:
    """One thing, asked in several ways by turns.

    Args:
        folder: for records.
        thing: what is asked.
        count: how often in one round.
        port: of the server.
        retrace: a Python that has retracesoftware, or None.
    """

    def __init__(
        self, folder: Path, thing: str, count: int, port: int, retrace: str | None
    ) -> None:
        self.folder, self.thing, self.retrace = folder, thing, retrace
        self.words = [thing, str(count), "1", str(port)]
        self.record = folder / f"{thing}.twice"
        self.ways: dict[str, Callable[[], float]] = {"raw": self.raw, "twice": self.recorded}
        for peer in filter(installed, PEERS.get(thing, [])):
            self.ways[peer] = lambda peer=peer: self.under(peer)  # type: ignore[misc]
        if retrace is not None and thing != "http":
            self.ways["retracesoftware"] = self.retraced

    def raw(self) -> float:
        return _timed([sys.executable, str(ASKING), *self.words])

    def under(self, peer: str) -> float:
        cassette = self.folder / "cassette.yaml"
        cassette.unlink(missing_ok=True)
        words = ["--under", peer, str(cassette)]
        return _timed([sys.executable, str(ASKING), *self.words, *words])

    def recorded(self) -> float:
        words = ["record", "--seed", "1", "--force", "-o", str(self.record), str(ASKING), "--"]
        return _timed([sys.executable, "-m", "twice", *words, *self.words])

    def retraced(self) -> float:
        assert self.retrace is not None
        to = ["--recording", str(self.folder / f"{self.thing}.retrace"), "--"]
        return _timed([self.retrace, "-m", "retracesoftware", *to, str(ASKING), *self.words])


def installed(peer: str) -> bool:
    """Whether a peer is here to be measured beside."""
    return find_spec(peer.replace("-", "_")) is not None


def _timed(command: list[str]) -> float:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    return float(json.loads(lines[0])[0])


def figures(rounds: int, *, small: bool, retrace: str | None) -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as name:
        folder, asked = Path(name), []
        with serving() as (echo, answer):
            for thing, count in COUNTS.items():
                port = {"socket": echo, "http": answer}.get(thing, 0)
                one = Asked(folder, thing, 20 if small else count, port, retrace)
                asked.append(one)
                yield from _by_turns(one, rounds)
        for one in asked:
            assert twice.verify(one.record).result == "PASS", f"{one.thing} replays, server gone"
        yield from _sizes(folder, 20 if small else COUNTS["clock"], 20 if small else COUNTS["http"])


def _by_turns(one: Asked, rounds: int) -> Iterator[dict[str, object]]:
    taken: dict[str, list[float]] = {way: [] for way in one.ways}
    for _ in range(rounds):
        for way, ask in one.ways.items():
            taken[way].append(ask())
    for way, samples in taken.items():
        figure = {"figure": f"{NAMES[one.thing]}, {way}", "unit": "us"}
        yield figure | measuring.spread(samples)
    pairs = zip(taken["twice"], taken["raw"], strict=True)
    if one.thing in ("http", "socket"):
        ratios = [recorded / raw for recorded, raw in pairs]
        yield {"figure": f"{NAMES[one.thing]}, twice to raw", "unit": "x"} | measuring.spread(
            ratios
        )
    else:
        added = [(recorded - raw) * 1000 for recorded, raw in pairs]
        yield {"figure": f"{NAMES[one.thing]}, added by twice", "unit": "ns"} | measuring.spread(
            added, 0
        )


def _sizes(folder: Path, clocks: int, requests: int) -> Iterator[dict[str, object]]:
    size = (folder / "clock.twice").stat().st_size
    yield _one("bytes of a record for each clock read", size / clocks, "bytes")
    record = folder / "http.twice"
    yield _one(
        "bytes of a record for each HTTP interaction", record.stat().st_size / requests, "bytes"
    )
    yield _one(f"load {requests} HTTP interactions, twice", _median(lambda: _load(record)), "ms")
    cassette = folder / "cassette.yaml"
    if not cassette.exists():  # VCR.py is not here
        return
    yield _one(
        "bytes of a cassette for each HTTP interaction", cassette.stat().st_size / requests, "bytes"
    )
    yield _one(
        f"load {requests} HTTP interactions, VCR.py",
        _median(lambda: _load_cassette(cassette)),
        "ms",
    )


def _load(path: Path) -> int:
    with RunRecord.open(path) as record:
        return sum(map(len, record.connections().values()))


def _load_cassette(path: Path) -> int:
    from vcr.cassette import Cassette

    return len(Cassette.load(path=str(path)))


def _median(load: Callable[[], int]) -> float:
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        assert load(), "there is something to load"
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


def _one(figure: str, value: float, unit: str) -> dict[str, object]:
    return {"figure": figure, "unit": unit} | measuring.spread([value])


def main() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--retrace")
    known, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    chosen = measuring.options("world", __doc__.splitlines()[0], rounds=7)
    found = figures(chosen.rounds, small=chosen.small, retrace=known.retrace)
    measuring.tell("world", found, chosen.output)


if __name__ == "__main__":
    sys.exit(main())
