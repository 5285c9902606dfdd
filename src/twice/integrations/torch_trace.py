"""Traces the operations that torch dispatches: a digest of what each one gives and, where asked, of what it reads.

A digest is xxh3 over dtype, shape and bytes; of inputs also over strides, because kernels are chosen by them. Inputs are
read before the operation runs, so in-place operations and writes through views are seen. An argument that is written and
not read (``out=``, ``self`` of ``normal_`` or ``copy_``) counts by its form alone. The position of the generator is an
input of every operation that draws. Memory that an operation allocates and leaves unwritten has no digest.

Not seen, and listed as notes: operations on other threads than the one that begins the trace, inside of
``torch.compile``, and in CUDA graphs. Bytes of sparse, quantised and subclassed tensors are not read: of operations
that take them nothing is claimed. Loaded by ``diagnosis/operations`` when torch was imported.

Invariant: every operation is executed as it was called, once, and no generator moves.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from ctypes import c_char
from marshal import dumps
from typing import Any, Final

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from xxhash import xxh3_64_intdigest

from twice.integrations.torch_capture import Capture

OPERATIONS_MAX: Final = 5_000_000
"""Operations of one trace: 100 MB; a note says so where there were more."""
_UNKNOWN: Final = 0
"""The digest of inputs that were not read: such inputs are never taken for equal."""
_PLAIN_VERSION: Final = 2
"""Of ``marshal``: later ones write references, which depend on how many names an object has."""
_UNWRITTEN: Final = frozenset(
    {
        "empty", "empty_like", "empty_permuted", "empty_quantized", "empty_strided", "new_empty", "new_empty_strided",
        "resize", "resize_", "resize_as_", "_resize_output_",
    }
)  # fmt: skip
_OVERWRITES: Final = frozenset(
    {
        "bernoulli_", "cauchy_", "copy_", "exponential_", "fill_", "geometric_", "log_normal_", "normal_", "random_",
        "uniform_", "zero_",
    }
)  # fmt: skip
"""Operations whose ``self`` is written wholly and not read."""
_PLAIN: Final = frozenset({bool, int, float, complex, str, type(None)})
_TENSORS: Final = frozenset({torch.Tensor, torch.nn.Parameter})
_SEQUENCES: Final = frozenset({list, tuple, torch.Size})
_STRIDED: Final = torch.strided
_QUANTISED: Final = frozenset(
    {torch.qint8, torch.quint8, torch.qint32, torch.quint4x2, torch.quint2x4}
)
_WORDS: Final[dict[Any, str]] = {}
"""What torch's dtypes, devices and layouts are written as."""
_SEEDS: Final[dict[tuple[Any, Any], int]] = {}
"""Of digests, by dtype and shape: so these are part of them."""
_BUFFERS: Final[dict[int, Any]] = {}
"""Types of ctypes for so many bytes, kept because making one takes longer than a digest."""


class _Operator:
    """What is known of one operator, from its schema."""

    __slots__ = ("draws", "kind", "name", "number", "returns", "unread", "views", "written")

    def __init__(self, number: int, func: Any) -> None:
        schema = getattr(func, "_schema", None)
        self.number = number
        self.name = str(func)
        self.draws = self.views = False
        self.written: tuple[tuple[int, str], ...] = ()
        self.unread: frozenset[int | str] = frozenset()
        self.returns, self.kind = True, "computed"
        if schema is None:  # an operator that takes functions
            return
        base = schema.name.rpartition("::")[2]
        written = [
            (place, one)
            for place, one in enumerate(schema.arguments)
            if one.alias_info is not None and one.alias_info.is_write
        ]
        self.written = tuple((-1 if one.kwarg_only else place, one.name) for place, one in written)
        unread = {one.name if one.kwarg_only else place for place, one in written if one.is_out}
        self.unread = frozenset({*unread, 0} if base in _OVERWRITES else unread)
        aliases = [one.alias_info for one in schema.returns]
        # What a view gives follows from the bytes it is of and the numbers it is called with.
        self.views = bool(aliases) and all(one and not one.is_write for one in aliases)
        self.returns = not self.views and base not in _UNWRITTEN
        if self.views or base in _UNWRITTEN:
            self.kind = "view" if self.views else "unwritten"
        elif base in _OVERWRITES:
            self.kind = "overwritten"
        self.draws = torch.Tag.nondeterministic_seeded in func.tags or any(
            one.name == "generator" for one in schema.arguments
        )


