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
from threading import get_ident
from types import FrameType
from typing import Any, Final

import torch
from torch.nn.modules import module as modules

from twice.recorder.audit.channels import is_users

BYTES_MAX: Final = 1 << 24
"""Bytes that are kept of one tensor."""
_TORCH: Final = f"{torch.__path__[0]}/"
_FORWARD_MAX: Final = 1_000_000
"""Forward operations whose place is remembered for the backward pass."""


class Capture:
    """Captures operations by their number.

    Args:
        asked: numbers of operations, from 0.

    Attributes:
        elsewhere: whether a module ran on another thread.
    """

    def __init__(self, asked: Iterable[int]) -> None:
        self._asked = frozenset(asked)
        self._captured: list[dict[str, Any]] = []
        self._origins: dict[int, tuple[str, int]] = {}
        self._forward: dict[int, dict[str, str]] = {}
        self._read: set[int] = set()
        self._stack: list[Any] = []
        self._thread = get_ident()
        self.elsewhere = False
        self._hooks = (
            modules.register_module_forward_pre_hook(self._enter),
            modules.register_module_forward_hook(self._leave, always_call=True),
        )

    def end(self) -> None:
        """Stop to follow modules."""
        for hook in self._hooks:
            hook.remove()

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

    def _enter(self, module: Any, _args: Any) -> None:
        if get_ident() == self._thread:
            self._stack.append(module)
        else:
            self.elsewhere = True

    def _leave(self, _module: Any, _args: Any, _output: Any) -> None:
        if get_ident() == self._thread and self._stack:
            self._stack.pop()

    def _find_place(self) -> dict[str, str]:
        """Return the user's line, the innermost line outside of torch, and the module."""
        frame: FrameType | None = _getframe(2)
        caller = line = ""
        while frame is not None and not line:
            file = frame.f_code.co_filename
            place = f"{file}:{frame.f_lineno}"
            if is_users(frame):
                line = place
            if not caller and not file.startswith((_TORCH, "<")) and not _is_ours(frame):
                caller = place
            frame = frame.f_back
        return {"line": line, "caller": caller, "module": self._name_module()}

    def _name_module(self) -> str:
        if not self._stack:
            return ""
        root, top = self._stack[0], self._stack[-1]
        name = next((name for name, module in root.named_modules() if module is top), "")
        if not name and top is not root:  # a module that is kept where torch does not look
            name = type(top).__name__
        return f"{type(root).__name__}.{name}".rstrip(".")

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


def _is_ours(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("twice.")
