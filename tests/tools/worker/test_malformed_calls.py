"""A thousand calls that no schema allows, and some that it does: every answer is an envelope."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from twice.replayer.verify import verify
from twice.tools.envelope import CODES
from twice.tools.worker.host import HostedSession

pytestmark = pytest.mark.heavy

CALLS = 1000
NASTY: list[Any] = [
    None, True, False, 0, -1, 2**31, 2**53, 2**64, 10**400, 1.5, -0.0, 1e308, float("nan"), float("inf"),
    "", "A", "A.001", "..", "/etc/passwd", "\x00", "\ud800", "x" * 5000, "\u202e", "1", "null",
    [], [[]], [None], [0] * 3, [1, 2, "3"], {}, {"x": 1}, {"": {}}, {"seed": 1},
]  # fmt: skip


def nasty(draw: random.Random, depth: int = 0) -> Any:
    """Draw a value that a hostile client might send."""
    kind = draw.randrange(10)
    if kind == 0 and depth < 4:
        return [nasty(draw, depth + 1) for _ in range(draw.randrange(4))]
    if kind == 1 and depth < 4:
        return {
            str(draw.choice(NASTY))[:20]: nasty(draw, depth + 1) for _ in range(draw.randrange(3))
        }
    if kind == 2:
        deep: Any = 0
        for _ in range(draw.choice((5, 100, 3000))):
            deep = [deep]
        return deep
    return draw.choice(NASTY)


def malformed(draw: random.Random, tools: list[dict[str, Any]]) -> tuple[Any, Any]:
    """Draw a tool's name and arguments with something wrong in them."""
    tool = draw.choice(tools)
    name: Any = (
        tool["name"] if draw.random() < 0.95 else draw.choice(["", "nope", tool["name"] + " "])
    )
    wanted = tool["input"].get("properties", {})
    arguments = {key: nasty(draw) for key in wanted if draw.random() < 0.8}
    if draw.random() < 0.3:
        arguments[draw.choice(["seed", "call_key", "self", "context", "__class__", "é"])] = nasty(
            draw
        )
    return name, arguments if draw.random() < 0.97 else nasty(draw)


def test_every_answer_is_an_envelope_and_nothing_breaks(tmp_path: Path) -> None:
    draw = random.Random(20)
    out = tmp_path / "session.twice"
    codes: dict[str, int] = {}
    with HostedSession("memory", out, offer={"session_seed": 7}) as session:
        for _ in range(CALLS):
            name, arguments = malformed(draw, session.tools)
            found = session.call(name, arguments)
            code = "ok" if found["ok"] else found["error"]["code"]
            assert code in {"ok", *CODES}, (name, arguments)
            assert code not in {"internal_error", "execution_failed", "timeout"}, (name, found)
            codes[code] = codes.get(code, 0) + 1
        assert session.replaced == 0

    assert sum(codes.values()) == CALLS
    assert codes["invalid_arguments"] > CALLS / 2
    assert verify(out).result == "PASS"
