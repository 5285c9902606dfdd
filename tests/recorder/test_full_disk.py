"""A record that cannot be written any more is a warning and a prefix: the program goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from programs import cli, environ, write
from twice.recorder.runrecord import RunRecord

GROWS = """
    import numpy as np

    def main(run):
        board = run.track("board", np.zeros(2000))
        draw = run.rng("board")
        for tick in run.ticks(200):
            board[:] = draw.normal(size=board.shape)
        print("went to the end")
"""
_BLOCKS = 256  # of 512 bytes: a shell's limit for every file that is written


def record(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    program = write(folder, GROWS)
    words = f"ulimit -f {_BLOCKS}; exec '{sys.executable}' -m twice record '{program}' --seed 1"
    command = f"{words} --snapshots every=5 -o a.twice {' '.join(options)}"
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environ(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_program_goes_on_and_the_record_keeps_what_it_has(tmp_path: Path) -> None:
    done = record(tmp_path)

    assert done.returncode == 0, done.stderr
    assert "went to the end" in done.stdout
    assert "warning: E-OUTPUT-002" in done.stderr
    assert "the program goes on" in done.stderr
    assert "ran 200 ticks" in done.stderr
    assert "the record holds a part of them" in done.stderr
    assert "Traceback" not in done.stderr
    with RunRecord.open(tmp_path / "a.twice") as kept:
        assert not kept.complete
        assert 0 < kept.ticks < 200
    verified = cli("verify", "a.twice", cwd=tmp_path)
    assert verified.stdout.startswith("PARTIAL"), verified.stdout


def test_whoever_would_rather_stop_says_so(tmp_path: Path) -> None:
    done = record(tmp_path, "--on-full", "stop")

    assert done.returncode == 2
    assert "E-OUTPUT-002" in done.stderr
    assert "went to the end" not in done.stdout
