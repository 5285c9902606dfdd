"""Configuration of a run: its sources, its form in a record, and the keys that the program read.

Values are plain data (TOML's types). A key that the program asks for and nobody gave is an error
at once; a key that somebody gave and the program never read is reported when the run ends, because
a mistyped ``--set`` is otherwise a silent default.

Invariant: a run's configuration never changes after the run began.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from math import copysign
from pathlib import Path
from typing import Any

from twice.errors import ConfigError, ConfigKeyUnknown, ConfigKeyUnused
from twice.foundation.encoding import encode


class Config(Mapping[str, Any]):
    """A read-only mapping that remembers which keys were read.

    Raises:
        ConfigKeyUnknown: E-CONFIG-002, from ``config[key]``, naming the keys that there are.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._read: set[object] = set()

    def __getitem__(self, key: str) -> Any:
        self._read.add(key)
        try:
            return self._values[key]
        except KeyError:
            near = difflib.get_close_matches(str(key), list(self._values), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ConfigKeyUnknown(
                f"The program asked for the configuration key {key!r}, which was not given.{hint}",
                f"Keys given: {', '.join(sorted(self._values)) or 'none'}.",
                f"Give it: --set {key}=VALUE, or in the file of --config.",
                key=key,
            ) from None

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or the default; either way the key counts as known."""
        self._read.add(key)
        return self._values.get(key, default)

    def __contains__(self, key: object) -> bool:
        self._read.add(key)
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        self._read.update(self._values)
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Config({self._values!r})"

    @property
    def keys_unread(self) -> list[str]:
        """Keys that were given and never read, sorted."""
        return sorted(set(self._values) - self._read)


_Place = list[str | int]


def describe_floats(values: object) -> dict[str, list[_Place]]:
    """Return the places of floats that RFC 8785 writes as an integer, and of the -0.0 among them; none if there are none.

    The identity holds them beside the configuration, under these names.
    """
    found: dict[str, list[_Place]] = {}
    for place, value in _list_floats(values, []):
        if value.is_integer():
            found.setdefault("config_floats", []).append(place)
        if value == 0 and copysign(1, value) < 0:
            found.setdefault("config_negative_zeros", []).append(place)
    return found


def _list_floats(values: object, place: _Place) -> Iterator[tuple[_Place, float]]:
    inner: Iterable[tuple[str | int, object]] = ()
    if isinstance(values, float):
        yield place, values
    elif isinstance(values, Mapping):
        inner = values.items()
    elif isinstance(values, list | tuple):
        inner = enumerate(values)
    for key, value in inner:
        yield from _list_floats(value, [*place, key])


def restore_floats(values: Any, described: Mapping[str, Any]) -> Any:
    """Return a copy of a document's values with the floats that ``describe_floats`` found; ``described`` is the identity."""
    # In a list, so that the whole of it can be replaced like a part.
    held = [deepcopy(values)]
    for name, sign in (("config_floats", 1), ("config_negative_zeros", -1)):
        places: Sequence[Sequence[Any]] = described.get(name, ())
        for place in places:
            inner: Any = held
            *path, last = [0, *place]
            with suppress(LookupError, TypeError):  # a place that a stranger made up
                for key in path:
                    inner = inner[key]
                # Stars may stand where a secret was.
                if isinstance(inner[last], int | float):
                    inner[last] = sign * float(inner[last])
    return held[0]


def read_config(path: Path) -> dict[str, Any]:
    """Read a configuration file: TOML, JSON or YAML, by its suffix; what holds no table is E-CONFIG-001."""
    try:
        data = _parse_text(path.suffix.lower(), path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else f"not UTF-8: {error.reason}"
        raise ConfigError(
            f"The configuration file {path} cannot be read: {why}.",
            "Expected a TOML, JSON or YAML file.",
            "Check the path given to --config.",
        ) from error
    except RecursionError as error:
        raise _make_size_error(str(path)) from error
    except ValueError as error:
        raise ConfigError(
            f"{path} does not parse: {error}",
            "Expected TOML (.toml), JSON (.json) or YAML (.yaml, .yml), by the file's suffix.",
            "Correct the place named above.",
        ) from error
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise ConfigError(
            f"{path} holds {type(data).__name__}, not a table of named values.",
            "Expected named values at the top level.",
            'For example: {"n": 1000}',
        )
    require_bounded(data, str(path))
    return data


_WRITTEN_BYTES_MAX = 1 << 14
"""Of the canonical form of a value that a person edits as text."""
_DEPTH_MAX = 64
_VALUES_MAX = 1_000_000


def require_bounded(values: object, what: str = "The configuration") -> None:
    """Refuse values that unfold without end (E-CONFIG-001): YAML's references let a line expand to a billion values."""
    counted = 0
    left = [(values, 0)]
    while left:
        value, depth = left.pop()
        counted += 1
        if depth > _DEPTH_MAX or counted > _VALUES_MAX:
            raise _make_size_error(what)
        if isinstance(value, dict):
            left += [(each, depth + 1) for each in value.values()]
        elif isinstance(value, list | tuple):
            left += [(each, depth + 1) for each in value]


def _make_size_error(what: str) -> ConfigError:
    return ConfigError(
        f"{what} holds more than {_DEPTH_MAX} levels of tables and lists, or more than {_VALUES_MAX:,} values.",
        "Expected plain values; what a reference repeats counts each time.",
        "Keep data in a file that the program reads, and name that file in the configuration.",
    )


def _parse_text(suffix: str, text: str) -> Any:
    if suffix == ".toml":
        import tomllib

        return tomllib.loads(text)
    if suffix == ".json":
        return json.loads(text)
    if suffix in {".yaml", ".yml"}:
        import yaml

        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(str(error)) from error
    raise ValueError(f"the suffix {suffix!r} is none of .toml, .json, .yaml, .yml")


def parse_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Read ``key=value`` pairs; a value is typed as TOML types it, and is text otherwise."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise ConfigError(
                f"--set {pair!r} is not a key and a value.",
                "Expected key=value.",
                "For example: --set n=1000",
            )
        values[key.strip()] = parse_value(text)
    return values


def parse_value(text: str) -> Any:
    """Parse one value as TOML: ``1``, ``0.5``, ``true``, ``"text"``, ``[1, 2]``; else return the text."""
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def format_value(value: object) -> str | None:
    """Write a value as TOML, on one line of printable characters.

    Returns:
        None for a long value, and where ``parse_value`` would read another value or type: TOML has no None, bytes, tuples
        or arrays.
    """
    try:
        encoded = encode(value)
        if len(encoded) > _WRITTEN_BYTES_MAX:
            return None
        text = _write_toml(value)
        return text if encode(parse_value(text)) == encoded else None
    # Python reads and writes no integer of more than some thousand digits.
    except (TypeError, ValueError, RecursionError):
        return None


def _write_toml(value: Any) -> str:
    if isinstance(value, dict):
        rows = (f"{_write_toml(key)} = {_write_toml(each)}" for key, each in value.items())
        return f"{{{', '.join(rows)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_write_toml, value))}]"
    if isinstance(value, float):
        return repr(value)
    # JSON and TOML write the rest alike, but TOML escapes no character as two surrogates.
    text = json.dumps(value, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in text)


def refuse_unread(keys: Iterable[str], record: object) -> None:
    """Refuse keys that were given to a program that completed, and that it never read: E-CONFIG-003."""
    if named := ", ".join(keys):
        raise ConfigKeyUnused(
            f"The program never read the configuration key {named}.",
            "Expected every key that is given to be one that the program knows.",
            f"Check the spelling. The record {record} is complete and says so.",
            keys=named,
        )


def format_settings(values: Mapping[str, Any]) -> list[str]:
    """Write values as ``key=value`` each, by key; ``parse_settings`` reads all but tables back."""
    return [
        f"{key}={value}"
        if isinstance(value, str) and parse_value(value) == value
        else f"{key}={json.dumps(value, default=str)}"
        for key, value in sorted(values.items())
    ]
