"""Object stores for tests: folders of this machine behind the same library, and an S3 server on loopback."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from twice.recorder.record import object_store

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "AKIAPLANTEDKEY",
    "AWS_SECRET_ACCESS_KEY": "planted-secret-of-a-store-9f2c",
    "AWS_SESSION_TOKEN": "planted-token-of-a-store-71bd",
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}


def use_folder(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have every bucket be a folder in this one, read and written by obstore itself."""
    from obstore.store import LocalStore

    monkeypatch.setattr(
        object_store,
        "_open_store",
        lambda url: LocalStore(folder / url.partition("://")[2], mkdir=True),
    )


@contextmanager
def serve_s3(monkeypatch: pytest.MonkeyPatch, *buckets: str) -> Iterator[str]:
    """Serve S3 on loopback, with the variables set that lead there; give its address."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    try:
        ask(f"{address}/moto-api/reset", "POST")
        for bucket in buckets:
            ask(f"{address}/{bucket}", "PUT")
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": address}.items():
            monkeypatch.setenv(name, value)
        object_store._open_store.cache_clear()
        yield address
    finally:
        object_store._open_store.cache_clear()
        server.stop()


def ask(url: str, method: str = "GET") -> bytes:
    request: Any = urllib.request.Request(url, method=method)
    with urllib.request.urlopen(request) as answer:
        content: bytes = answer.read()
    return content
