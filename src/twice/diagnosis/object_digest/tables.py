"""What libraries compute with, read by what it holds: tensors, arrays, tables, simulations.

Not for: the arrays and generators of numpy, which stand with Python's own values (``librarystate``).

Invariant: a library is never imported here, and nothing of the user's runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from twice.diagnosis.object_digest.mujocostate import mjdata_fields, mjdata_outputs
from twice.diagnosis.object_digest.state import State, in_bytes
from twice.foundation.object_attributes import ClassFacts


def read_array(value: Any, facts: ClassFacts) -> Any:
    """A tensor of torch or an array of jax as one of numpy, or None where it has no such form."""
    try:
        if facts.name.startswith("jaxlib."):
            return sys.modules["numpy"].asarray(value)
        return value.detach().cpu().numpy()
    except (RuntimeError, TypeError):
        return None


def _tensor(value: Any, _: ClassFacts) -> State:
    torch: Any = sys.modules["torch"]
    with torch.no_grad():
        plain = value.detach().cpu().contiguous()
        shape = in_bytes(str(plain.dtype), str(tuple(plain.shape)))
        held = plain.reshape(-1).view(torch.uint8).numpy().tobytes()
        gradient = torch._C.TensorBase.__dict__["grad"].__get__(value) if value.is_leaf else None
        return State(chunks=(*shape, held), values=() if gradient is None else (gradient,))


def _jax_array(value: Any, facts: ClassFacts) -> State:
    plain = read_array(value, facts)
    if plain is None:
        return State(caveat="an array of jax that was given away could not be read")
    return State(values=(plain,))


def _pandas_table(value: Any, _: ClassFacts) -> State:
    """A frame or a series: its axes, its columns by blocks of one type, and its name."""
    held = object.__getattribute__(value, "__dict__")
    manager = held["_mgr"]
    plain: Any = sys.modules["numpy"].asarray
    blocks = [(block.mgr_locs.as_array, plain(block.values)) for block in manager.blocks]
    parts = (held.get("_name"), *manager.axes, *blocks)
    return State(values=parts)


def _pandas_index(value: Any, _: ClassFacts) -> State:
    index: Any = sys.modules["pandas"].Index
    parts = (list(index.names.__get__(value)), index.to_numpy(value))
    return State(values=parts)


def _pandas_array(value: Any, _: ClassFacts) -> State:
    plain = sys.modules["numpy"].asarray(value)
    return State(chunks=in_bytes(str(value.dtype)), values=(plain,))


def _polars_series(value: Any, _: ClassFacts) -> State:
    parts = (value.name, str(value.dtype), value.to_numpy())
    return State(values=parts)


def _polars_frame(value: Any, _: ClassFacts) -> State:
    columns = value.get_columns()
    return State(values=tuple(columns))


def _mjdata(value: Any, _: ClassFacts) -> State:
    fields = {**mjdata_fields(value), **mjdata_outputs(value)}
    return State(pairs=list(fields.items()))


def _mjmodel(value: Any, _: ClassFacts) -> State:
    mujoco, numpy = sys.modules["mujoco"], sys.modules["numpy"]
    held: Any = numpy.empty(mujoco.mj_sizeModel(value), numpy.uint8)
    mujoco.mj_saveModel(value, None, held)
    return State(chunks=(held.tobytes(),))


def _torch_generator(value: Any, _: ClassFacts) -> State:
    return State(chunks=(value.get_state().numpy().tobytes(),))


READERS: dict[str, Callable[[Any, ClassFacts], State]] = {
    "jaxlib._jax.ArrayImpl": _jax_array,
    "mujoco._structs.MjData": _mjdata,
    "mujoco._structs.MjModel": _mjmodel,
    "pandas.DataFrame": _pandas_table,
    "pandas.api.extensions.ExtensionArray": _pandas_array,
    "pandas.core.arrays.base.ExtensionArray": _pandas_array,
    "pandas.Index": _pandas_index,
    "pandas.Series": _pandas_table,
    "pandas.core.frame.DataFrame": _pandas_table,
    "pandas.core.indexes.base.Index": _pandas_index,
    "pandas.core.series.Series": _pandas_table,
    "polars.dataframe.frame.DataFrame": _polars_frame,
    "polars.series.series.Series": _polars_series,
    "torch._C.TensorBase": _tensor,
    "torch.Tensor": _tensor,
    "torch._C.Generator": _torch_generator,
}
