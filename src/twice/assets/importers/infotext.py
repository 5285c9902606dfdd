"""The text that AUTOMATIC1111 and Forge put beside a picture, taken apart.

A prompt of any number of lines, lines after ``Negative prompt:``, and one line of ``Key: value`` pairs
that begins with ``Steps:`` and comes last. Values with a comma, a colon or a line break are quoted as
JSON does it; a bare word is a key that is set. It takes text apart and gives nothing a meaning.

Source: ``create_infotext`` and ``parse_generation_parameters`` of stable-diffusion-webui.

Invariant: text that fits more than one reading is marked so (``prompts``), never silently split.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from twice.foundation.printable import pluralize

TEXT_MAX: Final = 4 << 20
PAIRS_MAX: Final = 512
_PAIRS_LEAST: Final = 3
"""What the writer's own reader asks of a last line, before it takes it for parameters."""
NEGATIVE = "Negative prompt:"
_KEY = re.compile(r"\s*([^\s:,\"][^:,\"\n]{0,79}?)\s*(:|,|$)")
_QUOTED = re.compile(r'\s*("(?:[^"\\]|\\.)*+")\s*(?=,|$)', re.DOTALL)
_PLAIN = re.compile(r"[^,]*")
_LAST_LINE = re.compile(r"Steps:\s*[0-9]+\s*(?:,|$)")
_LAST_LINE_KEYS = (
    "Sampler:",
    "Seed:",
    "CFG scale:",
    "Size:",
    "Model:",
    "Model hash:",
    "Schedule type:",
)


class InfotextRefused(ValueError):
    """A text is not an infotext; the message says why."""


@dataclass(frozen=True, slots=True)
class Infotext:
    """One infotext in its parts.

    Args:
        prompts: each reading of (prompt, negative prompt); one, unless the text fits several.
        pairs: keys and values in order; a bare word has the value ``True``.
        rest: lines after the parameters, which extensions add.
        broken: places in the parameters that fit no rule, with the reason.
    """

    prompts: tuple[tuple[str, str], ...]
    pairs: tuple[tuple[str, str | bool], ...]
    rest: str
    broken: tuple[tuple[str, str], ...]


def taken_apart(text: str) -> Infotext:
    """Take an infotext apart.

    Raises:
        InfotextRefused: it is too long, or no line holds parameters, or several lines could.
    """
    if len(text) > TEXT_MAX:
        raise InfotextRefused(f"it is longer than {TEXT_MAX} characters")
    lines = text.replace("\r\n", "\n").strip().split("\n")
    at = _parameters_at(lines)
    pairs: list[tuple[str, str | bool]] = []
    broken: list[tuple[str, str]] = []
    for key, value, trouble in tokens(lines[at]):
        if trouble:
            broken.append((key, trouble))
        elif len(pairs) == PAIRS_MAX:
            broken.append((key, f"it is beyond the {PAIRS_MAX} pairs that are read"))
            break
        else:
            pairs.append((key, value))
    rest = "\n".join(lines[at + 1 :]).strip()
    return Infotext(tuple(_prompts(lines[:at])), tuple(pairs), rest, tuple(broken))


def _parameters_at(lines: list[str]) -> int:
    fitting = [at for at, line in enumerate(lines) if _is_parameters(line)]
    last = len(lines) - 1
    if last in fitting and (len(fitting) == 1 or len(list(tokens(lines[last]))) >= _PAIRS_LEAST):
        return last  # The writer puts it last; what looks like it further up is part of a prompt.
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise InfotextRefused(
            f"{pluralize(len(fitting), 'line')} look like parameters, and the last line is not plainly the one"
        )
    raise InfotextRefused("no line begins with Steps: and holds parameters")


def _is_parameters(line: str) -> bool:
    stripped = line.strip()
    return bool(_LAST_LINE.match(stripped)) and any(key in stripped for key in _LAST_LINE_KEYS)


def _prompts(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Give every way to split the lines before the parameters into prompt and negative prompt."""
    starts = [at for at, line in enumerate(lines) if line.strip().startswith(NEGATIVE)]
    if not starts:
        yield "\n".join(lines).strip(), ""
    for start in starts[:16]:
        first = lines[start].strip().removeprefix(NEGATIVE)
        yield "\n".join(lines[:start]).strip(), "\n".join([first, *lines[start + 1 :]]).strip()


def tokens(line: str) -> Iterator[tuple[str, str | bool, str]]:
    """Give key, value and what is wrong with it (``""`` when nothing is) of each pair of a line."""
    at = 0
    while at < len(line):
        key = _KEY.match(line, at)
        if key is None:
            end = _after_comma(line, at)
            place = line[at:end].strip(" ,")
            if place:
                yield place[:80], "", "it is neither a key with a value nor a word"
            at = end
            continue
        if key[2] != ":":
            yield key[1], True, ""
            at = key.end()
            continue
        value, at, trouble = _value(line, key.end())
        yield key[1], value, trouble
    return


def _value(line: str, at: int) -> tuple[str, int, str]:
    """Give a value, where the next pair begins, and what is wrong with it."""
    quoted = _QUOTED.match(line, at)
    if quoted is not None:
        try:
            value = json.loads(quoted[1], strict=False)
        except ValueError:
            return "", quoted.end() + 1, "its quotes hold an escape that JSON does not have"
        return value, quoted.end() + 1, ""
    plain = _PLAIN.match(line, at)
    assert plain is not None, "anything up to the next comma is a plain value"
    value = plain[0].strip()
    if value.startswith('"'):
        return "", plain.end() + 1, "its quotes do not end before the next pair"
    return value, plain.end() + 1, ""


def _after_comma(line: str, at: int) -> int:
    comma = line.find(",", at)
    return len(line) if comma < 0 else comma + 1
