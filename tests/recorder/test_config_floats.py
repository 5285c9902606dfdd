"""A configuration comes back from the record as it was, floats without a fraction too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from programs import verified
from twice.foundation.encoding import encode
from twice.recorder.config import describe_floats, restore_floats

PLAIN = st.recursive(
    st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=3)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text(max_size=3), PLAIN, max_size=4))
def test_a_configuration_survives_the_document_it_is_written_in(config: dict[str, Any]) -> None:
    document = json.loads(rfc8785.dumps({"config": config, **describe_floats(config)}))

    read = restore_floats(document["config"], document)

    assert encode(read) == encode(config)


@pytest.mark.integration
def test_a_whole_float_is_a_float_in_the_replay(tmp_path: Path) -> None:
    program = """
    def main(run):
        run.track("held", {"scale": run.config["scale"], "more": run.config["more"]})
        for _ in run.ticks(1):
            pass
    """

    statement = verified(
        tmp_path, program, config={"scale": 1.0, "more": [2.0, {"a": 0.0}, 3, -0.0]}
    )

    assert statement.result == "PASS"
