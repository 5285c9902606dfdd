"""How long ``twice asset gate`` takes for a build of ten thousand assets, and what it remembers.

Usage: python benchmarks/assets_gate.py [--rounds N] [--small] [--output FILE.jsonl]

Every asset is a file of 16 KiB with a complete log beside it, half of them images and half sounds, in twenty work
units. CPU seconds of the whole gate, files hashed and not decoded; of those, reading the logs alone; and the peak of
memory that Python took, in a run of its own. Goal: ten thousand logs in at most 20 s.
"""

from __future__ import annotations

import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import measuring

from twice.assets.gate.gate import run_gate
from twice.assets.log.io import canonical_document, examine_bytes
from twice.assets.log.models import FORMAT
from twice.foundation.digests import Algorithm, digest_bytes

ASSET_BYTES = 16384
HEX = "0123456789abcdef" * 4
NOT = {"not_applicable": "none in this rendering"}
ART = {
    "prompt": "a lighthouse in fog, " * 8, "negative_prompt": NOT, "width_px": 64, "height_px": 32,
    "aspect_ratio": "2:1", "workflow": {"name": "txt2img", "sha256": HEX}, "steps": 20, "guidance": 7.5,
    "sampler": "euler", "scheduler": "karras", "denoise": NOT, "dtype": "float16", "attention": "sdpa",
    "rng_device": "cpu", "batch_index": 0, "batch_size": 1, "post": [{"tool": "crop", "version": "1.0"}],
}  # fmt: skip
AUDIO = {
    "source": {"kind": "instrument", "name": "strings", "version": "1.0", "sha256": HEX},
    "production": "synthetic", "daw": NOT, "tempo_bpm": 96, "key": "D minor", "time_signature": "6/8",
    "chain": [{"name": f"effect {n}", "version": "1.0"} for n in range(6)], "session_sample_rate_hz": 48000,
    "session_bit_depth": 24, "dither": NOT, "loudness": {"target_lufs": -16}, "presets": {"room": "hall"},
    "export": {"encoder": "e", "version": "1.0"},
}  # fmt: skip
MEASURED = {
    "art": {"width_px": 64, "height_px": 32, "mode": "RGB"},
    "audio": {"sample_rate_hz": 48000, "bit_depth": 24, "loudness_lufs": -16.1, "duration_s": 1},
}


def document(number: int, data: bytes, name: str) -> dict[str, Any]:
    """Build a complete log."""
    kind = "art" if number % 2 else "audio"
    digest = digest_bytes(data, Algorithm.SHA256)
    return {
        "format": FORMAT, "log_id": f"log-{number:06}", "work_unit": f"TU-{number % 20}", "kind": kind,
        "created": "2026-01-31T09:30:00Z", "producer": {"role": "illustrator"}, "nonce": HEX[:32],
        "revision": 1, "promise": {"mode": "deterministic", "grade": "payload"},
        "asset": {
            "file": name, "media_type": "image/png", "size_bytes": len(data), "file_sha256": digest.hex,
            "payload": {"method": "bytes/1", "digest": str(digest)}, "measured": MEASURED[kind],
        },
        "provider": {"name": "renderer", "endpoint": "local"},
        "model": {"name": "m", "version": "1.0", "sha256": HEX, "adapters": []},
        "seed": {"requested": str(number), "effective": str(number)},
        kind: ART if kind == "art" else AUDIO,
        "environment": {
            "os": "Linux 6.1", "cpu": {"arch": "x86_64"}, "gpu": NOT, "threads": 1,
            "packages": {f"package-{n}": "1.0" for n in range(20)}, "fonts": [], "locale": "C.UTF-8",
        },
        "recipe": {"argv": ["render"], "inputs": [], "output": "out.bin"},
        "evidence": {"": {"level": "imported", "file": name, "sha256": digest.hex, "chunk": "prompt"}},
    }  # fmt: skip


def build(folder: Path, count: int) -> None:
    """Lay down assets with their logs."""
    for number in range(count):
        unit = folder / f"unit-{number % 20}"
        unit.mkdir(exist_ok=True)
        name = f"asset-{number:06}.{'png' if number % 2 else 'wav'}"
        data = number.to_bytes(8, "big") * (ASSET_BYTES // 8)
        (unit / name).write_bytes(data)
        text = canonical_document(document(number, data, name))
        (unit / f"log-{number:06}.detlog.json").write_bytes(text)


def seconds(do: Callable[[], object]) -> float:
    start = time.process_time()
    do()
    return time.process_time() - start


def judge(folder: Path) -> None:
    # The files are bytes of no format, which a row of each says; everything else is in order.
    others = [row for row in run_gate(folder).wanting() if row.check != "container"]
    assert not others, others[:3]


def read(folder: Path) -> None:
    for path in folder.rglob("*.detlog.json"):
        examine_bytes(path.read_bytes(), path.name)


def figures(rounds: int, count: int) -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, count)
        judge(folder)
        for figure, do in (("gate", judge), ("read and examine", read)):
            times = [seconds(lambda do=do: do(folder)) for _ in range(rounds)]
            yield {"figure": f"{figure}, {count:,} logs", "unit": "s"} | measuring.spread(times)
        tracemalloc.start()
        judge(folder)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        yield {"figure": f"peak, {count:,} logs", "unit": "MiB"} | measuring.spread([peak], 1)


def main() -> None:
    chosen = measuring.options("assets_gate", __doc__.splitlines()[0], rounds=3)
    count = 40 if chosen.small else 10_000
    measuring.tell("assets_gate", figures(chosen.rounds, count), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
