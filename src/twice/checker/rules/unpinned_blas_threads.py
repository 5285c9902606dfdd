"""Linear algebra runs on as many threads as the machine has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.switches import variables
from twice.checker.syntax.module import Module
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


def _first(module: Module) -> Violation | None:
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


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report one place of a project that sets no number of threads: where it starts, if that is seen."""
    if any(each["pins"] for each in facts.values()):
        return
    places = sorted(facts, key=lambda path: (not facts[path]["starts"], path))
    for path in places[:1]:
        yield path, Violation.from_json(facts[path]["found"])


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.FLOATING_POINT,
        Breaks.BIT_EXACT,
        Severity.LOW,
        "Set OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and MKL_NUM_THREADS before numpy is imported, or use threadpoolctl.",
        __doc__ or "",
    ),
    gather=gather,
    conclude=conclude,
)
