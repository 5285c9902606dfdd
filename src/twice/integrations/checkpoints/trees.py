"""Values of libraries as plain trees, and back: tensors, tuples, counters, numpy's scalars.

A tree holds what ``Part`` allows. A value of another type is a dict with ``TYPE`` among its keys. An array alone is a
tensor on the CPU where the adapter is one of torch.

Not covered: sparse and quantised tensors, sets, objects of classes. They are refused by name.

Invariant: ``from_tree(to_tree(value))`` has the same types, bits, devices and strides as ``value``.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from twice.errors import CheckpointUnfit

Convert: TypeAlias = "Callable[[object, str], object]"
Build: TypeAlias = "Callable[[dict[str, Any]], object]"

TYPE: Final = "type"
_LEAVES: Final = (type(None), bool, int, float, str, bytes)
_MAPPINGS: Final = (dict, OrderedDict, defaultdict)
_NUMPY_NAMES: Final = frozenset(
    {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
    | {"float16", "float32", "float64", "complex64", "complex128"}
)
"""Dtypes of torch that numpy has under the same name. The others are kept as bytes."""


MISFITS: Final = (TypeError, ValueError, KeyError, AttributeError, RuntimeError, IndexError)
"""What conversions of a state that does not fit raise."""


def to_tree(value: object, name: str, convert: Convert | None = None) -> object:
    """Return a value as a plain tree of its own.

    Args:
        value: None, numbers, text, bytes, tensors, numpy arrays and scalars; in lists, tuples, dicts, counters and deques.
        name: what it is called in an error.
        convert: asked for the tree of a value of another type: a dict with a ``TYPE`` of its own, or None.

    Raises:
        CheckpointUnfit: E-CHECKPOINT-003: a value of another type.
    """
    if type(value) in _LEAVES:
        return value
    if type(value) is list:
        return [to_tree(item, f"{name}[{at}]", convert) for at, item in enumerate(value)]
    if type(value) is tuple:
        return {TYPE: "tuple", "items": to_tree(list(value), name, convert)}
    if type(value) is deque:
        return {TYPE: "deque", "items": to_tree(list(value), name, convert), "limit": value.maxlen}
    if type(value) is Counter:
        return {TYPE: "counter", "items": _pairs(value, name, convert)}
    if type(value) in _MAPPINGS:
        assert isinstance(value, dict), "the mappings are dicts"
        if all(type(key) is str for key in value) and TYPE not in value:
            return {key: to_tree(item, f"{name}.{key}", convert) for key, item in value.items()}
        return {TYPE: "dict", "items": _pairs(value, name, convert)}
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        # A product of matrices can have other bits in another order of memory.
        is_columns = value.flags.f_contiguous and not value.flags.c_contiguous
        return {TYPE: "array", "data": value.copy(), "order": "F" if is_columns else "C"}
    if isinstance(value, np.generic):
        return {TYPE: "number", "data": np.array(value)}
    torch = sys.modules.get("torch")
    if torch is not None:
        if isinstance(value, torch.Tensor):
            return tensor_to_tree(value, name)
        if isinstance(value, torch.dtype | torch.device):
            return {TYPE: type(value).__name__, "name": str(value).removeprefix("torch.")}
    converted = convert(value, name) if convert else None
    if converted is not None:
        return converted
    raise CheckpointUnfit(
        f"{name} is of the type {type(value).__module__}.{type(value).__qualname__}.",
        "Expected numbers, text, bytes, tensors or arrays, in lists, tuples and dicts.",
        "Keep it out of the object's state, or pass a part of your own with read() and write(state).",
        part=name,
    )


def from_tree(tree: object, build: Build | None = None) -> Any:
    """Return the value of a plain tree.

    Args:
        tree: what ``to_tree`` made.
        build: asked for the value of a tree whose ``TYPE`` is one of ``convert``.

    Raises:
        ValueError: it is not a tree that ``to_tree`` made; so say all of ``MISFITS``.
    """
    if isinstance(tree, list):
        return [from_tree(item, build) for item in tree]
    if isinstance(tree, np.ndarray):
        return tensor_from_tree(tree)
    if not isinstance(tree, dict):
        return tree
    match tree.get(TYPE):
        case None:
            return {key: from_tree(item, build) for key, item in tree.items()}
        case "tuple":
            return tuple(from_tree(tree["items"], build))
        case "deque":
            return deque(from_tree(tree["items"], build), tree["limit"])
        case "counter":
            return Counter(_from_pairs(tree, build))
        case "dict":
            return _from_pairs(tree, build)
        case "array":
            return np.array(tree["data"], order=tree["order"])
        case "number":
            return np.array(tree["data"])[()]
        case "tensor":
            return tensor_from_tree(tree)
        case "dtype" | "device":
            import torch

            if tree[TYPE] == "device":
                return torch.device(tree["name"])
            dtype = getattr(torch, str(tree["name"]), None)
            if isinstance(dtype, torch.dtype):
                return dtype
    if build is not None:
        return build(tree)
    raise ValueError(f"{tree.get(TYPE)!r} is not a type of a tree")


def tensor_to_tree(tensor: Any, name: str) -> object:
    """Return the tree of a tensor: an array if it is a contiguous one on the CPU that numpy can hold, else a dict."""
    import torch

    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
        raise CheckpointUnfit(
            f"{name} is a tensor of the layout {tensor.layout} on {tensor.device}, dtype {tensor.dtype}.",
            "Expected a dense tensor with values.",
            "Convert it to a dense one, or pass a part of your own with read() and write(state).",
            part=name,
        )
    dtype = str(tensor.dtype).removeprefix("torch.")
    flat = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    if dtype in _NUMPY_NAMES:
        data: object = flat.numpy().copy()
    else:
        data = flat.reshape(-1).view(torch.uint8).numpy().tobytes()
    is_plain = tensor.device.type == "cpu" and tensor.is_contiguous() and dtype in _NUMPY_NAMES
    if is_plain:
        return data
    is_dense = torch.ops.aten.is_non_overlapping_and_dense.default(tensor)
    return {
        TYPE: "tensor",
        "dtype": dtype,
        "shape": list(tensor.shape),
        # Kernels choose by strides: a tensor in another order of memory can give other bits.
        "strides": list(tensor.stride() if is_dense else flat.stride()),
        "device": str(tensor.device),
        "data": data,
    }


def tensor_from_tree(tree: object, device: Any = None) -> Any:
    """Return the tensor of a tree, on a device or on the one that it came from; errors as in ``from_tree``."""
    import torch

    if isinstance(tree, np.ndarray):
        return torch.from_numpy(tree.copy()).to(device or "cpu")
    if not isinstance(tree, dict) or tree.get(TYPE) != "tensor":
        raise ValueError("it is not a tensor")
    data, shape = tree["data"], tuple(tree["shape"])
    dtype = getattr(torch, str(tree["dtype"]), None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"torch has no dtype {tree['dtype']!r}")  # noqa: TRY004  # a wrong value
    if isinstance(data, bytes):
        flat = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0)
        flat = flat.view(dtype).reshape(shape) if data else torch.empty(shape, dtype=dtype)
    else:
        flat = torch.from_numpy(np.array(data)).reshape(shape)
    if flat.dtype != dtype:
        raise ValueError(f"its values are {flat.dtype}, not {dtype}")
    _check_strides(shape, tree["strides"])
    empty = torch.empty_strided(
        shape, tree["strides"], dtype=dtype, device=device or tree["device"]
    )
    return empty.copy_(flat)


def find_nan(tree: object, name: str) -> str:
    """Return the dotted name of the first NaN in a tree; empty without one."""
    return next(_find_nans(tree, name), "")


def _find_nans(tree: object, name: str) -> Iterator[str]:
    if isinstance(tree, dict):
        if tree.get("dtype") == "bfloat16" and isinstance(tree.get("data"), bytes):
            # bfloat16 is the upper half of float32.
            wide = np.frombuffer(tree["data"], "<u2").astype(np.uint32) << 16
            tree = wide.view(np.float32)
        else:
            for key, item in tree.items():
                yield from _find_nans(item, f"{name}.{key}")
            return
    if isinstance(tree, list):
        for at, item in enumerate(tree):
            yield from _find_nans(item, f"{name}[{at}]")
    elif (isinstance(tree, float) and np.isnan(tree)) or (
        isinstance(tree, np.ndarray) and tree.dtype.kind in "fc" and np.isnan(tree).any()
    ):
        yield name


def _pairs(value: dict[Any, Any], name: str, convert: Convert | None) -> list[object]:
    return [
        [to_tree(key, name, convert), to_tree(item, f"{name}[{key!r}]", convert)]
        for key, item in value.items()
    ]


def _from_pairs(tree: dict[str, Any], build: Build | None) -> dict[Any, Any]:
    return {from_tree(key, build): from_tree(item, build) for key, item in tree["items"]}


def _check_strides(shape: tuple[int, ...], strides: list[int]) -> None:
    """Refuse strides that do not enumerate each element once: a file from elsewhere could ask for endless memory."""
    expected = 1
    for size, stride in sorted(zip(shape, strides, strict=True), key=lambda pair: pair[1]):
        if size != 1 and 0 not in shape:
            if stride != expected:
                raise ValueError(f"strides {strides} do not fit the shape {list(shape)}")
            expected *= size
