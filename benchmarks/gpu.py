"""What the policy of a GPU costs, and what its audit of operations does: time under it to time without it.

Usage: python benchmarks/gpu.py [--rounds N] [--small] [--output FILE.jsonl]

Needs torch. Bare and governed calls alternate in one process, and each ratio is of two neighbours. Where there is a GPU,
the workloads run on it and are waited for, in wall-clock seconds. Where there is none, they run in one thread of the
processor, in CPU seconds, and the figures say so. The policy's variables are set before torch is
imported, on both sides, so the figures are those of its switches.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import measuring

from twice.recorder.environment.gpu_policy import apply_gpu_policy
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.numeric_guard import NumericGuard

POLICY = "deterministic"
_LEAST_S = 0.005
_CALLS_MAX = 1024
Workload = Callable[[], object]


def workloads(torch: Any, device: str, scale: int) -> dict[str, Workload]:
    """Make the workloads; ``scale`` divides their sizes."""
    functional = torch.nn.functional
    torch.manual_seed(0)
    left, right = (torch.randn(1024 // scale, 1024 // scale, device=device) for _ in range(2))
    images = torch.randn(8, 16, 64 // scale, 64 // scale, device=device)
    kernels = torch.randn(32, 16, 3, 3, device=device, requires_grad=True)
    rows = torch.randn(1000, 64, device=device, requires_grad=True)
    places = torch.randint(0, 1000, (65536 // scale,), device=device)
    return {
        "matmul 1024": lambda: left @ right,
        "convolution, forward and backward": lambda: functional.conv2d(images, kernels, padding=1).sum().backward(),
        "index backward, 65,536 rows": lambda: rows[places].sum().backward(),
        "uninitialised 4 MB": lambda: torch.empty(1 << 20, device=device),
        "training step, MLP 64": make_training(torch, device, 64),
        "training step, MLP 256": make_training(torch, device, 256),
    }  # fmt: skip


def make_training(torch: Any, device: str, width: int) -> Workload:
    """Make one step of Adam on a batch of 256 through two hidden layers."""
    model = torch.nn.Sequential(
        torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 8),
    ).to(device)  # fmt: skip
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    batch = torch.randn(256, width, device=device)

    def train() -> None:
        optimiser.zero_grad()
        model(batch).square().mean().backward()
        optimiser.step()

    return train


@contextmanager
def governed(guard: NumericGuard) -> Iterator[None]:
    guard.begin(is_recording=True)
    try:
        yield
    finally:
        guard.end()


def compare(
    torch: Any,
    name: str,
    work: Workload,
    make: Callable[[], AbstractContextManager[object]],
    rounds: int,
) -> dict[str, object]:
    """Return the ratio of the best of some calls to that of as many bare ones, round by round."""

    has_gpu = torch.cuda.is_available()
    clock = time.perf_counter if has_gpu else time.process_time

    def best() -> float:
        found = []
        for _ in range(5):
            began = clock()
            for _ in range(calls):
                work()
            if has_gpu:
                torch.cuda.synchronize()
            found.append(clock() - began)
        return min(found)

    calls = 1
    while best() < _LEAST_S and calls < _CALLS_MAX:
        calls *= 2
    ratios = []
    for _ in range(rounds):
        bare = best()
        with make():
            work()
            ratios.append(best() / bare)
    return {"figure": name, "unit": "ratio", **measuring.spread(ratios, 2)}


def figures(torch: Any, rounds: int, scale: int) -> Iterator[dict[str, object]]:
    has_gpu = torch.cuda.is_available()
    device = "cuda" if has_gpu else "cpu"
    if not has_gpu:
        torch.set_num_threads(1)
    where = torch.cuda.get_device_name() if has_gpu else "cpu, 1 thread"
    about = {"device": where, "torch": torch.__version__}
    for name, work in workloads(torch, device, scale).items():
        guard = lambda: governed(NumericGuard("", POLICY))  # noqa: E731
        yield compare(torch, f"{name}: policy to none, {device}", work, guard, rounds) | about
    for name, work in workloads(torch, device, scale).items():
        audit = lambda: governed(NumericGuard("", audits=True))  # noqa: E731
        yield compare(torch, f"{name}: audit to none, {device}", work, audit, rounds) | about
    guard = NumericGuard("", POLICY)
    with governed(guard):
        guard.at_point(0, "tick")
        costs = []
        for tick in range(rounds * 10):
            began = time.perf_counter()
            guard.at_point(tick % 60, "tick")
            costs.append((time.perf_counter() - began) * 1e6)
        yield {
            "figure": "knobs read at a compare-point",
            "unit": "us",
            **measuring.spread(costs, 1),
            **about,
        }
    if not has_gpu:
        print("no GPU is here: these are figures of a processor", file=sys.stderr)


def main() -> None:
    chosen = measuring.options("gpu", __doc__.splitlines()[0], rounds=15)
    for name, variable in apply_gpu_policy(Surroundings({}), POLICY).variables.items():
        os.environ[name] = variable.value or ""
    try:
        import torch
    except ImportError:
        sys.exit("torch is not installed: pip install 'twice[torch]'")
    scale = 8 if chosen.small else 1
    measuring.tell("gpu", figures(torch, chosen.rounds, scale), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
