"""Lists the operations of torch that may vary from run to run, as the program dispatches them.

``torch_operations.toml`` is the table. Each operation is looked up, on the program's main thread and in what its
backward passes call, and those of the table are counted by device and by the line of the program. Loaded by
``recorder/numeric_guard`` when torch was imported.

Not seen: operations on threads that the program starts, inside of ``torch.compile``, in the replay of a CUDA graph, and
kernels that do not pass torch's dispatcher. A listed operation may vary; whether it did, two runs tell.

Invariant: every operation is executed as it was called, once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from operator import attrgetter
from typing import Any, Final

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from twice.recorder.audit.channels import user_line

_PLACES_MAX: Final = 200
_REFUSES, _WARNS = 2, 1
"""Source: ``torch.get_deterministic_debug_mode``."""
_MAXIMUM: Final = 2
"""Source: ``torch.nn.functional.embedding_bag``: the number of ``mode="max"``."""


@dataclass(frozen=True, slots=True)
class VaryingOperation:
    """A row of the table, which says what each member means."""

    names: tuple[str, ...]
    devices: tuple[str, ...]
    under: str
    when: str = ""
    switch: str = ""

    def varies(self, arguments: Mapping[str, Any], device: str) -> bool:
        """Return whether a call is one that the row speaks of."""
        is_there = device in self.devices or "any" in self.devices
        return is_there and (not self.when or _CONDITIONS[self.when](arguments))

    def is_held(self, device: str) -> bool:
        """Return whether the algorithm that is used now does not vary."""
        if device == "cpu" and torch.get_num_threads() == 1:
            return True
        if self.switch and attrgetter(self.switch)(torch.backends):
            return True
        mode = torch.get_deterministic_debug_mode()
        return mode == _REFUSES or (mode == _WARNS and self.under == "replaced")


_CONDITIONS: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "accumulates": lambda given: bool(given.get("accumulate")),
    "overwrites": lambda given: not given.get("accumulate"),
    "source is a tensor": lambda given: "src" in given,
    "adds": lambda given: given.get("reduce") in {"sum", "mean"},
    "multiplies": lambda given: given.get("reduce") == "prod",
    "sparse": lambda given: any(
        one.layout is not torch.strided for one in _list_tensors(given.values())
    ),
    "keeps the maximum": lambda given: given.get("mode") == _MAXIMUM,
    "weighted": lambda given: given.get("weights") is not None,
    "gives indices": lambda given: "dim" in given,
    "not whole numbers": lambda given: any(
        one.is_floating_point() or one.is_complex() for one in _list_tensors(given.values())
    ),
}


@cache
def list_operations() -> Mapping[str, tuple[VaryingOperation, ...]]:
    """Return the rows of the table, by the operator's name."""
    text = (
        resources.files(__package__).joinpath("torch_operations.toml").read_text(encoding="utf-8")
    )
    found: dict[str, tuple[VaryingOperation, ...]] = {}
    for row in tomllib.loads(text)["operation"]:
        rule = VaryingOperation(**{**row, "names": (*row["names"],), "devices": (*row["devices"],)})
        for name in rule.names:
            found[name] = (*found.get(name, ()), rule)
    return found


class OperationAudit(TorchDispatchMode):  # type: ignore[misc, unused-ignore]  # Any without torch
    """Counts the calls of operations that may vary, from its begin to its end, on the thread that begins it."""

    # Otherwise torch refuses operators that take functions, such as torch.cond.
    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self._rules: dict[Any, tuple[VaryingOperation, ...]] = {}
        self._counts: dict[tuple[str, str, bool, str], int] = {}

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Let ``torch.compile`` compile: under a mode that asks for its operations it does not."""
        return True

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Execute an operation, and count it if it may vary."""
        result = func(*args, **kwargs) if kwargs else func(*args)
        rules = self._rules.get(func)
        if rules is None:
            rules = self._rules[func] = _find_rules(func)
        if rules:
            self._count(func, rules, args, kwargs or {})
        return result

    def describe(self) -> list[dict[str, object]]:
        """Return the operations that may vary: name, device, whether what was used does not, line, and count."""
        return [
            {
                "operation": name,
                "device": device,
                "deterministic": is_held,
                "where": where,
                "count": count,
            }
            for (name, device, is_held, where), count in sorted(self._counts.items())
        ]

    def end(self) -> None:
        """Stop to count; a mode that the program left above this one keeps it there."""
        if torch.utils._python_dispatch._get_current_dispatch_mode() is self:
            self.__exit__(None, None, None)

    def _count(
        self,
        func: Any,
        rules: Iterable[VaryingOperation],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        given = {
            **dict(zip((one.name for one in func._schema.arguments), args, strict=False)),
            **kwargs,
        }
        device = next((one.device.type for one in _list_tensors(given.values())), "cpu")
        for rule in rules:
            if rule.varies(given, device):
                where = _find_line()
                if len(self._counts) >= _PLACES_MAX:
                    where = "elsewhere"
                key = (_name(func), device, rule.is_held(device), where)
                self._counts[key] = self._counts.get(key, 0) + 1
                return


def begin() -> OperationAudit:
    """Begin an audit on this thread."""
    audit = OperationAudit()
    audit.__enter__()
    return audit


def _find_rules(func: Any) -> tuple[VaryingOperation, ...]:
    if not hasattr(func, "_schema"):  # an operator that takes functions
        return ()
    return list_operations().get(_name(func), ())


def _name(func: Any) -> str:
    namespace, _, name = func._schema.name.partition("::")
    return name.removesuffix("_") if namespace == "aten" else ""


def _list_tensors(values: Iterable[Any]) -> list[Any]:
    found = []
    for value in values:
        parts = value if isinstance(value, list | tuple) else (value,)
        found += [part for part in parts if isinstance(part, torch.Tensor)]
    return found


def _find_line() -> str:
    """Return the line of the program that called; of a pass in another thread the operation that it is of."""
    if line := user_line():
        return line
    node = torch._C._current_autograd_node()
    return "" if node is None else f"in the backward pass, {node.name()}"
