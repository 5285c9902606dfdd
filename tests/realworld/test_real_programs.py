"""Programs as people write them: recorded once, replayed without the processes and the database.

Each is recorded on the command line; then its servers are stopped, and it is verified again and again.
Output and exit code are compared by the verdict. What it did to the world happened once.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from realprograms import needs, record, shop_in_postgresql


@pytest.mark.heavy
def test_a_shop_in_postgresql_through_a_driver_in_c(tmp_path: Path) -> None:
    needs("psycopg")
    output = shop_in_postgresql(tmp_path, "psycopg_shop.py", "sales")

    assert "DivisionByZero division by zero" in output


@pytest.mark.heavy
def test_a_pipeline_of_processes(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    recorded = record(tmp_path, "pipeline.py", outside)

    assert recorded.exit_code == 3
    assert "2 a" in recorded.output
    recorded.replays()
    assert outside.read_text() == "once\n"


@pytest.mark.heavy
def test_a_training_script(tmp_path: Path) -> None:
    needs("torch")
    recorded = record(tmp_path, "training.py", "--lr", "0.05")

    assert recorded.exit_code == 0
    assert len(recorded.output.splitlines()) == 5
    recorded.replays(3)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("text", "code"), [("A title\nb a b\na\n", 0), ("only a title", 4), ("", 4)]
)
def test_a_tool_that_reads_standard_input(text: str, code: int, tmp_path: Path) -> None:
    recorded = record(tmp_path, "words.py", given=text)

    assert recorded.exit_code == code
    assert recorded.output.startswith("title:")
    recorded.replays(3 if code == 0 else 1)
