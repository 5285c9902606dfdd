"""What a trace of torch's operations costs inside of the interval that is traced, beside torch's own DebugMode.

Usage: python benchmarks/torch_trace.py [--rounds N] [--small] [--output FILE.jsonl]

Two programs: PPO of Stable-Baselines3 on CartPole (small tensors, so that what an operation adds shows most), and a network
of three layers. One thread, CPU seconds, construction left out. In each round a program runs plain, under the trace of
results, under the trace of results and inputs, under DebugMode with hashes of both, and plain again: what is left of
the trace after its end. Needs torch and stable-baselines3 (``pip install torch stable-baselines3``).
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial

import measuring
import torch
from torch.utils._debug_mode import DebugMode
from torch.utils._python_dispatch import TorchDispatchMode

from twice.integrations import torch_trace

Context = Callable[[], AbstractContextManager[object]]


class EmptyMode(TorchDispatchMode):
    """Calls every operation and does nothing else: what torch takes for any mode."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@contextmanager
def traced(*asked: int) -> Iterator[None]:
    trace = torch_trace.begin(asked)
    try:
        yield
    finally:
        trace.end()


@contextmanager
def debugged() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(DebugMode())
        stack.enter_context(DebugMode.log_tensor_hashes(hash_fn="hash_tensor", hash_inputs=True))
        yield


CONTEXTS: dict[str, Context] = {
    "trace of results": traced,
    "trace of results and inputs": partial(traced, 0),
    "a mode that does nothing": EmptyMode,
    "DebugMode, hash_tensor, inputs too": debugged,
    "plain again": nullcontext,
}


def train_policy(context: Context, *, small: bool) -> float:
    from stable_baselines3 import PPO

    model = PPO("MlpPolicy", "CartPole-v1", seed=1, n_steps=32 if small else 256, device="cpu")
    start = time.process_time()
    with context():
        model.learn(32 if small else 256)
    return time.process_time() - start


def train_network(context: Context, *, small: bool) -> float:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(256, 256), torch.nn.Tanh(), torch.nn.Linear(256, 10)]
    network, rows = torch.nn.Sequential(*layers), torch.randn(256, 256)
    optimiser = torch.optim.Adam(network.parameters())
    start = time.process_time()
    with context():
        for _ in range(5 if small else 100):
            optimiser.zero_grad()
            network(rows).square().mean().backward()
            optimiser.step()
    return time.process_time() - start


def figures(rounds: int, *, small: bool) -> Iterator[dict[str, object]]:
    for name, train in (("PPO on CartPole", train_policy), ("three layers", train_network)):
        train(nullcontext, small=True)
        plain: list[float] = []
        ratios: dict[str, list[float]] = {label: [] for label in CONTEXTS}
        for _ in range(rounds):
            plain.append(train(nullcontext, small=small))
            for label, context in CONTEXTS.items():
                ratios[label].append(train(context, small=small) / plain[-1])
        yield {"figure": f"{name}, plain", "unit": "s", **measuring.spread(plain)}
        for label, samples in ratios.items():
            yield {"figure": f"{name}, {label}", "unit": "x", **measuring.spread(samples, 2)}


def main() -> None:
    chosen = measuring.options("torch_trace", (__doc__ or "").splitlines()[0], rounds=7)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    measuring.tell("torch_trace", figures(chosen.rounds, small=chosen.small), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
