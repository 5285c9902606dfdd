"""Importing twice stays light, because everyone who records pays for it first.

The claim is about modules, which do not depend on the machine; ``benchmarks/import_time.py``
measures the milliseconds.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration

HEAVY = (
    "IPython", "aiohttp", "asyncio", "blake3", "click", "fastapi", "gymnasium", "hypothesis",
    "importlib.metadata", "jax", "jinja2", "matplotlib", "mujoco", "numpy", "pandas", "pyarrow",
    "pydantic", "pytest", "rich", "scipy", "tensorflow", "threadpoolctl", "torch", "xxhash", "yaml", "zstandard",
)  # fmt: skip

LIST = "import json, sys, {}; print(json.dumps(sorted(sys.modules)))"


def modules_after_importing(name: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", LIST.format(name)], capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout)


def test_the_front_door_imports_nothing_heavy() -> None:
    loaded = modules_after_importing("twice")

    assert [name for name in HEAVY if name in loaded] == []


def test_the_front_door_imports_neither_commands_nor_integrations() -> None:
    above = ("twice.cli", "twice.report", "twice.integrations", "twice.testing", "twice.checker")

    assert [name for name in modules_after_importing("twice") if name.startswith(above)] == []


@pytest.mark.parametrize("command", ["derived_files", "review", "show"])
def test_jinja_is_imported_only_when_a_page_is_made(command: str) -> None:
    pages = "twice.report.record_pages, twice.report.review_page"
    loaded = modules_after_importing(f"twice.cli.commands.{command}, {pages}")

    assert "jinja2" not in loaded


def test_a_session_without_a_policy_of_numbers_loads_no_table_of_knobs() -> None:
    ends = "twice.recorder.record_session, twice.recorder.environment.fingerprint as f; f.numerics_at_end()"
    loaded = modules_after_importing(ends)

    assert {"twice.recorder.environment.knobs", "tomllib"} & {*loaded} == set()


@pytest.mark.parametrize("name", ["numpy", "yaml"])
def test_the_check_sees_a_heavy_module(name: str) -> None:
    assert name in modules_after_importing(f"twice.errors, {name}")
