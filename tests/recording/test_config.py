"""Configuration is plain data that cannot change, and remembers what was read of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from twice.errors import ConfigError, ConfigKeyUnknown
from twice.recording.config import Config, parse_settings, parse_value, read_config


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
