"""Values of libraries that have a canonical form without a converter: tensors, frames, ordered dicts.

twice looks for the library among the loaded modules and never imports it: a program with such a value has loaded it.
A path goes through a tensor as through an array, and through a series as through a list.

Not for: devices and gradients of tensors beyond a flag, orders of an ``OrderedDict`` (as of any dict),
frames with nested or user-defined types, which are refused.

Invariant: the result of ``from_value`` has the same canonical form as its source.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from twice.foundation.encoding.built_in_types import Refusal

_PLAIN_KINDS: Final = frozenset("biufcmM")


class LibraryType(NamedTuple):
    """How values of one type become plain values and back."""

    to_value: Callable[[Any], object]
    from_value: Callable[[Any], Any]


def find_library_type(cls: type) -> tuple[str, LibraryType] | None:
    """Return the name and the conversion of a library's type; None for any other."""
    name = _NAMES.get((cls.__module__, cls.__qualname__))
    return None if name is None else (name, _TYPES[name])


def find_loaded_class(name: str) -> type | None:
    """Return the loaded class that has a name in canonical form; None where its library is not loaded."""
    if name not in _TYPES:
        return None
    module, _, attribute = name.rpartition(".")
    found = getattr(sys.modules.get(module), attribute, None)
    return found if isinstance(found, type) else None


def is_library_name(name: str) -> bool:
    """Return whether a name in canonical form denotes a type of this module."""
    return name in _TYPES


def _library(name: str) -> Any:
    """Return a library that has been imported, since a value of it exists."""
    return sys.modules[name]


def _refuse(what: str, remedy: str) -> Refusal:
    return Refusal(what, "Expected numbers, texts, times or categories.", remedy)


# -- torch


def _tensor_to_value(tensor: Any) -> object:
    torch = _library("torch")
    if tensor.layout is not torch.strided or tensor.is_quantized:
        raise _refuse(
            f"a tensor of layout {tensor.layout}",
            "Return tensor.to_dense(), or its parts as arrays.",
        )
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    dtype = str(tensor.dtype).removeprefix("torch.")
    try:
        values = plain.numpy()
    except TypeError:  # numpy has no such type: bfloat16, float8
        values = plain.view(getattr(torch, _BITS[tensor.element_size()])).numpy()
    about: dict[str, object] = {}
    if dtype != str(values.dtype):
        about["dtype"] = dtype
    if tensor.device.type != "cpu":
        about["device"] = tensor.device.type
    if tensor.requires_grad:
        about["requires_grad"] = True
    return {**about, "values": values} if about else values


_BITS: Final = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


def _tensor_from_value(value: Any) -> Any:
    torch = _library("torch")
    about = value if isinstance(value, dict) else {"values": value}
    tensor = torch.from_numpy(about["values"].copy())
    if "dtype" in about and str(tensor.dtype) != f"torch.{about['dtype']}":
        tensor = tensor.view(getattr(torch, about["dtype"]))
    tensor = tensor.to(about.get("device", "cpu"))
    return tensor.requires_grad_(bool(about.get("requires_grad")))


_PARAMETER: Final = LibraryType(
    lambda parameter: {"requires_grad": parameter.requires_grad, "data": parameter.detach()},
    lambda value: _library("torch").nn.Parameter(
        value["data"], requires_grad=value["requires_grad"]
    ),
)


# -- pandas


_SERIES: Final = LibraryType(
    lambda series: {
        "index": series.index, "name": series.name, "values": _pandas_values(series.array)
    },
    lambda value: _library("pandas").Series(
        _pandas_array(value["values"]), index=value["index"], name=value["name"]
    ),
)  # fmt: skip


def _frame_to_value(frame: Any) -> object:
    labels = list(frame.columns)
    if any(type(label) not in {str, int} for label in labels) or len(set(labels)) != len(labels):
        raise _refuse(
            "a pandas.DataFrame whose column labels are no different texts or numbers",
            "Name the columns, or return them as a list of series.",
        )
    columns = {label: _pandas_values(frame[label].array) for label in labels}
    return {"index": frame.index, "labels": labels, "columns": columns}


def _frame_from_value(value: Any) -> Any:
    pandas = _library("pandas")
    arrays = {label: _pandas_array(value["columns"][label]) for label in value["labels"]}
    return pandas.DataFrame(arrays, index=value["index"], columns=value["labels"])


def _index_to_value(index: Any) -> object:
    if index.nlevels > 1:
        return {"names": list(index.names), "rows": index.tolist()}
    return {"name": index.name, "values": _pandas_values(index.array)}


