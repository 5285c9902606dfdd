"""A program that tracks a model of 100 MB, for ``benchmarks/training_points.py``.

Each tick moves every parameter. The cost of a compare-point is the time of the tick without that of the same move. What
it measures it appends to the file ``config["to"]``.
"""

from __future__ import annotations

import json
from typing import Any

import torch
import xxhash
from torch import nn

import twice
from twice.recorder.effects import ops
from twice.recorder.effects.clock import REAL

clock = REAL[ops.PERF_COUNTER]


def main(run: twice.Run) -> None:
    torch.set_num_threads(1)
    size = run.config["megabytes"] * 1_000_000 // 25 // 4
    layers = [nn.ParameterList([nn.Parameter(torch.zeros(size))]) for _ in range(25)]
    model = run.track("model", nn.ModuleList(layers))
    streams = [run.streams.numpy("a"), run.streams.python("b"), run.streams.torch("c")]
    parameters = [*model.parameters()]
    rounds = {"point": [], "move": [], "xxh3": [], "positions": []}  # type: dict[str, list[float]]

    def move() -> None:
        for each in parameters:
            each.data[0] += 1

    def time(name: str, function: Any) -> None:
        start = clock()
        function()
        rounds[name].append(float(clock() - start))

    start = 0.0
    for tick in run.ticks(run.config["rounds"]):
        if tick:
            rounds["point"].append(float(clock() - start))
        streams[0].random()
        streams[1].random()
        torch.rand((), generator=streams[2])
        time("positions", run._session.wiring.streams.positions)
        time("xxh3", lambda: [xxhash.xxh3_128_digest(each.detach().numpy()) for each in parameters])
        time("move", move)
        start = clock()
        move()
    with open(run.config["to"], "a", encoding="utf-8") as file:
        file.write(json.dumps(rounds) + "\n")
