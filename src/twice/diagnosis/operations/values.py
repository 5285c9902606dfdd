"""How the results of one operation differ on two sides: elements, counts, ULPs.

Invariant: results of one form and the same bytes have no difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from twice.foundation.comparison import FieldDifference
from twice.foundation.comparison.numeric import compare_arrays

_HALF_WORD: Final = 1 << 16
"""Representable float32 from one bfloat16 to the next."""


def compare_outputs(
    a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]
) -> list[FieldDifference]:
    """Return the differences of captured results, one for each that differs.

    Args:
        a: results of one side: ``dtype``, ``shape``, and the first ``bytes`` of each.
        b: results of the other side.
    """
    found = []
    for number, (one, two) in enumerate(zip(a, b, strict=False)):
        path = f"output {number}"
        form, other = (f"{each['dtype']} {each['shape']}" for each in (one, two))
        if form != other:
            found.append(FieldDifference(path, "shape", form, other))
        elif one["bytes"] != two["bytes"]:
            found.append(_compare_elements(path, one, two))
    return found


def find_equation(
    a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Return the first equation of a compiled function that gave other results for equal inputs, on both sides."""
    for one, two in zip(a, b, strict=False):
        if one["name"] != two["name"]:
            return None
        if one["inputs"] == two["inputs"] and one["outputs"] != two["outputs"]:
            return one, two
    return None


def _compare_elements(path: str, one: Mapping[str, Any], two: Mapping[str, Any]) -> FieldDifference:
    if not one["dtype"]:
        told, other = (each["bytes"].decode("utf-8", "replace") for each in (one, two))
        return FieldDifference(path, "value", told, other)
    difference = compare_arrays(path, _to_array(one), _to_array(two), None)
    assert difference is not None, "other bytes are a difference"
    if one["dtype"] == "bfloat16" and difference.ulps is not None:
        return replace(difference, ulps=difference.ulps // _HALF_WORD)
    return difference


def _to_array(output: Mapping[str, Any]) -> Any:
    """Return the elements as an array; of a type that numpy lacks, as float32 or as bytes."""
    import numpy as np

    name, raw, shape = output["dtype"], output["bytes"], tuple(output["shape"])
    if name == "bfloat16":
        flat = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
    else:
        try:
            flat = np.frombuffer(raw, np.dtype(name))
        except TypeError:
            return np.frombuffer(raw, "u1")
    # Of a large result the beginning was kept.
    return flat.reshape(shape) if flat.size == int(np.prod(shape)) else flat
