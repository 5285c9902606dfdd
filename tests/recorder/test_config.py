"""Configuration is plain data that cannot change, remembers what was read of it, and comes back from a record as it was."""

from __future__ import annotations

import json
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

import twice
from programs import verified
from twice.errors import ConfigError, ConfigKeyUnknown
from twice.foundation.encoding import encode
from twice.recorder.config import (
    Config,
    describe_floats,
    format_value,
    parse_settings,
    parse_value,
    read_config,
    restore_floats,
)


def test_a_key_that_was_not_given_is_an_error_that_names_what_was() -> None:
    config = Config({"speed": 3, "size": 4})
    with pytest.raises(ConfigKeyUnknown, match=r"'sped'.*Did you mean 'speed'") as caught:
        config["sped"]
    assert caught.value.expected == "Keys given: size, speed."
    with pytest.raises(KeyError):
        Config({})["n"]


def test_what_was_never_read_is_known() -> None:
    config = Config({"a": 1, "b": 2, "c": 3, "d": 4})
    assert (config["a"], config.get("b"), "c" in config) == (1, 2, True)
    assert config.keys_unread == ["d"]
    assert config.get("e", 5) == 5
    assert dict(config) == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert config.keys_unread == []


def test_a_configuration_cannot_be_changed() -> None:
    values = {"a": 1}
    config = Config(values)
    values["a"] = 2
    assert config["a"] == 1
    with pytest.raises(TypeError):
        config["a"] = 3  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("0.5", 0.5), ("1e3", 1000.0), ("true", True), ('"text"', "text"),
        ("[1, 2]", [1, 2]), ("plain words", "plain words"), ("", ""), ("True", "True"),
        ("{a = 1}", {"a": 1}), ("-3", -3), ("1_000", 1000), ("x=y", "x=y"),
    ],
)  # fmt: skip
def test_a_setting_is_typed_like_toml_and_is_text_otherwise(text: str, value: object) -> None:
    assert parse_value(text) == value
    assert parse_settings([f"key={text}"]) == {"key": value}


TOML = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text('ab ="\n\x7f'), parts, max_size=3),
    max_leaves=8,
)  # fmt: skip
OTHERS = (
    st.none()
    | st.binary()
    | st.tuples(st.integers())
    | st.sets(st.integers())
    | st.complex_numbers()
)


@given(TOML)
def test_a_written_value_is_read_back_in_value_and_type(value: object) -> None:
    text = format_value(value)

    assert text is not None
    assert text.isprintable()
    assert encode(parse_value(text.strip())) == encode(value)


@given(OTHERS)
def test_a_value_that_toml_does_not_have_is_not_written(value: object) -> None:
    assert [format_value(each) for each in (value, [value], {"a": value})] == [None] * 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"), (1, "1"), (1.0, "1.0"), (float("-inf"), "-inf"), (float("nan"), "nan"),
        ("True", '"True"'), ('a "b"\n', r'"a \"b\"\n"'), ("\u202e", r'"\U0000202e"'),
        ({"a b": [1, {}]}, '{"a b" = [1, {}]}'), ({1: 2}, None), (np.float64(1), None), (np.zeros(2), None),
        ("\ud800", None), (Path("a"), None), (IntEnum("Two", ["ONE"])(1), None),
    ],
)  # fmt: skip
def test_a_value_is_written_as_toml_or_not_at_all(value: object, text: str | None) -> None:
    assert format_value(value) == text


def test_a_long_value_is_written_whole_or_not_at_all() -> None:
    assert format_value("x" * 9999) == f'"{"x" * 9999}"'
    assert format_value("x" * 99_999) is None
    assert format_value(10**5000) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.toml", "n = 3\nx = [1.5]\n"),
        ("c.json", '{"n": 3, "x": [1.5]}'),
        ("c.yaml", "n: 3\nx:\n- 1.5\n"),
        ("c.yml", "{n: 3, x: [1.5]}"),
    ],
)
def test_the_same_configuration_in_every_language(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_config(tmp_path / name) == {"n": 3, "x": [1.5]}


def test_yaml_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("a: !!python/object/apply:os.getcwd []\n")
    with pytest.raises(ConfigError, match=r"c\.yaml"):
        read_config(tmp_path / "c.yaml")


def _nested(depth: int) -> dict[str, object]:
    values: dict[str, object] = {"innermost": 1}
    for _ in range(depth):
        values = {"in": values}
    return values


BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.json", json.dumps(_nested(900))),
        ("deeper.json", '{"in":' * 5000 + "1" + "}" * 5000),
        ("bomb.yaml", BOMB),
    ],
)
def test_a_file_that_unfolds_without_end_is_refused(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)

    with pytest.raises(ConfigError, match=rf"{name} holds more than 64 levels .* 1,000,000 values"):
        read_config(tmp_path / name)


def test_a_configuration_that_no_record_holds_is_refused(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("def main(run):\n    list(run.ticks(1))\n")
    program = f"{tmp_path / 'program.py'}:main"

    with pytest.raises(ConfigError, match="more than 64 levels"):
        twice.record(program, seed=1, config=_nested(900), out=tmp_path / "a.twice")


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
