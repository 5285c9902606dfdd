from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from programs import cli
from tiers import sampled

pytestmark = pytest.mark.integration

TABLES = f"{Path(__file__).parents[2] / 'examples' / 'table_tools.py'}:registry"

OWN = """
from twice.tools import Context, Registry, tool

@tool("scatter.points", determinism="seeded", version="1.2.0")
def scatter(n: int, ctx: Context) -> list[float]:
    "Scatter points on a line."
    return ctx.rng("points").random(n).tolist()

@tool("guess", determinism="nondeterministic")
def guess() -> int:
    return 1

registry = Registry([scatter, guess])
other = 3
"""


def called(*arguments: object, cwd: Path | None = None) -> tuple[int, Any]:
    done = cli("tools", "call", *arguments, "--json", cwd=cwd)
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "points.py").write_text(OWN)
    (tmp_path / "broken.py").write_text("registry = 1 / 0")
    (tmp_path / "undeclared.py").write_text(OWN.replace('determinism="seeded", ', ""))
    return tmp_path


def test_a_registry_is_listed_with_what_each_tool_promises() -> None:
    done = cli("tools", "list", TABLES)

    assert done.returncode == 0
    assert "table.sample     seeded" in done.stdout
    assert done.stdout.splitlines()[-1].startswith(f"next: twice tools call {TABLES}")


def test_a_list_is_cut_where_that_is_asked_for() -> None:
    done = cli("tools", "list", TABLES, "--limit", 2)

    assert [line.split()[0] for line in done.stdout.splitlines()[1:-1]] == [
        "table.aggregate", "table.create",
    ]  # fmt: skip
    assert done.stderr == "9 more: --limit 11 lists them\n"


def test_the_json_list_holds_schemas_and_fingerprints() -> None:
    told = json.loads(cli("tools", "list", TABLES, "--json").stdout)

    assert told["format"] == "twice.tools/1"
    assert {"name", "determinism", "input", "output", "needs", "fingerprint"} <= set(
        told["tools"][0]
    )


def test_whoever_calls_by_hand_sees_where_a_tool_raised(tmp_path: Path) -> None:
    tools = OWN + (
        "\n@tool('divide', determinism='deterministic')\n"
        "def divide(n: int) -> float:\n"
        "    return 1 / n  # the line\n"
        "\nregistry = Registry([divide])\n"
    )
    (tmp_path / "points.py").write_text(tools)

    done = cli("tools", "call", "points.py:registry", "divide", "--args", '{"n": 0}', cwd=tmp_path)

    assert done.returncode == 1
    assert "return 1 / n  # the line" in done.stderr
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert "# the line" not in done.stdout


def test_a_result_that_is_refused_shows_no_trace_of_the_runtime(tmp_path: Path) -> None:
    (tmp_path / "sets.py").write_text(
        "from twice.tools import Registry, tool\n"
        "@tool('give', determinism='deterministic')\n"
        "def give() -> dict:\n"
        "    return {'names': {1, 2}}\n"
        "registry = Registry([give])\n"
    )
    done = cli("tools", "call", "sets.py:registry", "give", cwd=tmp_path)

    assert done.returncode == 1
    assert "names is a set, which has no order" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_tool_is_called_and_its_envelope_printed() -> None:
    code, found = called(TABLES, "table.create", "--args", '{"name": "t", "columns": ["x"]}')

    assert (code, found["ok"]) == (0, True)
    assert found["result"] == {"table": "t", "rows": 0}


@pytest.mark.parametrize("registry", ["points:registry", "points.py:registry"])
def test_a_registry_of_ones_own_is_found_by_module_and_by_file(own: Path, registry: str) -> None:
    given = (registry, "scatter.points", "--args", '{"n": 2}')
    first = called(*given, "--seed", 42, cwd=own)
    again = called(*given, "--session-seed", 42, cwd=own)
    other = called(*given, "--seed", 42, "--call-key", "b", cwd=own)

    assert first[0] == 0
    assert first[1]["determinism"]["seed_source"] == "parameter"
    assert again[1]["determinism"]["seed_source"] == "session"
    assert first[1]["result"] == again[1]["result"] != other[1]["result"]


