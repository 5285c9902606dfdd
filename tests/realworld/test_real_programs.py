"""Programs as people write them, against real servers: recorded once, replayed with every server gone.

Each is recorded on the command line; then its servers are stopped, and it is verified again and again.
Output and exit code are compared by the verdict. What it did to the world happened once.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import twice
from programs import environ
from servers import Server, postgres_server, python_server, redis_server

PROGRAMS = Path(__file__).parent / "scripts"
REPLAYS = 4
pytestmark = pytest.mark.slow


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


def record(folder: Path, program: str, *arguments: object, given: str = "") -> Recorded:
    """Record a program as a user would, and keep what it printed and how it ended."""
    path = folder / "a.twice"
    command = [sys.executable, "-m", "twice", "record", "--seed", "1", "--exit-code", "-o", path]
    command += [PROGRAMS / program, "--", *arguments]
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environ(),
        input=given,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert path.exists(), done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return Recorded(path, done.stdout, done.returncode)


def psql(server: Server, query: str) -> object:
    """What a database says, asked from here."""
    import psycopg

    with psycopg.connect(f"host=127.0.0.1 port={server.port} user=twice dbname=postgres") as asked:
        row = asked.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def certificates(folder: Path) -> tuple[Path, Path]:
    """A server's certificate with its key, and the authority that signed it."""
    import trustme

    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1", "localhost")
    server, trusted = folder / "server.pem", folder / "authority.pem"
    issued.private_key_and_cert_chain_pem.write_to_path(str(server))
    authority.cert_pem.write_to_path(str(trusted))
    return server, trusted


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_client_of_three_http_libraries(scheme: str, tmp_path: Path) -> None:
    needs("requests", "httpx", "aiohttp", "trustme")
    counter = tmp_path / "posts"
    secured = certificates(tmp_path) if scheme == "https" else ()
    with python_server("http_server.py", counter, *secured[:1]) as server:
        url = f"{scheme}://127.0.0.1:{server.port}"
        recorded = record(tmp_path, "http_client.py", url, *secured[1:])
        posts = counter.read_text()

    assert recorded.exit_code == 7, recorded.output
    assert len(recorded.output.splitlines()) == 13, recorded.output
    assert posts.count("/orders") == 3
    recorded.replays()
    assert counter.read_text() == posts


@pytest.mark.parametrize(
    ("program", "driver", "table"),
    [("pg8000_shop.py", "pg8000", "orders"), ("psycopg_shop.py", "psycopg", "sales")],
)
def test_a_shop_in_postgresql(program: str, driver: str, table: str, tmp_path: Path) -> None:
    needs(driver, "psycopg")
    with postgres_server() as server:
        recorded = record(tmp_path, program, server.port)
        assert recorded.exit_code == 0
        assert psql(server, f"select count(*) from {table}") == 3
        recorded.replays(3)
        assert psql(server, f"select count(*) from {table}") == 3
        transaction = psql(server, "select txid_current()::text")
        recorded.replays(1)
        assert int(str(psql(server, "select txid_current()::text"))) == int(str(transaction)) + 1

    recorded.replays(REPLAYS - 4)


def test_counters_in_redis(tmp_path: Path) -> None:
    needs("redis")
    import redis

    with redis_server(tmp_path) as server:
        recorded = record(tmp_path, "redis_counter.py", server.port)
        recorded.replays(2)
        with redis.Redis(port=server.port) as client:
            assert client.get("visits") == b"3"

    assert recorded.exit_code == 0
    assert recorded.output.startswith("1 ")
    recorded.replays(REPLAYS - 2)


def test_a_letter_by_smtp(tmp_path: Path) -> None:
    needs("aiosmtpd")
    letters = tmp_path / "letters"
    with python_server("smtp_server.py", letters) as server:
        recorded = record(tmp_path, "smtp_client.py", server.port)
        recorded.replays(2)

    assert recorded.exit_code == 0
    recorded.replays(REPLAYS - 2)
    assert letters.read_text() == "a@example.org ['b@example.org']\n"


def test_a_pipeline_of_processes(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    recorded = record(tmp_path, "pipeline.py", outside)

    assert recorded.exit_code == 3
    assert "2 a" in recorded.output
    recorded.replays()
    assert outside.read_text() == "once\n"


def test_a_training_script(tmp_path: Path) -> None:
    needs("torch")
    recorded = record(tmp_path, "training.py", "--lr", "0.05")

    assert recorded.exit_code == 0
    assert len(recorded.output.splitlines()) == 5
    recorded.replays(3)


@pytest.mark.parametrize(("text", "code"), [("A title\nb a b\na\n", 0), ("only a title", 4), ("", 4)])
def test_a_tool_that_reads_standard_input(text: str, code: int, tmp_path: Path) -> None:
    recorded = record(tmp_path, "words.py", given=text)

    assert recorded.exit_code == code
    assert recorded.output.startswith("title:")
    recorded.replays(REPLAYS if code == 0 else 2)
