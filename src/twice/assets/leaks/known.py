"""A project's own values, looked for as they are: ids of logs, hashes, seeds, names.

Values of one word are looked up among the words of a text, so that a thousand logs cost as much as one. Short ones
(under six characters) would be found everywhere and are left out; how many were is told. The file name of an asset
says nothing of its making, so the copy that players get may keep it.

Invariant: a value is compared in lower case and whole, never as a part of a longer word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from twice.errors import LeaksRefused

SHORTEST: Final = 6
_WORD: Final = re.compile(rb"[\w-]{6,256}")
_LONG_WORD: Final = re.compile(rb"[\w./:@+-]{6,256}")
_LARGEST: Final = 64 << 20
_KEYS: Final = re.compile(
    r"^(?:.*_)?(?:log_?id|id|seed|requested|effective|sha256|digest|hash|name|voice_?id|preset|prompt|negative_?prompt|nonce|path|"
    r"project|request_id|payload|file|instrument_library)$",
    re.IGNORECASE,
)
_COMMON: Final = frozenset(
    {"deterministic", "non-deterministic", "unknown", "recorded", "declared", "imported"}
)


@dataclass(frozen=True, slots=True)
class Known:
    """What is looked for literally.

    Args:
        words: values of one word, in lower case, and what each is.
        phrases: values of several words, likewise.
        short: how many values were left out because they are too short.
    """

    words: dict[bytes, str]
    phrases: dict[bytes, str]
    short: int = 0

    def matches(self, lowered: bytes) -> Iterator[tuple[int, bytes, str]]:
        """Where a value stands in a text in lower case: offset, value, what it is."""
        if self.words:
            for pattern in (_WORD, _LONG_WORD):
                for found in pattern.finditer(lowered):
                    word = found[0] if pattern is _WORD else found[0].rstrip(b".:/")
                    what = self.words.get(word)
                    if what is not None and (pattern is _WORD or not word.isalnum()):
                        yield found.start(), word, what
        for phrase, what in self.phrases.items():
            at = lowered.find(phrase)
            while at >= 0:
                yield at, phrase, what
                at = lowered.find(phrase, at + len(phrase))


NOTHING: Final = Known({}, {})


def gathered(files: list[Path], folders: list[Path]) -> Known:
    """The values of files (one a line, or JSON) and of all JSON logs below folders.

    Raises:
        LeaksRefused: E-LEAKS-001, a file cannot be read, or is no text.
    """
    found: dict[str, str] = {}
    assets: set[str] = set()
    for path in files:
        for value, what in _from_file(path):
            found.setdefault(value, what)
    for folder in folders:
        if not folder.is_dir():
            raise LeaksRefused(
                f"{folder} is no folder of logs.",
                "Expected a folder with determinism logs.",
                "Name the hot store: twice asset leaks build --logs hot/logs",
            )
        for path in sorted(folder.rglob("*.json")):
            log = _json(path)
            assets |= _asset(log)
            for value, what in _values(log, path.name, ""):
                found.setdefault(value, what)
    words, phrases, short = {}, {}, 0
    for value, what in found.items():
        if value.rpartition("/")[2] in assets:
            continue
        plain = " ".join(value.split()).lower().encode("utf-8", "replace")
        if len(plain) < SHORTEST:
            short += 1
        elif _LONG_WORD.fullmatch(plain):
            words[plain] = what
        else:
            phrases[plain[:120]] = what
    return Known(words, phrases, short)


def _read(path: Path) -> str:
    why = ""
    try:
        text = path.read_text(encoding="utf-8") if path.stat().st_size <= _LARGEST else ""
        why = "" if text or path.stat().st_size == 0 else f"it is larger than {_LARGEST >> 20} MiB"
    except OSError as error:
        why = error.strerror or str(error)
    except UnicodeDecodeError:
        why = "it is no UTF-8 text"
    if why:
        raise LeaksRefused(
            f"{path} cannot be read: {why}.",
            "Expected a text with one value a line, or JSON.",
            "Name a file that can be read: twice asset leaks build --known values.txt",
        )
    return text


def _json(path: Path) -> object:
    try:
        return json.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise LeaksRefused(
            f"{path} is no JSON: {error}.",
            "Expected a log as JSON.",
            f"Mend it, or move it out of the way: {path}",
        ) from error


def _from_file(path: Path) -> Iterator[tuple[str, str]]:
    if path.suffix == ".json":
        data = _json(path)
        listed = data if isinstance(data, list) else None
        if listed is not None and all(isinstance(each, str | int) for each in listed):
            yield from ((str(each), path.name) for each in listed)
        else:
            yield from _values(data, path.name, "")
        return
    for line in _read(path).splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip(), path.name


def _asset(log: object) -> set[str]:
    """The name of the file that a log is about."""
    asset = log.get("asset") if isinstance(log, dict) else None
    name = asset.get("file") if isinstance(asset, dict) else None
    return {name} if isinstance(name, str) else set()


def _values(data: object, where: str, key: str) -> Iterator[tuple[str, str]]:
    """The telling values of a log: those of keys that name something of its own."""
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _values(value, where, str(name))
    elif isinstance(data, list):
        for value in data:
            yield from _values(value, where, key)
    elif isinstance(data, str | int) and not isinstance(data, bool) and _KEYS.match(key):
        text = str(data)
        what = f"{key} of {where}"
        if text.lower() in _COMMON:
            return
        yield text, what
        if text.startswith("sha256:"):
            yield text.removeprefix("sha256:"), what
