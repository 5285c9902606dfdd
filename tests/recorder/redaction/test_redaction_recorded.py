"""A secret that a program was given is nowhere in its record, and the record verifies with and without it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from planted import opened, stands_in
from programs import environ, write

pytestmark = pytest.mark.integration

SECRET = "corr-ect/horse+77é"
WITH: dict[str, str | None] = {
    "SHOP_PASSWORD": SECRET,
    "MY_TOKEN": SECRET,
    "SHOP_URL": f"https://me:{SECRET.replace('/', '%2F')}@shop/",
}
EVERYWHERE = """
    import base64, json, os, subprocess, sys

    def main(run):
        seen = run.track("seen", [])
        assert run.config["where"]
        key = os.environ["SHOP_PASSWORD"]
        for tick in run.ticks(2):
            print("key", key, os.environ["SHOP_URL"], flush=True)
            print("in base64", base64.b64encode(key.encode()), file=sys.stderr)
            os.write(2, json.dumps({"key": key}).encode())
            cat = subprocess.run(["cat"], input=key, capture_output=True, text=True)
            echo = subprocess.run(["echo", key], capture_output=True)
            os.system(f"echo '{key}'")
            told = run.effects.call("model", lambda k: {"said": ["you said " + k]}, key)
            line = sys.stdin.readline()
            seen.append([len(one.encode()) for one in (cat.stdout, told["said"][0], line)])
            seen.append([len(echo.stdout), len(repr({**os.environ})) > 100])
        raise RuntimeError(f"no shop takes {key}")
"""


def run(*arguments: object, given: str = "", **variables: str | None) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "twice", *map(str, arguments)],
        capture_output=True,
        text=True,
        input=given,
        env=environ(variables),
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record a program that passes its secret to everything."""
    folder = tmp_path_factory.mktemp("planted")
    program, out = write(folder, EVERYWHERE), folder / "a.twice"
    code, said = run(
        "record", program, "--seed", 1, "-o", out, "--env", f"MY_TOKEN={SECRET}", "--quiet",
        "--ignore-output", "^in base64|^{.key",  # what is computed from stars is not what was recorded
        "--set", f"where=see {SECRET}", given=f"{SECRET}\n{SECRET}\n", **WITH,
    )  # fmt: skip
    assert "exception" in said, said
    assert code == 1
    return out


def test_a_secret_is_nowhere_in_the_record(planted: Path) -> None:
    assert stands_in(planted, SECRET) == []
    assert b"no shop takes *****" in opened(planted)
    assert b"you said *****" in opened(planted)


def test_the_record_verifies_with_the_secret_and_without_it(planted: Path) -> None:
    code, said = run("verify", planted, **WITH)
    assert (code, said[:4]) == (0, "PASS"), said
    assert "variable SHOP_PASSWORD" in said
    assert "given as stars" not in said
    for value in (None, "another"):
        code, said = run("verify", planted, SHOP_PASSWORD=value, MY_TOKEN=value)
        assert (code, said[:4]) == (0, "PASS"), said
        assert "recorded value is not there: MY_TOKEN, SHOP_PASSWORD" in said


def test_the_search_of_the_product_agrees(planted: Path, tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text(f"{SECRET}\n")
    code, said = run("show", planted, "--secrets", tmp_path / "secrets")
    assert (code, said[:9]) == (0, "NOT FOUND"), said
    code, said = run("show", planted, "--secrets", "-", "--json", given="you said\n")
    assert code == 1
    found = json.loads(said)
    assert found["found"]
    assert "you said" not in said
    assert {one["secret"] for one in found["sightings"]} == {"line 1 of standard input"}


def test_the_summary_names_rules_and_never_values(planted: Path) -> None:
    code, said = run("show", planted, "--secrets", "--json")
    told = json.loads(said)
    assert code == 0
    where = {one["where"] for one in told["blanked"] if one["rule"] == "variable SHOP_PASSWORD"}
    assert {"output", "errors", "call", "stdin.read", "process.communicate", "config"} <= where
    assert "SHOP_PASSWORD" in told["variables"]
    assert SECRET not in said


@pytest.mark.heavy
def test_a_branch_keeps_the_stars_of_its_parent(tmp_path: Path) -> None:
    source = """
        import os

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(3):
                print(os.environ["SHOP_PASSWORD"], run.input("push", lambda: 1), flush=True)
                seen.append(len(os.environ["SHOP_PASSWORD"].encode()))
        """
    first, second = tmp_path / "a.twice", tmp_path / "b.twice"
    program = write(tmp_path, source)
    code, said = run("record", program, "--seed", 1, "-o", first, "--quiet", **WITH)
    assert code == 0, said
    code, said = run("branch", first, "--at", 1, "--input", "push=2", "-o", second, **WITH)
    assert code == 0, said
    assert stands_in(second, SECRET) == []
    code, said = run("verify", second, SHOP_PASSWORD=None)
    assert (code, said[:4]) == (0, "PASS"), said
    assert "recorded value is not there: SHOP_PASSWORD" in said
