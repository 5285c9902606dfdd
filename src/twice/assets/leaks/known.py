"""A project's own values, looked for as they are: ids of logs, hashes, seeds, names.

Which fields of a log name something of its own is taken from the log's model. Values without blanks are looked up among
the words of a text, so that a thousand logs cost as much as one. Short ones (under six characters), and of logs single
words in letters alone, would be found everywhere and are left out; how many were is told.
The file name of an asset says nothing of its making, so the copy that players get may keep it.

Invariant: a value is compared in lower case and whole, never as a part of a longer word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from twice.assets.errors import LeaksRefused
from twice.assets.log.block import EXCUSE
from twice.assets.log.fields import FIELDS
from twice.assets.log.kinds import DIGEST, SEED, SHA256, SettingKind, TextKind

SHORTEST: Final = 6
_WORD: Final = re.compile(rb"[\w-]{6,256}")
_LONG_WORD: Final = re.compile(rb"[\w./:@+-]{6,256}")
_LARGEST: Final = 64 << 20
_PLAIN: Final = re.compile(r"[^\W\d_]{1,40}")
_OWN_KINDS: Final = (SEED, SHA256, DIGEST)
SHARED: Final = (
    "/created", "/producer", "/promise", "/provider/name", "/environment",
    "/asset/file", "/asset/media_type", "/asset/payload/method", "/asset/measured",
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

Seeds and digests below them are a project's own all the same. Every other text of the model is looked for.
"""


@dataclass(frozen=True, slots=True)
class Known:
    """What is looked for literally.

    Args:
        words: values of one word, in lower case, and what each is.
        phrases: values of several words, likewise.
        short: how many values were left out because any text may have them.
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
    """Collect the values of files (one a line, or JSON) and of all JSON logs below folders.

    Raises:
        LeaksRefused: E-LEAKS-001, a file cannot be read, or is not text.
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
                "Name the hot store: twice asset leaks build --logs hot",
            )
        for path in sorted(folder.rglob("*.json")):
            log = _json(path)
            assets |= _asset(log)
            for value, what in _values(log, path.name):
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
            yield from _values(data, path.name)
        return
    for line in _read(path).splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip(), path.name


def _asset(log: object) -> set[str]:
    """Return the name of the file that a log is about."""
    asset = log.get("asset") if isinstance(log, dict) else None
    name = asset.get("file") if isinstance(asset, dict) else None
    return {name} if isinstance(name, str) else set()


def _values(data: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield the telling values of a log, as far as a document has the fields of a log."""
    for pointer, value in _telling(data, ""):
        what = f"{pointer[1:].replace('/', ' ')} of {where}"
        is_plain = (
            _PLAIN.fullmatch(value) is not None
        )  # Any text may have it, as it has a short one.
        yield (value[: SHORTEST - 1] if is_plain else value), what
        if value.startswith("sha256:"):
            yield value.removeprefix("sha256:"), what


def _telling(data: object, at: str) -> Iterator[tuple[str, str]]:
    """Pointer and value of each text that is looked for, as far as a document has the fields of a log."""
    if isinstance(data, dict) and EXCUSE not in data:
        for name, value in data.items():
            below = f"{at}/{name}"
            yield from _telling(value, below if below in FIELDS else f"{at}/*")
    elif isinstance(data, list):
        for value in data:
            yield from _telling(value, f"{at}/*")
    elif isinstance(data, str | int) and not isinstance(data, bool) and at in FIELDS:
        kind = FIELDS[at].shape
        is_shared = any(at == each or at.startswith(f"{each}/") for each in SHARED)
        is_text = isinstance(kind, TextKind | SettingKind)
        if kind in _OWN_KINDS or (is_text and not is_shared):
            yield at, str(data)
