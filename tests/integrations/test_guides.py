"""Every program in the guides and examples of this room is recorded, verified and restored."""

from __future__ import annotations

import re
import threading
import urllib.request
from pathlib import Path

import pytest

from programs import reserve_port
from twice.recording.cadence import Cadence
from twice.recording.recorder import record
from twice.replayer.restore_test import restores
from twice.replayer.verify import verify

REPOSITORY = Path(__file__).parents[2]
GUIDES = REPOSITORY / "docs" / "guides"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def holds(program: str, out: Path, **config: object) -> None:
    made = record(program, seed=7, config=config, out=out, cadence=Cadence("tick", 15))
    assert made.ending is not None
    assert made.ending["how"] == "completed", made.ending
    made.close()
    assert verify(out).to_json()["result"] == "PASS"
    restored = restores(out)
    assert restored["tested"] > 0
    assert restored["failed"] == []


def blocks(guide: str) -> str:
    text = (GUIDES / f"{guide}.md").read_text(encoding="utf-8")
    return "\n\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize(
    ("guide", "function", "config"),
    [
        pytest.param("gymnasium", "main", {"steps": 40}, marks=pytest.mark.integration),
        pytest.param("gymnasium", "fish", {}, marks=pytest.mark.heavy),
        pytest.param("gymnasium", "many", {}, marks=pytest.mark.heavy),
        pytest.param("mesa", "main", {"steps": 40}, marks=pytest.mark.heavy),
    ],
)
def test_the_programs_of_a_guide_hold(
    guide: str, function: str, config: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / f"{guide}_guide.py"
    path.write_text(blocks(guide), encoding="utf-8")

    holds(f"{path}:{function}", tmp_path / "a.twice", **config)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("example", "config"),
    [
        ("ant", {"steps": 60}),
        ("ant", {"steps": 60, "env": "Pendulum-v1"}),
        ("mesa_model", {"people": 30, "days": 40}),
    ],
)
def test_the_examples_hold(example: str, config: dict[str, object], tmp_path: Path) -> None:
    holds(f"{REPOSITORY / 'examples' / example}.py:main", tmp_path / "a.twice", **config)


@pytest.mark.integration
@pytest.mark.parametrize(("function", "port"), [("main", "8000"), ("greeter", "8001")])
def test_the_services_of_the_guide_hold(function: str, port: str, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[dev]'")
    path, out = tmp_path / "services_guide.py", tmp_path / "a.twice"
    answers: list[bytes] = []
    with reserve_port() as free:
        path.write_text(blocks("services").replace(port, str(free)), encoding="utf-8")
        client = threading.Thread(target=ask_twice, args=(free, answers))
        client.start()
        record(f"{path}:{function}", seed=7, config={"requests": 2}, out=out).close()
        client.join()

    assert len(answers) == 2
    assert verify(out).result == "PASS"


@pytest.mark.integration
def test_the_database_of_the_guide_holds(tmp_path: Path) -> None:
    (tmp_path / "databases_guide.py").write_text(blocks("databases"), encoding="utf-8")
    out = tmp_path / "a.twice"

    with record(f"{tmp_path / 'databases_guide.py'}:main", seed=7, out=out) as made:
        assert made.printed()[0] == b"(3,)\n"
    (tmp_path / "shop.db").unlink()

    assert verify(out).result == "PASS"


def ask_twice(port: int, answers: list[bytes]) -> None:
    """Ask a server that is about to start, until it has answered twice."""
    deadline = threading.Event()
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/apples", data=b"2") as response:
                answers.append(response.read())
        except OSError:
            deadline.wait(0.05)
        if len(answers) == 2:
            return
