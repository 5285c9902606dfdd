"""Tensors, frames and ordered dicts stand in a state without a converter, and come back as they were."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict
from typing import Any

import pytest

from twice.errors import EncodingRefused
from twice.foundation.comparison import differences
from twice.foundation.encoding import decode, encode, loaded_types


def come_back(value: Any) -> Any:
    """Encode a value and decode it."""
    content = encode(value)
    found = decode(content, resolve=loaded_types)
    assert type(found) is type(value)
    assert encode(found) == content
    return found


def test_an_ordered_dict_comes_back_and_is_named_by_its_keys() -> None:
    assert come_back(OrderedDict(a=1, b=[2])) == OrderedDict(a=1, b=[2])
    found = differences(OrderedDict(a=1), OrderedDict(a=2), component="model")
    assert found[0].path == "model['a']"


@pytest.mark.heavy
@pytest.mark.parametrize(
    "make",
    [
        lambda torch: torch.tensor([[1.5, -0.0], [float("nan"), 3.0]]),
        lambda torch: torch.tensor(3),
        lambda torch: torch.tensor([True, False]),
        lambda torch: torch.ones(2, 2, dtype=torch.bfloat16),
        lambda torch: torch.ones(3, dtype=torch.float8_e4m3fn),
        lambda torch: torch.ones(3, dtype=torch.complex64).conj(),
        lambda torch: torch.arange(6).reshape(2, 3).T,
        lambda torch: torch.empty(0),
        lambda torch: torch.ones(2, requires_grad=True),
        lambda torch: torch.nn.Parameter(torch.ones(2), requires_grad=False),
    ],
)
def test_a_tensor_comes_back(make: Any) -> None:
    torch = pytest.importorskip("torch")
    tensor = make(torch)
    found = come_back(tensor)
    assert (found.dtype, found.shape) == (tensor.dtype, tensor.shape)
    assert found.requires_grad == tensor.requires_grad


@pytest.mark.heavy
def test_a_model_and_its_optimiser_have_a_canonical_form() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    optimiser = torch.optim.Adam(model.parameters())
    model(torch.ones(4, 2)).sum().backward()
    optimiser.step()
    come_back(optimiser.state_dict())
    other = come_back(model.state_dict())
    other["0.weight"][1, 1] += 1
    found = differences(model.state_dict(), other, component="model")
    assert found[0].path == "model['0.weight'][1, 1]"


@pytest.mark.heavy
def test_a_sparse_tensor_is_refused_by_what_it_is() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(EncodingRefused, match="layout torch"):
        encode({"w": torch.eye(3).to_sparse()})


def test_a_frame_of_pandas_comes_back() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "whole": [1, 2],
            "real": [1.5, float("nan")],
            "text": ["x", None],
            "mixed": pandas.Series([1, "a"], dtype=object).array,
            "class": pandas.Categorical(["u", "v"], categories=["v", "u"], ordered=True),
            "time": pandas.to_datetime(["2020-01-01", "2021-01-01"]),
            "zone": pandas.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("UTC"),
            "nullable": pandas.array([1, None], dtype="Int64"),
        },
        index=pandas.Index(["r", "s"], name="row"),
    )
    pandas.testing.assert_frame_equal(come_back(frame), frame)
    pandas.testing.assert_series_equal(come_back(frame["whole"]), frame["whole"])
    for index in (
        frame.set_index(["whole", "text"]).index,
        pandas.RangeIndex(1, 9, 2, name="n"),
        pandas.date_range("2020-01-01", periods=3, tz="UTC"),
    ):
        assert come_back(index).equals(index)
    found = differences({"df": frame}, {"df": frame.assign(whole=[1, 3])})
    assert found[0].path == "state['df']['columns']['whole'][1]"


def test_a_frame_with_two_columns_of_one_name_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(EncodingRefused, match="column labels"):
        encode(pandas.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.heavy
def test_a_frame_of_polars_comes_back() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, 2], "b": ["x", None], "c": [1.5, 2.5], "d": [True, False]})
    assert come_back(frame).equals(frame)
    assert come_back(frame["b"]).equals(frame["b"])


MAKES = """
import sys, torch
from twice.foundation.encoding import encode
sys.stdout.buffer.write(encode(torch.ones(2)))
"""
LOOKS = """
import sys
from twice.foundation.encoding import decode, loaded_types
found = decode(sys.stdin.buffer.read(), resolve=loaded_types)
print(found.kind, found.value.tolist(), "torch" in sys.modules)
"""


@pytest.mark.heavy
def test_without_the_library_a_value_stays_opaque_and_nothing_is_imported() -> None:
    pytest.importorskip("torch")
    made = subprocess.run([sys.executable, "-c", MAKES], capture_output=True, check=True).stdout
    looked = subprocess.run(
        [sys.executable, "-c", LOOKS], input=made, capture_output=True, check=True
    ).stdout
    assert looked == b"registered [1.0, 1.0] False\n"
