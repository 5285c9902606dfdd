"""Claims about ``run.summary``: one real number, and nothing that merely converts to one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twice
from twice.errors import UsageError
from twice.foundation.encoding import decode
from twice.recorder.record_form import SUMMARY
from twice.recorder.runrecord import RunRecord


@pytest.mark.parametrize(
    "value",
    [1, 1.5, True, np.bool_(False), Fraction(1, 2), np.float32(0.5), np.int64(3), np.array(2.5)],
)
def test_a_real_number_of_any_kind_is_recorded_as_a_float(tmp_path: Path, value: Any) -> None:
    with twice.recording(tmp_path / "a.twice", seed=1) as run:
        run.summary("score", value)

    with RunRecord.open(tmp_path / "a.twice") as record:
        (frame,) = record.reader.frames(kinds=[SUMMARY])
        assert decode(frame.payload) == ("score", float(value))


@pytest.mark.parametrize(
    "value",
    ["1.5", b"1", None, 1j, [1.0], np.ones(1), np.ones(3), 10**400],
    ids=repr,
)
def test_whatever_is_no_real_number_is_refused_with_its_type(tmp_path: Path, value: Any) -> None:
    with twice.recording(tmp_path / "a.twice", seed=1) as run:
        with pytest.raises(UsageError) as refused:
            run.summary("score", value)

    assert f"of type {type(value).__name__}" in str(refused.value)
    assert "float(value)" in str(refused.value)
