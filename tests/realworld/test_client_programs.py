"""Client programs over eight libraries: each record has one verdict while every server is gone, and no innocent fails.

``labels.json`` of the set says of each program which service it asks, which modules it needs and which verdicts are right.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from realprograms import needs, record
from servers import Server, postgres_server, python_server, redis_server

import twice

pytestmark = pytest.mark.heavy

PROGRAMS = Path(__file__).parents[1] / "corpora" / "client_programs"
LABELS: dict[str, Any] = json.loads((PROGRAMS / "labels.json").read_text("utf-8"))
RECORDS, VERIFICATIONS = 2, 2
OVER_A_LOOP = ("aiohttp", "httpx", "redis", "websockets")


def list_services(folder: Path) -> dict[str, Callable[[], AbstractContextManager[Server]]]:
    """Return what starts each service; some keep files in a folder."""
    return {
        "chat": partial(python_server, "chat_server.py"),
        "feed": partial(python_server, "feed_server.py"),
        "quotes": partial(python_server, "quotes_server.py"),
        "redis": partial(redis_server, folder),
        "postgres": postgres_server,
    }


@pytest.mark.parametrize("name", sorted(LABELS))
def test_a_record_has_one_verdict_when_its_servers_are_gone(name: str, tmp_path: Path) -> None:
    label = LABELS[name]
    needs(*label["needs"])
    services = list_services(tmp_path)
    paths = []
    for number in range(RECORDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        with services[label["service"]]() as server:
            recorded = record(folder, str(PROGRAMS / f"{name}.py"), server.port)
        assert recorded.exit_code == 0, recorded.output
        paths.append(recorded.path)
    for path in paths:
        found = [twice.verify(path) for _ in range(VERIFICATIONS)]

        assert {each.result for each in found} <= set(label["verdicts"]), found[0].to_markdown()
        assert len({each.result for each in found}) == 1, [each.to_markdown() for each in found]


@pytest.mark.parametrize("name", [name for name in sorted(LABELS) if name.startswith(OVER_A_LOOP)])
def test_a_recorded_loop_passes_when_its_servers_are_gone(name: str, tmp_path: Path) -> None:
    label = LABELS[name]
    needs(*label["needs"])
    with list_services(tmp_path)[label["service"]]() as server:
        recorded = record(tmp_path, str(PROGRAMS / f"{name}.py"), server.port, loop="recorded")
    assert recorded.exit_code == 0, recorded.output

    found = [twice.verify(recorded.path) for _ in range(VERIFICATIONS)]

    assert {each.result for each in found} == {"PASS"}, found[0].to_markdown()


def test_every_program_has_a_label() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.py")} == LABELS.keys()
