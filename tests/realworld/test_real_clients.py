"""Clients as people write them, against real servers: recorded once, replayed with every server gone.

Each is recorded on the command line; then its servers are stopped, and it is verified again and again.
Output and exit code are compared by the verdict. What it did to the world happened once.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from realprograms import REPLAYS, needs, record, shop_in_postgresql
from servers import python_server, redis_server

pytestmark = pytest.mark.heavy


def certificates(folder: Path) -> tuple[Path, Path]:
    """Make a server's certificate with its key, and the authority that signed it."""
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
    recorded.replays(REPLAYS if scheme == "http" else 3)
    assert counter.read_text() == posts


def test_a_shop_in_postgresql_through_a_driver_in_python(tmp_path: Path) -> None:
    needs("pg8000", "psycopg")
    output = shop_in_postgresql(tmp_path, "pg8000_shop.py", "orders")

    assert 'relation "nowhere" does not exist' in output


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
