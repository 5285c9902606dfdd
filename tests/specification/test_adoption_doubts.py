"""One answer in prose at a time: adopted where it says one thing, "?" with the reason where it could mean two."""

from __future__ import annotations

import pytest

from twice.specification.adoption.answers import Reading, read_sheet_answers
from twice.specification.schema import SHEETS, UNKNOWN


def read(number: str, key: str, text: str) -> Reading | None:
    found = {each.key: each for each in read_sheet_answers(f"# Sheet\n\n{text}\n", SHEETS[number])}
    return found.get(key)


@pytest.mark.parametrize(
    ("number", "key", "text", "value"),
    [
        ("01", "class", "**Class: bit-exact**", "bit-exact"),
        ("01", "class", "**Class**: Class 2 (logical equivalence)", "logical"),
        ("01", "class", "Class: `bit-exact`", "bit-exact"),
        ("01", "class", "The class is statistical.", "statistical"),
        ("01", "class", "**Class:** bit-exact\n**Rationale:** logical is weaker", "bit-exact"),
        ("01", "class", "**Class:** logical\n\n## Alternatives\n\n**Class:** bit-exact", "logical"),
        ("01", "class", "<!-- Class: logical -->\nClass: bit-exact\n\n> Class: statistical", "bit-exact"),
        ("01", "class", "| Field | Value |\n|---|---|\n| Class | Bit-Exact |", "bit-exact"),
        ("01", "tier", "## 2. Tier\n\nXL", "XL"),
        ("01", "scope", "Scope: cross-host", "cross-host"),
        ("01", "epsilon", "**Tolerance ε** — 1e-6, max-abs", "1e-6"),
        ("01", "measure", "**Tolerance ε** — 1e-6, max-abs", "abs"),
        ("01", "contested", "Contested: no", False),
        ("00", "seed", "Master seed: 42", 42),
        ("02", "surface", "Seed surface: the flag `--seed`", ["flag"]),
        ("04", "cadence", "Cadence: every 50 ticks", "every=50"),
        ("05", "projection", "State projection: `swarm`, `weather`", ["swarm", "weather"]),
        ("07", "model", "Concurrency model: threads and tasks", ["threads", "tasks"]),
        ("08", "threads", "Thread-count caps: `OMP_NUM_THREADS=2`, `MKL_NUM_THREADS=2`", 2),
        ("13", "budget_percent", "Budget: at most 15 %", 15),
    ],
)  # fmt: skip
def test_an_answer_that_says_one_thing_is_adopted(
    number: str, key: str, text: str, value: object
) -> None:
    found = read(number, key, text)
    assert found is not None
    assert (found.value, found.why) == (value, "")


@pytest.mark.parametrize(
    ("number", "key", "text", "why"),
    [
        ("01", "class", "**Class: bit-exact**, or logical", "it says bit-exact and logical"),
        ("01", "class", "Class: `bit-exact`, and logical on the GPU", "it says bit-exact and logical"),
        ("01", "class", "Class: not bit-exact", "'not' leaves it open"),
        ("01", "class", "Class: bit-exact if nobody minds", "'if' leaves it open"),
        ("01", "class", "Class: ~~bit-exact~~", "'~~' leaves it open"),
        ("01", "class", "Class: deterministic", "it says none of"),
        ("01", "class", "Class: bit-exact\n\nThe class is logical.", "line 3 says bit-exact and line 5 logical"),
        ("01", "tier", "Tier: S or so", "it says S beside something else"),
        ("01", "scope", "Scope: host, for now", "'for now' leaves it open"),
        ("01", "epsilon", "Tolerance: 5 %", "no number"),
        ("01", "epsilon", "Tolerance: 10^-6", "no number"),
        ("01", "epsilon", "Tolerance: 0.5 mm", "more than the number"),
        ("01", "contested", "Contested: no doubt about it", "neither yes nor no"),
        ("01", "closed_world", "Closed world: yes, except the clock", "'except' leaves it open"),
        ("00", "seed", "Master seed: 42 in tests", "more than the number"),
        ("00", "seed", "Seed: 4.5", "no whole number"),
        ("00", "config", "Config: `big`", "no key=value"),
        ("00", "program", "Program: `a.py:main`, `b.py:main`", "does not name one"),
        ("02", "derivation", "## Derivation\n\nOne rule.\n\nAnother rule.", "several parts"),
        ("02", "derivation", "Derivation: TBD", "'TBD' leaves it open"),
        ("02", "surface", "Seed surface: the flag `--config-seed`", "in backticks says more"),
        ("02", "audit", "Audit: everything", "nothing in backticks"),
        ("02", "audit", "Audit: not `tools`", "'not' leaves it open"),
        ("04", "cadence", "Cadence: every 50 ticks and per episode", "it says several"),
        ("05", "projection", "State projection: full canonical state minus caches", "'minus'"),
        ("07", "model", "Concurrency model: threads. No actors.", "'No' leaves it open"),
        ("07", "model", "Concurrency model: threads or processes", "'or' leaves it open"),
        ("08", "threads", "Thread-count caps: `OMP_NUM_THREADS=2`, `MKL_NUM_THREADS=4`", "it says 2 and 4"),
        ("13", "budget_percent", "Budget: 15 % of a day", "no percentage alone"),
    ],
)  # fmt: skip
def test_an_answer_that_could_mean_two_things_is_left_open_with_the_reason(
    number: str, key: str, text: str, why: str
) -> None:
    found = read(number, key, text)
    assert found is not None
    assert found.value == UNKNOWN
    assert why in found.why


def test_a_range_of_versions_is_no_pin() -> None:
    found = read(
        "08", "pins", "**Library pinning**\n\n- numpy==2.1.3\n- scipy>=1.10\n- openblas 0.3.28"
    )
    assert found is not None
    versions = {"numpy": "2.1.3", "scipy": UNKNOWN, "openblas": "0.3.28"}
    assert found.value == [{"library": key, "version": each} for key, each in versions.items()]
    assert found.why == "scipy has no exact version"


def test_a_table_belongs_to_its_label_or_to_the_sheet_and_to_no_other_heading() -> None:
    table = "| Subsystem | Class |\n|---|---|\n| burner | bit-exact |"
    rows = [{"name": "burner", "class": "bit-exact"}]
    own, labelled = (
        read("01", "subsystems", table),
        read("01", "subsystems", f"## Subsystems\n\n{table}"),
    )
    assert own is not None
    assert labelled is not None
    assert (own.value, labelled.value) == (rows, rows)
    for foreign in ("## Draft of last year", "**Draft of last year:**"):
        assert read("01", "subsystems", f"{foreign}\n\n{table}") is None


def test_two_rows_of_one_name_are_no_table() -> None:
    table = "| Subsystem | Class |\n|---|---|\n| burner | bit-exact |\n| burner | logical |"
    found = read("01", "subsystems", table)
    assert found is not None
    assert (found.value, found.why) == (UNKNOWN, "name burner stands in two rows")


def test_code_blocks_say_nothing() -> None:
    assert read("01", "class", "```\nClass: bit-exact\n```") is None