def test_arguments_and_contract_come_from_files_as_well(own: Path) -> None:
    (own / "args.json").write_text('{"n": 3}')
    (own / "offer.json").write_text('{"session_seed": "7", "registry": "sha256:stale"}')
    given = ("points:registry", "scatter.points", "--args", "@args.json")

    assert len(called(*given, "--seed", 1, cwd=own)[1]["result"]) == 3
    code, found = called(*given, "--contract", "@offer.json", cwd=own)
    assert (code, found["error"]["code"]) == (1, "contract_violation")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("scatter.points", "--args", '{"n": 2}'), "seed_required"),
        (("scatter.points", "--args", '{"n": "2"}', "--seed", 1), "invalid_arguments"),
        (("scatter.points", "--args", '{"n": NaN}', "--seed", 1), "invalid_arguments"),
        (("scatter.points", "--args", '{"n": 2, "m": 1}', "--seed", 1), "invalid_arguments"),
        (("scatter.points", "--args", '{"n": 2}', "--seed", -1), "invalid_arguments"),
        (("scatter.points", "--args", '{"n": 2}', "--seed", 2**256), "invalid_arguments"),
        (
            ("scatter.points", "--args", '{"n": 2}', "--seed", 1, "--require", "deterministic"),
            "nondeterministic_refused",
        ),
        (("guess",), "nondeterministic_refused"),
        (("guess", "--seed", 1, "--allow", "nondeterministic"), "invalid_arguments"),
        (("nothing",), "not_found"),
    ],
)
def test_a_refusal_is_an_envelope_and_exits_1(
    own: Path, arguments: tuple[Any, ...], code: str
) -> None:
    exit_code, found = called("points:registry", *arguments, cwd=own)

    assert (exit_code, found["error"]["code"]) == (1, code)


def test_a_permission_is_given_by_name(own: Path) -> None:
    assert called("points:registry", "guess", "--allow", "nondeterministic", cwd=own)[0] == 0


def test_text_for_people_says_the_same(own: Path) -> None:
    good = cli("tools", "call", "points:registry", "scatter.points", "--args", '{"n": 1}',
               "--seed", "7", cwd=own)  # fmt: skip
    bad = cli("tools", "call", "points:registry", "scatter.points", cwd=own)

    assert "seeded, seed 7 (parameter); sha256:" in good.stdout
    assert bad.stdout.startswith("invalid_arguments: ")
    assert bad.returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "nowhere"),
        ("list", "nowhere:registry"),
        ("list", "nowhere.py:registry"),
        ("list", "broken:registry"),
        ("list", "broken.py:registry"),
        ("list", "undeclared.py:registry"),
        ("list", "points:other"),
        ("list", "points:missing"),
        ("call", "points:registry", "guess", "--args", "{"),
        ("call", "points:registry", "guess", "--args", "[1]"),
        ("call", "points:registry", "guess", "--args", '{"a": 1, "a": 2}'),
        ("call", "points:registry", "guess", "--args", "@nowhere.json"),
        ("call", "points:registry", "guess", "--args", '{"seed": 1}', "--seed", "2"),
        ("call", "points:registry", "guess", "--allow", "everything"),
    ],
)
@pytest.mark.sample(4)
def test_wrong_use_is_one_error_and_exits_2(own: Path, arguments: tuple[str, ...]) -> None:
    done = cli("tools", *arguments, cwd=own)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("E-")
    assert "Traceback" not in done.stderr


def test_what_a_module_or_a_tool_prints_is_no_part_of_the_answer(own: Path) -> None:
    (own / "loud.py").write_text(
        OWN.replace("return ctx", "print('loud')\n    return ctx") + "print('hello')\n"
    )
    code, found = called(
        "loud.py:registry", "scatter.points", "--args", '{"n": 1}', "--seed", "4", cwd=own
    )
    listed = cli("tools", "list", "loud.py:registry", "--json", cwd=own)

    assert (code, found["ok"]) == (0, True)
    assert len(json.loads(listed.stdout)["tools"]) == 2
    assert listed.stderr == "hello\n"


@pytest.mark.parametrize("action", sampled(["list", "call", "verify", "serve"], {"list"}))
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("from twice.tools import Registry\nregistry = Registry([])\n", "has no tools"),
        ("registry = 3\n", "of type int"),
    ],
)
def test_a_module_without_tools_is_refused_by_every_action(
    own: Path, action: str, text: str, words: str
) -> None:
    (own / "empty.py").write_text(text)
    more = {"call": ["guess"], "serve": ["-o", "a.twice"]}.get(action, [])
    done = cli("tools", action, "empty.py:registry", *more, cwd=own)

    assert done.returncode == 2
    assert done.stderr.startswith("E-TOOL-002")
    assert words in done.stderr
    assert not (own / "a.twice").exists()


def test_a_file_without_a_name_is_told_how_to_write_it(own: Path) -> None:
    done = cli("tools", "list", "points.py", cwd=own)

    assert done.returncode == 2
    assert "twice tools list points.py:registry" in done.stderr


def test_every_place_outside_of_a_contract_is_told(own: Path) -> None:
    offer = '{"bogus": 1, "session_seed": -1, "limits": {"calls": 0}}'
    done = cli("tools", "call", "points.py:registry", "guess", "--contract", offer, cwd=own)

    assert done.returncode == 1
    assert all(word in done.stdout for word in ("session_seed: a seed", "limits.calls", "bogus"))
