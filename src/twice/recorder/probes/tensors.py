"""Probes of PyTorch on the processor, run only in a process that has loaded it already.

Bits of PyTorch follow its own kernels, its own BLAS and its thread count, whatever numpy gives.

Invariant: draws come from generators made here; the global generator, the default type and the
thread count are left as they were.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from twice.recorder.probes.arrays import bits, fractions


def probes() -> Mapping[str, Callable[[], bytes]]:
    """Return the probes of this module by name; the process must have loaded torch."""
    torch: Any = sys.modules["torch"]
    values = torch.from_numpy(fractions(101_000, 17).astype(np.float32))
    square = values[:16_384].reshape(128, 128)
    computed: dict[str, Callable[[], Any]] = {
        "torch.dot": lambda: torch.dot(values[:20_000], values[20_000:40_000]),
        "torch.exp": lambda: torch.exp(values * 40.0),
        "torch.layer_norm": lambda: torch.nn.functional.layer_norm(square, (128,)),
        "torch.matmul": lambda: square @ square,
        "torch.pow": lambda: torch.pow(values.abs() * 16.0, 1.7),
        "torch.qr": lambda: torch.linalg.qr(square.double())[0],
        "torch.randn": lambda: torch.randn(
            1000, generator=torch.Generator("cpu").manual_seed(7), device="cpu"
        ),
        "torch.sigmoid": lambda: torch.sigmoid(values * 8.0),
        "torch.softmax": lambda: torch.softmax(values[:100_000].reshape(100, 1000), dim=0),
        "torch.sqrt": lambda: torch.sqrt(values.abs()),
        "torch.sum": values.sum,
        "torch.tanh": lambda: torch.tanh(values * 8.0),
    }
    return {name: partial(_bits_of, torch, compute) for name, compute in computed.items()}


def _bits_of(torch: Any, compute: Callable[[], Any]) -> bytes:
    with torch.no_grad():
        return bits(compute().cpu().numpy())
