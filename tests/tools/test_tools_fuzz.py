"""Laws of calls: whatever is given, the answer is an envelope and the state is whole."""

from __future__ import annotations

import functools
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_tools import Tables, registry

from twice.tools import Session, negotiate
from twice.tools.canonical_json import NotPlain, canonical, plain
from twice.tools.envelope import CODES

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.binary(max_size=3),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=6), st.integers()), inner, max_size=3),
        st.frozensets(st.integers(), max_size=2),
    ),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["name", "columns", "rows", "table", "into", "on", "left", "right", "where", "seed", "call_key",
     "column", "how", "x", ""]
)  # fmt: skip
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=5)


def session() -> Session:
    backend = Tables()
    one = Session(registry, backend, negotiate({"session_seed": 1}, registry, backend))
    one.call("table.create", {"name": "t", "columns": ["x"], "rows": [[1], [2], [3]]})
    return one


def check_envelope(found: dict[str, Any]) -> None:
    json.dumps(found, allow_nan=False)
    canonical(found)
    if found["ok"]:
        assert set(found) == {"ok", "result", "determinism", "fingerprint"}
    else:
        assert set(found) == {"ok", "error"}
        assert found["error"]["code"] in CODES
        assert found["error"]["message"]


@given(
    st.one_of(st.sampled_from(registry.names), st.text(max_size=9)), st.one_of(ARGUMENTS, VALUES)
)
def test_whatever_is_given_the_answer_is_an_envelope(name: str, arguments: Any) -> None:
    one = session()
    before = one.backend.fingerprint()  # type: ignore[union-attr]
    found = one.call(name, arguments)

    check_envelope(found)
    assert found["ok"] or found["error"]["code"] != "internal_error"
    assert found["ok"] or one.backend.fingerprint() == before  # type: ignore[union-attr]


@given(st.sampled_from(registry.names), ARGUMENTS)
def test_what_is_accepted_fits_the_schema(name: str, arguments: Any) -> None:
    tool = registry.get(name)
    assert tool is not None
    found = session().call(name, arguments)

    if found["ok"]:
        assert jsonschema.Draft202012Validator(tool.parameters.schema).is_valid(arguments)
        assert jsonschema.Draft202012Validator(tool.result.schema).is_valid(found["result"])


@given(VALUES)
def test_a_plain_value_has_one_form_and_reads_back(value: Any) -> None:
    try:
        found = plain(value)
    except NotPlain:
        return
    read = json.loads(canonical(found), parse_int=float)
    assert read == found
    assert canonical(plain(read)) == canonical(found)


DEEP: Any = functools.reduce(lambda inner, _: [inner], range(5000), 0)


@pytest.mark.parametrize(
    ("name", "arguments", "require", "code"),
    [
        *(
            ("table.list", each, None, "invalid_arguments")
            for each in (3, "x", [1], {"a": [[[[]]]] * 3}, {"a": {"b": 10**400}}, {"a": DEEP})
        ),
        *(
            ("table.list", {}, each, "invalid_arguments")
            for each in ("", "mostly", 3, ["seeded"])
        ),
        *(
            (each, {}, None, "not_found")
            for each in (None, 3, ["table.list"], "x" * 10_000, "\ud800")
        ),
    ],
)  # fmt: skip
def test_what_is_no_call_at_all_is_refused(
    name: Any, arguments: Any, require: Any, code: str
) -> None:
    found = session().call(name, arguments, require=require)

    check_envelope(found)
    assert found["error"]["code"] == code
