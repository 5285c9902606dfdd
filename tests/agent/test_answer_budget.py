"""Real answers of every tool: as their schema says, and within the tokens that an agent is promised.

The commands run as the server runs them, without the server. The figures are in ``docs/internals/tests.md``.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from jsonschema import Draft202012Validator

from programs import cli
from twice.agent.answers import BYTES_MAX, answer, refuse
from twice.agent.errors import NothingThere
from twice.agent.server import describe_tool
from twice.agent.verbs import VERBS

EXAMPLE = Path(__file__).parents[2] / "examples" / "systems" / "orders"
WORLD = """
class World:
    def __init__(self, rng, step):
        self.rng, self.step = rng, step
        self.agents = {f"agent_{n:03}": {"energy": 0.0, "age": n} for n in range(100)}

    def live(self):
        for each in self.agents.values():
            each["energy"] += self.rng.random() * self.step
            each["age"] += self.step

    def state(self):
        return {"agents": self.agents}

    def restore(self, state):
        self.agents = state["agents"]


def main(run):
    world = run.track("world", World(run.rng("world"), run.config["step"]))
    for _ in run.ticks(3):
        world.live()
"""
CALLS: dict[str, list[dict[str, Any]]] = {
    "record": [
        {"program": "world.py:main", "config": {"step": n}, "out": f"{n}.twice"} for n in (1, 2)
    ],
    "verify": [{"record": "1.twice"}],
    "diagnose": [{"a": "1.twice", "b": "2.twice", "anyway": True}, {"a": "1.twice", "b": "2.twice", "lines": False}],
    "vary": [{"program": "world.py:main", "config": {"step": 1}, "factors": ["hash seed"]}],
    "branch": [{"record": "1.twice", "at": 1, "out": "3.twice"}],
    "show_state": [{"record": "1.twice"}, {"record": "1.twice", "tick": 2}],
    "check": [{"paths": ["."], "min": "informational"}],
    "review": [{"paths": ["."]}],
    "records": [{}],
    "spec": [{}, {"action": "changed"}],
    "gate": [{"report": True}],
    "scaffold": [{"component": "orders"}],
}  # fmt: skip


def validator(tool: str) -> Draft202012Validator:
    schema = describe_tool(tool, VERBS[tool]).output_schema
    assert schema is not None
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.integration
@pytest.mark.heavy
def test_every_tool_answers_as_its_schema_says_and_in_few_tokens(tmp_path: Path) -> None:
    assert CALLS.keys() == VERBS.keys()
    shutil.copytree(EXAMPLE, tmp_path / "orders")
    (tmp_path / "world.py").write_text(WORLD, encoding="utf-8")
    told: dict[str, Any] = {}
    sizes = {}
    for tool, calls in CALLS.items():
        folder = tmp_path / "orders" if tool in {"spec", "gate", "scaffold"} else tmp_path
        for given in calls:
            command = VERBS[tool].model_validate(given).to_command()
            done = cli(*command, "--json", cwd=folder)
            name = f"{tool} {json.dumps(given)}"
            told[name] = answer(tool, json.loads(done.stdout), "twice://answer/1/1")
            validator(tool).validate(told[name])
            sizes[name] = len(json.dumps(told[name]).encode())

    assert max(sizes.values()) <= BYTES_MAX <= 1500 * 2, sizes
    located = next(name for name in told if name.startswith("diagnose"))
    assert told[located]["answer"]["operation"]["file"].endswith("world.py")
    assert told[located]["omitted"]["fields"] > 50
    assert sizes[located] <= 1200 * 2.5  # bytes of a token in paths and numbers


@pytest.mark.parametrize("tool", VERBS)
def test_an_error_is_as_the_schema_says_and_half_an_answer_is_not(tool: str) -> None:
    refused = refuse(NothingThere("There is none.", "Expected one.", "Call again."))

    assert validator(tool).is_valid(refused)
    assert not validator(tool).is_valid({"result": "PASS"})
    assert not validator(tool).is_valid({"ok": True, "confidence": 2})
    assert not validator(tool).is_valid({"ok": False, "error": {"id": "E-AGENT-006"}})
