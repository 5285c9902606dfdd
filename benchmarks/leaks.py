"""What ``twice asset leaks`` finds, beside other tools, and how fast it reads.

Usage: python benchmarks/leaks.py [--folder DIR ...] [--small] [--output FILE.jsonl]

A folder holds files that leak, and files that do not, whose names begin with ``clean`` or that lie in a folder of that
name. The files of ``programs/*_leaks.py`` are always measured. Beside it: ``exiftool -ee3`` and ``mat2 --show``, where they
are installed, by whether their output shows what was planted: one of a few telling words. Speed is MB in a second of the
processor's time: on sources of the standard library, on the same as one line, on bytes that say nothing, and on samples,
which are not taken apart but searched for plain words.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import measuring
from programs.leak_sets import SETS, build_set

from twice.assets.leaks.folders import scan_paths
from twice.assets.leaks.known import load_known_values

TELLING = re.compile(
    r"seed|steps|sampler|reaper|ableton|detlog|determinism|log_sha256|ksampler|\.rpp|tideland|noir_v3|AIPrompt|AISystem"
    r"|safetensors|eleven_|/home/|Users",
    re.IGNORECASE,
)
PEERS = {"exiftool": ["exiftool", "-ee3", "-a", "-u"], "mat2": ["mat2", "--show"]}


def arrange(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, action="append", default=[])


def shows(command: list[str], path: Path) -> bool:
    ran = subprocess.run(
        [*command, str(path)], capture_output=True, text=True, check=False, errors="replace"
    )
    said = "\n".join(line for line in ran.stdout.splitlines() if path.name not in line)
    return TELLING.search(said) is not None


def found(folder: Path, files: list[Path]) -> list[dict[str, object]]:
    """How many of the leaking files are found, and of the clean ones accused; the same for the peers that are here."""
    name = folder.name
    clean = [path for path in files if path.relative_to(folder).parts[0].startswith("clean")]
    leaking = [path for path in files if path not in clean]
    listed = folder / "known.txt"
    known = load_known_values([listed] if listed.exists() else [], [])

    def row(who: str, count: int, of: int) -> dict[str, object]:
        return {"figure": f"{name}: {who}", "unit": f"of {of}", **measuring.spread([count], 0)}

    caught = sum(scan_paths([path], known=known).result == "leaks" for path in leaking)
    rows = [row("found", caught, len(leaking))]
    if clean:
        accused = sum(scan_paths([path], known=known).result == "leaks" for path in clean)
        rows.append(row("clean files accused", accused, len(clean)))
    for peer, command in PEERS.items():
        if shutil.which(peer):
            count = sum(shows(command, path) for path in leaking)
            rows.append(row(f"found by {peer}", count, len(leaking)))
    return rows


def speed(name: str, data: bytes, rounds: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        samples = []
        for _ in range(rounds):
            begun = time.process_time()
            scan_paths([path])
            samples.append(len(data) / 1e6 / (time.process_time() - begun))
    return {"figure": f"speed on {name}", "unit": "MB/CPU s", **measuring.spread(samples, 1)}


def main() -> None:
    options = measuring.options("leaks", __doc__ or "", rounds=3, arrange=arrange)
    size = 1 << 16 if options.small else 8 << 20
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for name in SETS:
            rows += found(Path(folder) / name, build_set(name, Path(folder) / name))
        for each in options.folder:
            rows += found(each, sorted(path for path in each.rglob("*") if path.is_file()))
    text = b"".join(
        path.read_bytes() for path in sorted(Path(argparse.__file__).parent.glob("*.py"))
    )
    text = (text * (size // len(text) + 1))[:size]
    noise = b"".join((at * 2654435761 % (1 << 32)).to_bytes(4, "little") for at in range(size // 4))
    samples = (
        b"RIFF"
        + (size + 36).to_bytes(4, "little")
        + b"WAVEfmt \x10\0\0\0\1\0\2\0\x80\xbb\0\0\0\xee\2\0\4\0\x10\0data"
    )
    rows.append(speed("text", text, options.rounds))
    rows.append(speed("text in one line", b" ".join(text.split()), options.rounds))
    rows.append(speed("bytes", noise, options.rounds))
    rows.append(
        speed("samples", samples + size.to_bytes(4, "little") + bytes(size), options.rounds)
    )
    measuring.tell("leaks", rows, options.output)


if __name__ == "__main__":
    main()
