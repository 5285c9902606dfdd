"""Records a program as a user would and replays it again and again; what tests of real programs share."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from servers import Server, postgres_server

import twice
from programs import HANGS_AFTER_S, environ

SCRIPTS = Path(__file__).parent / "scripts"
REPLAYS = 3


def needs(*modules: str) -> None:
    """Skip by name where a library is not installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: pip install -e '.[dev,heavy]'")


@dataclass(frozen=True)
class Recorded:
    """A program that was recorded on the command line."""

    path: Path
    output: str
    exit_code: int

    def replays(self, times: int = REPLAYS) -> None:
        """Verify it again and again; nothing answers any more."""
        for _ in range(times):
            statement = twice.verify(self.path)
            assert statement.result == "PASS", statement.to_json()
            assert statement.manifest_matches


def record(
    folder: Path, program: str, *arguments: object, given: str = "", loop: str = "own"
) -> Recorded:
    """Record a program as a user would, and keep what it printed and how it ended."""
    path = folder / "a.twice"
    command = [sys.executable, "-m", "twice", "record", "--seed", "1", "--exit-code", "-o", path]
    command += ["--loop", loop, SCRIPTS / program, "--", *arguments]
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environ(),
        input=given,
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER_S,
        check=False,
    )
    assert path.exists(), done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return Recorded(path, done.stdout, done.returncode)


def shop_in_postgresql(folder: Path, program: str, table: str) -> str:
    """Record a program that inserts three rows, replay it with its server there and gone; its output."""
    with postgres_server() as server:
        recorded = record(folder, program, server.port)
        assert recorded.exit_code == 0
        assert psql(server, f"select count(*) from {table}") == 3
        kept = f"select md5(string_agg(kept::text, ' ' order by kept::text)) from {table} kept"
        before = psql(server, kept)
        recorded.replays(3)
        assert psql(server, kept) == before
        assert psql(server, f"select count(*) from {table}") == 3

    recorded.replays(REPLAYS - 3)
    return recorded.output


def psql(server: Server, query: str) -> object:
    """Return a database's answer to a query from here."""
    import psycopg

    with psycopg.connect(f"host=127.0.0.1 port={server.port} user=twice dbname=postgres") as asked:
        row = asked.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]
