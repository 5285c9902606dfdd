"""One source is one code, whether it was compiled just now or comes from bytecode."""

from __future__ import annotations

import compileall
import os
import py_compile
from pathlib import Path

import pytest

from programs import recorded
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

NAMES = ", ".join(repr(f"member {number}") for number in range(40))
PROGRAM = """
import members

def main(run):
    seen = run.track("seen", [])
    for tick in run.ticks(2):
        seen.append(members.in_order())
"""


def test_a_set_of_constants_has_one_order_with_bytecode_and_without(tmp_path: Path) -> None:
    source = tmp_path / "members.py"
    source.write_text(f"def in_order():\n    return [name for name in {{{NAMES}}}]\n")
    os.utime(source, (1_000_000_000, 1_000_000_000))
    with recorded(tmp_path, PROGRAM, env={"PYTHONDONTWRITEBYTECODE": "1"}) as record:
        path = record.path
    assert not (tmp_path / "__pycache__").exists()
    assert compileall.compile_file(source, quiet=1)
    assert verify(path).result == "PASS"


def test_bytecode_without_a_time_of_its_source_is_executed_as_python_does(tmp_path: Path) -> None:
    source, program = tmp_path / "members.py", PROGRAM.replace("members.in_order()", "members.ONE")

    def compile_as(number: int) -> None:
        source.write_text(f"ONE = {number}\n")
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(os.fspath(source), doraise=True, invalidation_mode=mode)
        source.write_text("ONE = 0\n")

    compile_as(1)
    with recorded(tmp_path, program) as record:
        path = record.path
    assert verify(path).result == "PASS"
    compile_as(2)
    assert verify(path).result == "FAIL"
