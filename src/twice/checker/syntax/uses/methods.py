"""What methods do to an order, by their names: draw, lose it, or keep it.

Invariant: names of methods that mean the same in every library that has them.
"""

from __future__ import annotations

from typing import Final

DRAWS: Final = frozenset(
    [
        "random",
        "normal",
        "standard_normal",
        "uniform",
        "integers",
        "randint",
        "choice",
        "choices",
        "sample",
        "shuffle",
        "permutation",
        "exponential",
        "poisson",
        "binomial",
        "gauss",
        "randrange",
    ]
)
ERASING: Final = {
    "add", "discard", "remove", "update", "setdefault", "pop", "unlink", "rmdir", "mkdir", "touch", "close",
    "cancel", "join", "terminate", "kill", "wait", "shutdown", "clear", "get", "register",
    "store", "result", "exception", "start", "start_soon", "done", "set", "task_done",
    "unregister", "subtract", "difference_update", "intersection_update",
}  # fmt: skip
PUTTING: Final = {
    "append",
    "appendleft",
    "extend",
    "insert",
    "put",
    "put_nowait",
    "push",
    "write",
    "writelines",
    "writerow",
}
