"""Secrets among the words of a command line: what follows ``--password``, headers and URLs in words.

For the program's own arguments, which a replay gives it again, and for the commands of the processes
that it starts, which are compared.

Not covered: options that do not say what they hold (``-p secret``), secrets that a shell puts together.

Invariant: as many words come back, each as long as it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from twice.recorder.redaction.mask import Span, blank, blanked
from twice.recorder.redaction.names import judged, looks_like_credential
from twice.recorder.redaction.places import also_known, places

_IN_SHELL = re.compile(
    rb"(?:^|(?<=\s))--?(?P<name>[A-Za-z][\w-]*)[ \t]+(?:\"(?P<a>[^\"]*)\"|'(?P<b>[^']*)'|(?P<c>[^\s\"'-]\S*))"
)
Values = list[tuple[bytes, str]]
"""Secrets that were found, with the rules that found them."""


def words_blanked(words: Sequence[bytes], rule: str, *, given: bool) -> tuple[list[bytes], Values]:
    """Return the words of a command with secrets blanked, and the secrets.

    Args:
        words: the command, word by word.
        rule: the rule to name for what follows an option.
        given: whether the program is given these words, so that a replay gives them blanked.
    """
    found: list[bytes] = []
    values: Values = []
    option = b""
    for word in words:
        spans: list[Span]
        if option and not word.startswith(b"-") and _is_secret(option, word, given=given):
            spans = [(0, len(word), rule)]
            values.append((word, rule))
        else:
            spans, more = _inside(word, given=given)
            values += more
        found.append(blanked(word, spans)[0])
        option = word.lstrip(b"-") if word.startswith(b"-") and b"=" not in word else b""
    return found, values


def line_blanked(line: bytes, rule: str) -> tuple[bytes, Values]:
    """Blank the secrets of a command in one line, as a shell reads it; return them, too."""
    spans, values = _inside(line, given=False)
    for match in _IN_SHELL.finditer(line):
        group = next(name for name in ("a", "b", "c") if match[name] is not None)
        if judged(match["name"]) != "no" and match[group]:
            spans.append((*match.span(group), rule))
            values.append((match[group], rule))
    return blanked(line, spans)[0], values


def _inside(word: bytes, *, given: bool) -> tuple[list[Span], Values]:
    spans: list[Span] = []
    values: Values = []
    for one in places(word, given=given):
        span = (one.begin, one.end, one.rule)
        if not blank(word, span):
            spans.append(span)
            values += [(value, one.rule) for value in also_known(word, one)]
    return spans, values


def _is_secret(option: bytes, word: bytes, *, given: bool) -> bool:
    judgement = judged(option)
    return judgement == "clear" or (
        judgement == "likely" and (not given or looks_like_credential(word))
    )