class OperationTrace(TorchDispatchMode):  # type: ignore[misc, unused-ignore]  # Any without torch
    """Traces operations from its begin to its end, on the thread that begins it.

    Args:
        asked: numbers of operations that are captured, with values, module and line. From the first of them on inputs
            have digests; without any, none has, which costs less than half.
    """

    # Otherwise torch refuses operators that take functions, such as torch.cond.
    supports_higher_order_operators = True

    def __init__(self, asked: Sequence[int] = ()) -> None:
        super().__init__()
        self._operators: dict[Any, _Operator] = {}
        self._count, self._rows = 0, array("Q")
        self._notes: dict[str, None] = {}
        self._from = min(asked, default=OPERATIONS_MAX)
        self._capture = Capture(asked) if asked else None

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Let ``torch.compile`` compile: under a mode that asks for its operations it does not."""
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Leave out a wrapper around every operation that takes as long as the digests."""
        return False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Execute an operation, and keep the digests of what it reads and gives."""
        operator = self._operators.get(func)
        if operator is None:
            operator = self._operators[func] = _Operator(len(self._operators), func)
        capture, inputs, outputs = self._capture, 0, 0
        given: tuple[Any, ...] = ()
        if self._count >= self._from:
            inputs = self._digest_inputs(operator, args, kwargs)
        if capture is not None:
            capture.before(self._count, operator.name, _name_inputs(func, args, kwargs))
        result = func(*args, **kwargs) if kwargs else func(*args)
        if operator.returns:
            given = (result,)
            if operator.written:
                # Written arguments, and the results that are none of them.
                written = [
                    (kwargs or {}).get(name) if place < 0 or place >= len(args) else args[place]
                    for place, name in operator.written
                ]
                same = {id(one) for one in _flatten(written)}
                given = (*written, *(one for one in _flatten([result]) if id(one) not in same))
            outputs = _digest_tensor(given[0]) if len(given) == 1 else 0
            outputs = outputs or _digest(given)
        if capture is not None:
            capture.after(self._count, result, given, kind=operator.kind)
        if self._count < OPERATIONS_MAX:
            self._count += 1
            self._rows.extend((operator.number, inputs, outputs))
        return result

    def describe(self) -> dict[str, object]:
        """Return names, records, notes and captured operations, as plain data."""
        is_full = self._count >= OPERATIONS_MAX
        too_many = [f"only the first {OPERATIONS_MAX:,} operations were traced"] * is_full
        return {
            "library": "torch",
            "names": [one.name for one in self._operators.values()],
            "rows": self._rows.tobytes(),
            "notes": [*self._notes, *_list_unseen(), *too_many],
            "captured": [] if self._capture is None else self._capture.describe(),
        }

    def end(self) -> None:
        """Stop to trace; a mode that the program left above this one keeps it there."""
        if torch.utils._python_dispatch._get_current_dispatch_mode() is self:
            self.__exit__(None, None, None)

    def _digest_inputs(
        self, operator: _Operator, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> int:
        if operator.views:  # what it is of shows in the inputs of those that read it
            return 0
        plain: list[Any] = []
        unread = operator.unread
        for place, value in enumerate(args):
            if place in unread:
                _describe_form(value, plain)
            elif not _describe(value, plain):
                return self._note_unread()
        for name, value in kwargs.items() if kwargs else ():
            plain.append(name)
            if name in unread:
                _describe_form(value, plain)
            elif not _describe(value, plain):
                return self._note_unread()
        if operator.draws:
            plain.append(_digest_generator(args, kwargs))
        return xxh3_64_intdigest(dumps(plain, _PLAIN_VERSION))

    def _note_unread(self) -> int:
        if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
            self._notes["operations in graphs of CUDA were not traced"] = None
        return _UNKNOWN


def begin(asked: Sequence[int] = ()) -> OperationTrace:
    """Begin a trace on this thread."""
    trace = OperationTrace(asked)
    trace.__enter__()
    return trace


def _digest(values: Iterable[Any]) -> int:
    plain: list[Any] = []
    for value in values:
        _describe(value, plain, strides=False)
    return xxh3_64_intdigest(dumps(plain, _PLAIN_VERSION))


def _digest_tensor(value: Any) -> int:
    """Return the digest of what most operations give, one plain tensor; 0 for anything else."""
    if type(value) not in _TENSORS or not value.is_cpu or value.layout is not _STRIDED:
        return 0
    form = (value.dtype, value.shape)
    seed = _SEEDS.get(form)
    if seed is None:
        if value.dtype in _QUANTISED:
            return 0
        seed = _SEEDS[form] = xxh3_64_intdigest(f"{value.dtype} {tuple(value.shape)}".encode())
    size = value.nbytes
    if not size:
        return seed
    if not value.is_contiguous():
        value = value.contiguous()
    buffer = _BUFFERS.get(size)
    if buffer is None:
        buffer = _BUFFERS[size] = c_char * size
    address = value.data_ptr()
    return xxh3_64_intdigest(buffer.from_address(address), seed) if address else 0


def _describe(value: Any, plain: list[Any], *, strides: bool = True) -> bool:
    """Append a value as plain data, tensors as digests; return False where its bytes cannot be read."""
    kind = type(value)
    if kind in _TENSORS:
        if value.layout is not _STRIDED or value.dtype in _QUANTISED:
            return False
        plain += (_WORDS.get(value.dtype) or _write_word(value.dtype), *value.shape)
        is_contiguous = value.is_contiguous()
        if strides and not is_contiguous:
            plain.append(value.stride())
        digest = digest_bytes(value, is_contiguous=is_contiguous)
        plain.append(digest)
        return digest is not None
    if kind in _PLAIN:
        plain.append(value)
        return True
    if kind in _SEQUENCES:
        plain.append(len(value))
        is_read = True
        for one in value:  # each is described, whatever came before it
            is_read = _describe(one, plain, strides=strides) and is_read
        return is_read
    return _describe_object(value, plain)


def _describe_form(value: Any, plain: list[Any]) -> None:
    """Append a value as plain data, of a tensor its form without its bytes."""
    if isinstance(value, torch.Tensor):
        plain.append(_write_word(value.dtype))
        plain.append(tuple(value.shape))
    elif type(value) in _SEQUENCES:
        plain.append(len(value))
        for one in value:
            _describe_form(one, plain)
    elif type(value) in _PLAIN:
        plain.append(value)
    else:
        _describe_object(value, plain)


def _describe_object(value: Any, plain: list[Any]) -> bool:
    if isinstance(value, torch.dtype | torch.device | torch.layout | torch.memory_format):
        plain.append(_write_word(value))
        return True
    # The position of a generator is described with the operation that draws from it.
    return isinstance(value, torch.Generator)


def _write_word(value: Any) -> str:
    word = _WORDS.get(value)
    if word is None:
        word = _WORDS[value] = sys.intern(str(value))
    return word


def digest_bytes(tensor: Any, *, is_contiguous: bool = False) -> int | None:
    """Return the digest of a tensor's elements in their logical order, or None where they cannot be read."""
    size = tensor.nbytes
    if not size:
        return 0
    if not tensor.is_cpu:
        if tensor.device.type == "meta" or is_capturing(tensor):
            return None
        tensor = tensor.detach().cpu()
        is_contiguous = False
    if not is_contiguous:
        tensor = tensor.contiguous()
    address = tensor.data_ptr()
    if not address:
        return None
    buffer = _BUFFERS.get(size)
    if buffer is None:
        buffer = _BUFFERS[size] = c_char * size
    digest: int = xxh3_64_intdigest(buffer.from_address(address))
    return digest


