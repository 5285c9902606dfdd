"""What it costs to look for secrets by their shape, beside ``detect-secrets``, in ms of CPU time for each megabyte.

Usage: python benchmarks/secret_shapes.py [--rounds N] [--small] [--output FILE.jsonl]

Texts of 256 kB: the guides of this repository (prose), a server's log, sources of the standard library, JSON replies of a
service, base64, and hostile text. Hostile text is made of stems: the letters that begin a secret, without one. Each of the
hostile texts is measured; the figure is the worst of them. ``four times the text`` says whether the cost is linear: it
is about 4 if so.

The peer reads the same text from a file, in the same round; the ratio is taken within a round. It is left out if it is
not installed (``pip install detect-secrets``). The two do different work. The peer reports lines of source code for a
person to judge, and calculates the entropy of words. twice finds the bytes to blank, also in protocols, and must leave
source code as it is. Hostile text for the peer has 4 kB: 16 kB of one of them, ``pwd`` repeated, took it a minute.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import random
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import measuring

from twice.recorder.redaction.shapes import find_shapes

TEXT_BYTES = 1 << 18
PEER_HOSTILE_BYTES = 1 << 12
HOSTILE = [
    b"sk-", b"sk-fffffffffffffffffff-", b"-eyJ", b"eyJaaaaaaaa.", b"authorization:", b"authorization=", b":AA", b"-us",
    b":*:", b":6432:a", b"a LOGIN ", b"otpauth://", b"\0\4MQTT\4\xc2\0\x3c", b"\0\4MQTT\4\xc2\0\x3c\0\4aaaaa", b"login ",
    b"password '", b"--password ", b"-----BEGIN ", b"PASS ", b"AUTH aaaa ", b"://a:", b"SG.", b"xoxb-", b"apikey = ",
    b"password=a(", b"pwd", b"MT", b"-MT", b"AIza" + b"a" * 34 + b"-", b"sqp_" + b"0" * 40,
]  # fmt: skip
"""Each is repeated to the length of the text."""

HEADS = [b"login ", b"--password", b"authorization", b"requirepass", b"\0\4MQTT\4\xc2\0\x3c"]
"""Each is followed by spaces to the length of the text."""

Scan = Callable[[bytes, Path], None]


def fill(pieces: Iterator[bytes], size: int) -> bytes:
    """Return pieces joined, as many as have the size; the last one is cut."""
    found: list[bytes] = []
    missing = size
    while missing > 0:
        piece = next(pieces)
        found.append(piece[:missing])
        missing -= len(piece)
    return b"".join(found)


def prose() -> Iterator[bytes]:
    pages = sorted((measuring.FOLDER.parent / "docs").rglob("*.md"))
    while True:
        yield from (page.read_bytes() for page in pages)


def sources() -> Iterator[bytes]:
    folder = Path(sysconfig.get_path("stdlib"))
    while True:
        yield from (path.read_bytes() for path in sorted(folder.glob("*.py")))


def log() -> Iterator[bytes]:
    draw = random.Random(1)
    for second in range(10**9):
        yield (
            f"2026-03-{1 + second % 28:02} 10:{second // 60 % 60:02}:{second % 60:02},{draw.randrange(1000):03}"
            f" INFO shop.orders [worker-{draw.randrange(8)}] GET /orders/{draw.randrange(10**6)}?page={draw.randrange(9)}"
            f" 200 {draw.randrange(5000)} ms client=10.0.{draw.randrange(256)}.{draw.randrange(256)}"
            f" session={draw.randrange(10**4)}\n"
        ).encode()


def replies() -> Iterator[bytes]:
    draw = random.Random(2)
    while True:
        items = [
            {
                "id": draw.randrange(10**9), "name": f"item {draw.randrange(1000)}", "price": draw.random() * 100,
                "etag": f"{draw.getrandbits(128):032x}", "url": f"https://example.org/items/{draw.randrange(10**6)}",
                "tags": [f"t{draw.randrange(50)}"] * 3, "account_id": draw.randrange(10**6), "is_active": True,
            }
            for _ in range(20)
        ]  # fmt: skip
        yield (
            json.dumps({"items": items, "next": f"cursor-{draw.randrange(10**6)}"}).encode() + b"\n"
        )


def packed() -> Iterator[bytes]:
    draw = random.Random(3)
    while True:
        yield base64.encodebytes(draw.randbytes(5700))


def repeated(unit: bytes) -> Iterator[bytes]:
    while True:
        yield unit * 1000


def hostile(size: int) -> list[bytes]:
    """Return one text for each stem, and one for each head followed by spaces."""
    return [fill(repeated(unit), size) for unit in HOSTILE] + [
        head + b" " * (size - len(head)) for head in HEADS
    ]


TEXTS: dict[str, Callable[[], Iterator[bytes]]] = {
    "prose": prose, "log": log, "source code": sources, "JSON replies": replies, "base64": packed,
}  # fmt: skip


def look(data: bytes, _: Path) -> None:
    for _span in find_shapes(data):
        pass


def scan_by_peer(_: bytes, path: Path) -> None:
    from detect_secrets.core.scan import scan_file

    for _secret in scan_file(str(path)):
        pass


def cost(scan: Scan, texts: list[bytes], folder: Path) -> float:
    """Return the CPU time of the worst of the texts, in ms for each megabyte."""
    worst = 0.0
    for number, text in enumerate(texts):
        path = folder / f"text{number}.txt"
        path.write_bytes(text)
        start = time.process_time()
        scan(text, path)
        worst = max(worst, (time.process_time() - start) * 1e9 / len(text))
    return worst


def figures(name: str, texts: list[bytes], rounds: int, *, has_peer: bool) -> Iterator[dict]:
    """Measure both on the same texts, by turns."""
    ours: list[float] = []
    peers: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            ours.append(cost(look, texts, Path(folder)))
            if has_peer:
                peers.append(cost(scan_by_peer, texts, Path(folder)))
    yield {"figure": f"{name}: twice", "unit": "ms/MB", **measuring.spread(ours, 1)}
    if has_peer:
        yield {"figure": f"{name}: detect-secrets", "unit": "ms/MB", **measuring.spread(peers, 1)}
        ratios = [peer / own for peer, own in zip(peers, ours, strict=True)]
        yield {
            "figure": f"{name}: detect-secrets to twice",
            "unit": "x",
            **measuring.spread(ratios, 2),
        }


def growth(size: int, rounds: int, folder: Path) -> dict[str, object]:
    """Return how much longer a hostile text of four times the size takes, for the worst of them."""
    samples = []
    for _ in range(rounds):
        worst = 0.0
        for short, long in zip(hostile(size // 4), hostile(size), strict=True):
            least = [
                min(cost(look, [text], folder) * len(text) for _ in range(3))
                for text in (short, long)
            ]
            worst = max(worst, least[1] / least[0])
        samples.append(worst)
    return {
        "figure": "hostile, worst: twice, four times the text",
        "unit": "x",
        **measuring.spread(samples, 2),
    }


def every_figure(size: int, rounds: int, *, has_peer: bool) -> Iterator[dict[str, object]]:
    for name, pieces in TEXTS.items():
        yield from figures(name, [fill(pieces(), size)], rounds, has_peer=has_peer)
    worst = f"hostile, worst of {len(HOSTILE) + len(HEADS)}"
    yield from figures(worst, hostile(size), rounds, has_peer=False)
    if has_peer:
        short = min(size // 16, PEER_HOSTILE_BYTES)
        yield from figures(f"{worst}, {short} bytes", hostile(short), rounds, has_peer=True)
    with tempfile.TemporaryDirectory() as folder:
        yield growth(size, rounds, Path(folder))


def main() -> None:
    chosen = measuring.options("secret_shapes", __doc__.splitlines()[0], rounds=7)
    size = 1 << 14 if chosen.small else TEXT_BYTES
    for text in [fill(log(), 1 << 14), *hostile(1 << 10)]:  # what is compiled once is no part of it
        look(text, Path())
    has_peer = importlib.util.find_spec("detect_secrets") is not None
    with ExitStack() as stack:
        if has_peer:
            from detect_secrets.settings import default_settings

            stack.enter_context(default_settings())
        measuring.tell(
            "secret_shapes", every_figure(size, chosen.rounds, has_peer=has_peer), chosen.output
        )


if __name__ == "__main__":
    main()
