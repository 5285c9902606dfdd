"""A project's own values, looked for as they are: ids of logs, hashes, seeds, names.

Short values (under six characters), and of logs single words in letters alone, would be found everywhere and are left
out; how many were is told. The file name of an asset says nothing of its making, so the copy that players get may keep
it.

Invariant: a value is compared in lower case and whole, never as a part of a longer word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from twice.assets.errors import LeaksRefused
from twice.assets.leaks.text import Keywords, merge_spans
from twice.assets.log.block import EXCUSE
from twice.assets.log.fields import FIELDS
from twice.assets.log.kinds import DIGEST, SEED, SHA256, SettingKind, TextKind

_VALUE_MIN: Final = 6  # characters
_PHRASE_MAX: Final = 120  # bytes of a longer text that are looked for, up to the end of a word
_FILE_MAX: Final = 64 << 20
_PLAIN: Final = re.compile(r"[^\W\d_]{1,40}")
SHARED: Final = (
    "/created", "/producer", "/promise", "/provider/name", "/environment", "/asset/file", "/asset/media_type", "/asset/payload/method", "/asset/measured",
    "/model/version", "/model/adapters/*/version", "/seed/each/*/step",
    "/art/prompt_version", "/art/aspect_ratio", "/art/sampler", "/art/scheduler", "/art/dtype",
    "/art/attention", "/art/rng_device", "/art/post", "/art/settings",
    "/audio/text", "/audio/source/version", "/audio/daw/name", "/audio/daw/version", "/audio/key",
    "/audio/time_signature", "/audio/chain/*/name", "/audio/chain/*/format",
    "/audio/chain/*/version", "/audio/chain/*/settings", "/audio/chain/*/track", "/audio/dither",
    "/audio/export", "/recipe/argv", "/recipe/env", "/recipe/output",
    "/evidence/*/file", "/evidence/*/chunk", "/evidence/*/who", "/evidence/*/when",
    "/verdicts/*/when", "/verdicts/*/reason",
)  # fmt: skip
"""Texts of a log that others have as well, or that players may see: a role, a version, a spoken line.

Seeds and digests below them are a project's own all the same. Every other text of a log is looked for.
"""


class KnownValues:
    """What is looked for literally.

    Args:
        values: in lower case, and what each is.
        short: how many values were left out because any text may have them.
    """

    def __init__(self, values: Mapping[bytes, str], short: int = 0) -> None:
        self.short = short
        self._by_word: dict[bytes, list[tuple[bytes, str]]] = {}
        for value, what in values.items():
            self._by_word.setdefault(max(value.split(), key=len), []).append((value, what))
        self._words = Keywords(self._by_word)

    def find(self, lowered: bytes) -> Iterator[tuple[tuple[int, int], str]]:
        """Yield where a value begins and ends in a text in lower case, and what it is."""
        for word, places in self._words.find(lowered).items() if self._by_word else ():
            for value, what in self._by_word[word]:
                said = rb"\s+".join(map(re.escape, value.split()))
                pattern = re.compile(rb"(?<![\w-])%s(?![\w-])" % said)
                reach = 2 * len(value)  # More than its length, for blanks and line ends.
                for start, end in merge_spans((at - reach, at + reach) for at in places):
                    for found in pattern.finditer(lowered, start, end):
                        yield found.span(), what


NOTHING: Final = KnownValues({})


def load_known_values(files: list[Path], folders: list[Path]) -> KnownValues:
    """Collect the values of files (one a line, or JSON) and of all JSON logs below folders.

    Raises:
        LeaksRefused: E-LEAKS-001, a file cannot be read, or is not text.
    """
    found = [each for path in files for each in _read_file(path)]
    if files and not found:
        raise _refuse_empty(files[0], "value")
    assets: set[object] = set()
    for folder in folders:
        if not folder.is_dir():
            raise LeaksRefused(
                f"{folder} is no folder of logs.",
                "Expected a folder with determinism logs.",
                "Name the hot store: twice asset leaks build --logs hot",
            )
        logs = sorted(folder.rglob("*.json"))
        if not logs:
            raise _refuse_empty(folder, "log")
        for path in logs:
            log = _read_json(path)
            asset = log.get("asset") if isinstance(log, dict) else None
            assets.add(asset.get("file") if isinstance(asset, dict) else None)
            found += _read_log(log, path.name)
    values: dict[bytes, str] = {}
    short = 0
    for value, what in dict(reversed(found)).items():  # Of equal values the first counts.
        if value.rpartition("/")[2] in assets:
            continue
        plain = " ".join(value.split()).lower().encode("utf-8", "replace")
        if len(plain) < _VALUE_MIN:
            short += 1
            continue
        if len(plain) > _PHRASE_MAX:
            plain = plain[:_PHRASE_MAX].rpartition(b" ")[0] or plain
        values[plain] = what
    return KnownValues(values, short)


def _refuse_empty(path: Path, what: str) -> LeaksRefused:
    return LeaksRefused(
        f"There is no {what} in {path}: nothing would be looked for.",
        "Expected at least one.",
        "Name another one: twice asset leaks build --known values.txt --logs hot",
    )


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > _FILE_MAX:
            why = f"it is larger than {_FILE_MAX >> 20} MiB"
        else:
            return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        why = error.strerror or str(error)
    except UnicodeDecodeError:
        why = "it is no UTF-8 text"
    raise LeaksRefused(
        f"{path} cannot be read: {why}.",
        "Expected a text with one value a line, or JSON.",
        "Name a file that can be read: twice asset leaks build --known values.txt",
    )


def _read_json(path: Path) -> object:
    try:
        return json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise LeaksRefused(
            f"{path} is no JSON: {error}.",
            "Expected a log as JSON.",
            f"Mend it, or move it out of the way: {path}",
        ) from error


def _read_file(path: Path) -> Iterator[tuple[str, str]]:
    if path.suffix == ".json":
        data = _read_json(path)
        is_log = isinstance(data, dict) and str(data.get("format", "")).startswith("twice.")
        yield from _read_log(data, path.name) if is_log else _list_values(data, path.name)
        return
    for line in _read_text(path).splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip(), path.name


def _list_values(data: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield every text and number of a JSON document that is no log."""
    if isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from _list_values(each, where)
    elif data is not None and not isinstance(data, bool):
        yield str(data), where


def _read_log(log: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield the telling values of a log, each with what it is."""
    for pointer, value in _walk(log, ""):
        what = f"{pointer[1:].replace('/', ' ')} of {where}"
        # Any text may have a plain word, as it has a short one.
        yield (value[: _VALUE_MIN - 1] if _PLAIN.fullmatch(value) else value), what
        if value.startswith("sha256:"):
            yield value.removeprefix("sha256:"), what


def _walk(data: object, at: str) -> Iterator[tuple[str, str]]:
    """Yield the pointer and value of each text that is looked for, as far as a document has the fields of a log."""
    if isinstance(data, dict) and EXCUSE not in data:
        for name, value in data.items():
            below = f"{at}/{name}"
            yield from _walk(value, below if below in FIELDS else f"{at}/*")
    elif isinstance(data, list):
        for value in data:
            yield from _walk(value, f"{at}/*")
    elif isinstance(data, str | int) and not isinstance(data, bool) and at in FIELDS:
        kind = FIELDS[at].shape
        is_shared = any(at == each or at.startswith(f"{each}/") for each in SHARED)
        is_text = isinstance(kind, TextKind | SettingKind)
        if kind in (SEED, SHA256, DIGEST) or (is_text and not is_shared):
            yield at, str(data)
