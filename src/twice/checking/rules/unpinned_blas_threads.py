"""Linear algebra runs on as many threads as the machine has.

A BLAS divides products and decompositions among its threads, and another number of threads rounds them another
way. The number follows the processors of the host, the limits of a container and the batch system, unless
something sets it.

It is said once for a project that calls linear algebra and sets no number anywhere.

Bad:
    import numpy as np

    def solve(system, right):
        return np.linalg.solve(system, right)

    if __name__ == "__main__":
        print(solve(np.eye(3), np.ones(3)))

or:
    from scipy import linalg

    def grow(matrix):
        return linalg.expm(matrix)

Good:
    import os

    os.environ["OMP_NUM_THREADS"] = "1"
    import numpy as np

    def solve(system, right):
        return np.linalg.solve(system, right)

or:
    import numpy as np
    from threadpoolctl import threadpool_limits

    def solve(system, right):
        with threadpool_limits(1):
            return np.linalg.solve(system, right)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.switches import variables
from twice.checking.syntax.module import Module
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unpinned-blas-threads"
_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_WORDS = ("threadpool", "set_num_threads", "NUM_THREADS", "intra_op")


def gather(module: Module) -> dict[str, Any] | None:
    """Give whether a file sets the number of threads, starts a program, or calls linear algebra."""
    pins = any(each.name in _VARIABLES for each in variables(module)) or _pins(module)
    if module.imported.isdisjoint({"numpy", "scipy", "torch", "jax"}):
        return {"pins": True} if pins else None
    first = _first(module)
    if first is None:
        return {"pins": True} if pins else None
    starts = module.speaks_of("__main__")
    return {"pins": pins, "starts": starts, "found": first.to_json()}


def _pins(module: Module) -> bool:
    if not module.speaks_of(*_WORDS):
        return False
    return any(module.catalogue.has("pinning-threads", name) for _, _, name in module.calls)


def _first(module: Module) -> Found | None:
    names = module.catalogue.names("linear-algebra")
    for node, scope, name in module.calls:
        if name in names:
            return module.site(node, scope).found(
                NAME,
                f"Nothing sets the number of threads that {name}() and its like run on.",
                "Another number of threads adds up in other shares, and the result is rounded another way.",
                confidence=0.7,
            )
    return None


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    """Report one place of a project that sets no number of threads: where it starts, if that is seen."""
    if any(each["pins"] for each in facts.values()):
        return
    places = sorted(facts, key=lambda path: (not facts[path]["starts"], path))
    for path in places[:1]:
        yield path, Found.from_json(facts[path]["found"])


RULE = Rule(
    name=NAME,
    channel=Channel.FLOATING_POINT,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.LOW,
    remedy="Set OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and MKL_NUM_THREADS before numpy is imported, or use threadpoolctl.",
    gather=gather,
    conclude=conclude,
)