def _index_from_value(value: Any) -> Any:
    pandas = _library("pandas")
    if "rows" in value:
        return pandas.MultiIndex.from_tuples(value["rows"], names=value["names"])
    return pandas.Index(_pandas_array(value["values"]), name=value["name"])


_INDEX: Final = LibraryType(_index_to_value, _index_from_value)
_RANGE_INDEX: Final = LibraryType(
    lambda index: {"name": index.name, "range": [index.start, index.stop, index.step]},
    lambda value: _library("pandas").RangeIndex(*value["range"], name=value["name"]),
)


def _pandas_values(array: Any) -> object:
    """Return an array of pandas as a numpy array, a list of plain objects, or with its type's facts."""
    pandas = _library("pandas")
    numpy = _library("numpy")
    dtype = array.dtype
    if isinstance(array, pandas.arrays.NumpyExtensionArray):
        dtype = dtype.numpy_dtype
    if isinstance(dtype, numpy.dtype) and dtype.kind in _PLAIN_KINDS:
        return array.to_numpy()
    if isinstance(dtype, pandas.CategoricalDtype):
        categories = _pandas_values(dtype.categories.array)
        return {"codes": array.codes, "categories": categories, "ordered": bool(dtype.ordered)}
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return {"dtype": str(dtype), "values": array.asi8}
    values = [None if value is pandas.NA else value for value in array.tolist()]
    return values if str(dtype) == "object" else {"dtype": str(dtype), "values": values}


def _pandas_array(value: Any) -> Any:
    pandas = _library("pandas")
    if isinstance(value, list):
        return pandas.array(value, dtype=object)
    if not isinstance(value, dict):
        return value
    if "codes" in value:
        categories = _pandas_array(value["categories"])
        return pandas.Categorical.from_codes(value["codes"], categories, ordered=value["ordered"])
    return pandas.array(value["values"], dtype=value["dtype"])


# -- polars


def _polars_series_to_value(series: Any) -> object:
    dtype = str(series.dtype)
    is_plain = series.dtype.is_numeric() and not series.null_count() and "Decimal" not in dtype
    values = series.to_numpy() if is_plain else series.to_list()
    return {"name": series.name, "dtype": dtype, "values": values}


def _polars_series_from_value(value: Any) -> Any:
    polars = _library("polars")
    dtype = getattr(polars, value["dtype"], None)
    series = polars.Series(value["name"], value["values"], dtype=dtype)
    if str(series.dtype) != value["dtype"]:
        raise ValueError(f"a polars series of {value['dtype']} cannot be put back")
    return series


def _polars_frame_to_value(frame: Any) -> object:
    columns = {series.name: _polars_series_to_value(series) for series in frame.get_columns()}
    return {"labels": list(frame.columns), "columns": columns}


def _polars_frame_from_value(value: Any) -> Any:
    polars = _library("polars")
    columns = value["columns"]
    return polars.DataFrame(
        [_polars_series_from_value(columns[label]) for label in value["labels"]]
    )


_TYPES: Final[Mapping[str, LibraryType]] = {
    "collections.OrderedDict": LibraryType(dict, OrderedDict),
    "pandas.DataFrame": LibraryType(_frame_to_value, _frame_from_value),
    "pandas.Index": _INDEX,
    "pandas.RangeIndex": _RANGE_INDEX,
    "pandas.DatetimeIndex": _INDEX,
    "pandas.MultiIndex": _INDEX,
    "pandas.Series": _SERIES,
    "polars.DataFrame": LibraryType(_polars_frame_to_value, _polars_frame_from_value),
    "polars.Series": LibraryType(_polars_series_to_value, _polars_series_from_value),
    "torch.Size": LibraryType(tuple, lambda value: _library("torch").Size(value)),
    "torch.Tensor": LibraryType(_tensor_to_value, _tensor_from_value),
    "torch.nn.Parameter": _PARAMETER,
}
"""By the name in canonical form: the module that exports the class, and its name."""

_MODULES: Final = {
    "torch.nn.Parameter": "torch.nn.parameter",
    "pandas.DataFrame": "pandas.core.frame",
    "pandas.Series": "pandas.core.series",
    "pandas.Index": "pandas.core.indexes.base",
    "pandas.RangeIndex": "pandas.core.indexes.range",
    "pandas.DatetimeIndex": "pandas.core.indexes.datetimes",
    "pandas.MultiIndex": "pandas.core.indexes.multi",
    "polars.DataFrame": "polars.dataframe.frame",
    "polars.Series": "polars.series.series",
}
_NAMES: Final = {
    (module, name.rpartition(".")[2]): name
    for name in _TYPES
    for module in (_MODULES.get(name, name.rpartition(".")[0]), name.rpartition(".")[0])
}
"""A class says where it was defined: before pandas 3 that is another module than the one that exports it."""
