"""What libraries compute with, read by what it holds: tensors, arrays, tables, images, simulations.

Not for: the arrays and generators of numpy, which stand with Python's own values (``librarystate``).

Invariant: a library is never imported here, and nothing of the user's runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from twice.diagnosis.object_digest.mujocostate import mjdata_fields, mjdata_outputs
from twice.diagnosis.object_digest.state import State, in_bytes
from twice.foundation.object_attributes import (
    ClassFacts,
    attributes,
    class_facts,
    class_name,
    class_namespace,
)

_INDEX_DATA = frozenset({"_data", "_range", "_levels"})
_INDEX_PARTS = _INDEX_DATA | {"_codes", "_name", "_names"}
"""Attributes of pandas' indexes that are no caches."""
_BACKED = "pandas._libs.arrays.NDArrayBacked"


def read_array(value: Any, facts: ClassFacts) -> Any:
    """Convert a tensor of torch or an array of jax to numpy, or return None if that fails."""
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


def _pandas_table(value: Any, facts: ClassFacts) -> State:
    """Read a frame or a series: its axes, its columns by blocks of one type, and its name."""
    held = dict(attributes(value, facts))
    manager: Any = held["_mgr"]
    blocks = [(block.mgr_locs.as_array, block.values) for block in manager.blocks]
    return State(values=(held.get("_name"), *manager.axes, *blocks))


def read_frame(value: object, facts: ClassFacts) -> tuple[int, list[object]] | None:
    """Return the number of rows and the labels of columns; None unless it is pandas' own down to its axes."""
    if facts.name not in {"pandas.DataFrame", "pandas.core.frame.DataFrame"}:
        return None
    manager: Any = dict(attributes(value, facts))["_mgr"]
    if not all(_is_pandas_own(class_facts(type(axis))) for axis in manager.axes):
        return None
    columns, rows = manager.axes
    return len(rows), list(columns)


def _is_pandas_own(facts: ClassFacts) -> bool:
    return facts.name.startswith("pandas.")


def _pandas_index(value: Any, facts: ClassFacts) -> State:
    held = attributes(value, facts)
    parts = [each for each in held if each[0] in _INDEX_PARTS]
    if not any(name in _INDEX_DATA for name, _ in parts):
        return State(
            caveat=f"{facts.name} is laid out in an unknown way; its items were not compared"
        )
    return State(pairs=list(parts))


def _pandas_array(value: Any, facts: ClassFacts) -> State:
    if _is_pandas_own(facts):
        return State(
            chunks=in_bytes(str(value.dtype)), values=(sys.modules["numpy"].asarray(value),)
        )
    # Of the user's class, only what it holds: some of pandas' classes keep that in C.
    backed: list[dict[str, Any]] = [
        dict(class_namespace(base)) for base in facts.bases if class_name(base) == _BACKED
    ]
    held = [own[name].__get__(value) for own in backed for name in ("_dtype", "_ndarray")]
    return State(values=tuple(held), attributes=True)


def _polars_series(value: Any, facts: ClassFacts) -> State:
    held: Any = dict(attributes(value, facts))["_s"]
    plain = sys.modules["polars"].Series._from_pyseries(held)
    return State(values=(plain.name, str(plain.dtype), plain.to_numpy()))


def _polars_frame(value: Any, facts: ClassFacts) -> State:
    held: Any = dict(attributes(value, facts))["_df"]
    return State(values=tuple(sys.modules["polars"].DataFrame._from_pydf(held).get_columns()))


def _mjdata(value: Any, _: ClassFacts) -> State:
    fields = {**mjdata_fields(value), **mjdata_outputs(value)}
    return State(pairs=list(fields.items()))


def _mjmodel(value: Any, _: ClassFacts) -> State:
    mujoco, numpy = sys.modules["mujoco"], sys.modules["numpy"]
    held: Any = numpy.empty(mujoco.mj_sizeModel(value), numpy.uint8)
    mujoco.mj_saveModel(value, None, held)
    return State(chunks=(held.tobytes(),))


def _pillow_image(value: Any, _: ClassFacts) -> State:
    """Read the pixels of an image of Pillow, and its palette; a drawing context adds no state."""
    width, height = value.size
    palette = value.getpalette("RGB", "RGB") if value.mode in {"P", "PA"} else b""
    chunks = [*in_bytes(value.mode, str(value.size)), palette]
    if not width or not height:
        return State(chunks=tuple(chunks))
    encoder = sys.modules["PIL._imaging"].raw_encoder(value.mode, value.mode, 0, 1)
    encoder.setimage(value, (0, 0, width, height))
    is_over = 0
    while not is_over:
        _, is_over, pixels = encoder.encode(max(1 << 16, width * 8))
        chunks.append(pixels)
    caveat = "the pixels of an image could not be read" if is_over < 0 else ""
    return State(chunks=tuple(chunks), caveat=caveat)


def _torch_generator(value: Any, _: ClassFacts) -> State:
    return State(chunks=(value.get_state().numpy().tobytes(),))


READERS: dict[str, Callable[[Any, ClassFacts], State]] = {
    "builtins.ImagingCore": _pillow_image,
    "builtins.ImagingDraw": lambda _value, _facts: State(),
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
