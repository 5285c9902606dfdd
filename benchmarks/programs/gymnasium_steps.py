"""Steps an environment bare and recorded, in turns, and writes down CPU seconds of each."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium as gym

import twice
from twice.integrations import gymnasium as tg
from twice.recorder.effects import ops
from twice.recorder.effects.clock import REAL

cpu = REAL[ops.PROCESS_TIME]


def actions(env: gym.Env, count: int = 256) -> list[object]:
    env.action_space.seed(3)
    return [env.action_space.sample() for _ in range(count)]


def main(run: twice.Run) -> None:
    name, steps = run.config["env"], run.config["steps"]
    bare = gym.make(name)
    chosen = actions(bare)
    recorded = tg.wrap(run, gym.make(name), name="env")
    bare.reset(seed=3)
    recorded.reset(seed=3)
    lines = []
    for _ in range(run.config["rounds"]):
        began = cpu()
        for at in range(steps):
            _, _, terminated, truncated, _ = bare.step(chosen[at % 256])
            if terminated or truncated:
                bare.reset()
        between = cpu()
        for at in run.ticks(steps):
            _, _, terminated, truncated, _ = recorded.step(chosen[at % 256])
            if terminated or truncated:
                recorded.reset()
        ended = cpu()
        lines.append({"bare": between - began, "recorded": ended - between})
    if run.config["to"]:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        Path(run.config["to"]).write_text(text, "utf-8")