def is_capturing(tensor: Any) -> bool:
    """Return whether a graph of CUDA is captured, during which nothing may be read."""
    return bool(tensor.is_cuda and torch.cuda.is_current_stream_capturing())


def _digest_generator(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> int:
    values = [*args, *(kwargs or {}).values()]
    for value in values:
        if isinstance(value, torch.Generator):
            return digest_bytes(value.get_state()) or 0
    device = next((one.device for one in values if isinstance(one, torch.Tensor)), None)
    device = device or torch.device((kwargs or {}).get("device") or "cpu")
    if device.type == "cuda":
        number = torch.cuda.current_device() if device.index is None else device.index
        generator = torch.cuda.default_generators[number]
    else:
        generator = torch.default_generator
    return digest_bytes(generator.get_state()) or 0


def _flatten(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if type(value) in _SEQUENCES:
            yield from _flatten(value)
        elif value is not None:
            yield value


def _name_inputs(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """Return what an operation is called with, by the names of its schema."""
    schema = getattr(func, "_schema", None)
    names = [] if schema is None else [one.name for one in schema.arguments]
    named = {
        names[place] if place < len(names) else str(place): value
        for place, value in enumerate(args)
    }
    return {**named, **(kwargs or {})}


def _list_unseen() -> list[str]:
    """Return sentences on what ran past the trace."""
    found = []
    dynamo = sys.modules.get("torch._dynamo.utils")
    if dynamo is not None and dynamo.counters["frames"].get("ok"):
        found.append("operations inside of torch.compile were not traced")
    return found
