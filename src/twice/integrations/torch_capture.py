"""Keeps all that is known of a few chosen operations: values, module, lines, and where their inputs come from.

The module is the path below the outermost ``torch.nn.Module`` that runs, as ``PPO.policy_net.0``. In a backward pass,
module and line are those of the forward operation that the pass is of, and ``node`` names the pass. The origin of an
input is the latest operation that allocated its memory; memory that none did is from outside of the trace.

Not for: finding out which operations matter (``torch_trace`` and ``diagnosis/operations``).

Invariant: a tensor that is captured is copied; none is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ctypes import string_at
from sys import _getframe
from types import FrameType
from typing import Any, Final

import torch

from twice.foundation.source_files import is_ours
from twice.recorder.audit.channels import is_users

BYTES_MAX: Final = 1 << 24
"""Bytes that are kept of one tensor."""
_TORCH: Final = f"{torch.__path__[0]}/"
_CALL: Final = torch.nn.Module._call_impl.__code__
"""Runs as long as a module does. Hooks on modules would be compiled by ``torch.compile``, and change what it gives."""
_FORWARD_MAX: Final = 1_000_000
"""Forward operations whose place is remembered for the backward pass."""


class Capture:
    """Captures operations by their number.

    Args:
        asked: numbers of operations, from 0.
    """

    def __init__(self, asked: Iterable[int]) -> None:
        self._asked = frozenset(asked)
        self._captured: list[dict[str, Any]] = []
        self._origins: dict[int, tuple[str, int]] = {}
        self._forward: dict[int, dict[str, str]] = {}
        self._read: set[int] = set()
        self._modules: dict[tuple[int, int], tuple[Any, Any, str]] = {}

    def before(self, number: int, name: str, inputs: Mapping[str, Any]) -> None:
        """Look at an operation before it runs."""
        is_asked = number in self._asked
        self._read = {
            _find_storage(value)
            for name, given in inputs.items()
            for _, value in _label(name, given)
            if isinstance(value, torch.Tensor)
        }
        place = self._find_place() if is_asked or torch.is_grad_enabled() else {}
        # The node of a forward operation has been made when the operation is dispatched.
        made = torch._C._autograd._get_sequence_nr() - 1
        if place and len(self._forward) < _FORWARD_MAX:
            self._forward.setdefault(made, place)
        if not is_asked:
            return
        node = torch._C._current_autograd_node()
        if node is not None:
            place |= {**self._forward.get(node._sequence_nr(), {}), "backward": place["line"]}
        self._captured.append(
            {
                "number": number,
                "name": name,
                **place,
                "node": "" if node is None else str(node.name()),
                "inputs": [
                    self._describe_input(label, value)
                    for name, given in inputs.items()
                    for label, value in _label(name, given)
                ],
            }
        )

    def after(self, number: int, result: Any, given: Any, *, kind: str) -> None:
        """Look at what an operation gave.

        Args:
            number: of the operation.
            result: what it returned.
            given: its results and the arguments that it wrote.
            kind: ``view``, ``unwritten`` (it allocated), ``overwritten`` (its ``self`` was not read), or ``computed``.
        """
        if number in self._asked:
            self._captured[-1]["outputs"] = [_copy_output(value) for _, value in _label("", given)]
        if kind == "view":
            return
        for _, value in _label("", result):
            if not isinstance(value, torch.Tensor) or not (address := _find_storage(value)):
                continue
            is_whole = value.nbytes == value.untyped_storage().nbytes()
            # Memory that is written in parts stays what it was; what was freed may be given out again.
            if (
                address not in self._read
                or kind == "unwritten"
                or (kind == "overwritten" and is_whole)
            ):
                self._origins[address] = (
                    "unwritten" if kind == "unwritten" else "computed",
                    number,
                )

    def describe(self) -> list[dict[str, Any]]:
        """Return what was captured, as plain data."""
        return self._captured

    def _find_place(self) -> dict[str, str]:
        """Return the user's line, the innermost line outside of torch, and the module."""
        frame: FrameType | None = _getframe(2)
        caller = line = ""
        running = []
        while frame is not None:
            code = frame.f_code
            if code is _CALL:
                running.append(frame.f_locals["self"])
            elif not line:
                is_own = is_users(frame)
                if is_own:
                    line = f"{code.co_filename}:{frame.f_lineno}"
                if not caller and (is_own or _is_caller(code.co_filename)):
                    caller = f"{code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back
        name = self._name_module(running[-1], running[0]) if running else ""
        return {"line": line, "caller": caller, "module": name}

    def _name_module(self, root: Any, top: Any) -> str:
        known = self._modules.get((id(root), id(top)))
        if known is None:
            name = next((name for name, module in root.named_modules() if module is top), None)
            if name is None:  # a module that is kept where torch does not look
                name = type(top).__name__
            whole = f"{type(root).__name__}.{name}".rstrip(".")
            # Kept, so that no other module gets their number.
            known = self._modules[id(root), id(top)] = (root, top, whole)
        return known[2]

    def _describe_input(self, label: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, torch.Tensor):
            return {"name": label, "form": _show(value)}
        from twice.integrations.torch_trace import digest_bytes

        kind, number = self._origins.get(_find_storage(value), ("outside", -1))
        return {
            "name": label,
            "form": f"{value.dtype} {list(value.shape)}",
            "strides": list(value.stride()) if value.layout is torch.strided else [],
            "digest": f"{digest_bytes(value) or 0:016x}" if value.layout is torch.strided else "",
            "origin": kind,
            "made": number,
        }


def _label(label: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield tensors, and what has none, each with the place where it stands."""
    if isinstance(value, list | tuple) and any(
        isinstance(one, torch.Tensor | list | tuple) for one in value
    ):
        for place, one in enumerate(value):
            yield from _label(f"{label}[{place}]", one)
    else:
        yield label, value


def _show(value: Any) -> str:
    if isinstance(value, torch.Generator):
        return f"generator of {value.device}"
    return repr(value)[:200]


def _find_storage(tensor: Any) -> int:
    if tensor.layout is not torch.strided or tensor.device.type == "meta":
        return 0
    address: int = tensor.untyped_storage().data_ptr()
    return address


def _copy_output(value: Any) -> dict[str, Any]:
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return {"dtype": "", "shape": [], "bytes": repr(value)[:200].encode()}
    here = value.detach().cpu().contiguous()
    size = min(here.nbytes, BYTES_MAX)
    return {
        "dtype": str(value.dtype).removeprefix("torch."),
        "shape": list(value.shape),
        "bytes": string_at(here.data_ptr(), size) if size else b"",
    }


def _is_caller(file: str) -> bool:
    """Return whether a file is a library's that calls torch."""
    return not file.startswith((_TORCH, "<")) and not is_ours(file)
