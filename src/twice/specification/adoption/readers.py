"""Readers of answers: from the words of one answer to a value, where they leave no doubt.

A key's type decides how its answer is read, and some keys have a reader of their own. Doubt is never settled: another
value in the same answer, a "not", an "or", a condition, a "later", a unit all make the value unclear, with the reason.

Invariant: a reader returns a value or raises ``Unclear``; it never falls back to a likely one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from twice.specification.adoption.labels import LETTERS, WORDS
from twice.specification.adoption.prose import Answer
from twice.specification.front_matter import Scalar, Value
from twice.specification.schema import Item

CODE: Final = re.compile(r"`([^`]+)`")
_LEAD_END: Final = re.compile(r"[.;:!?](?=\s|$)| [—\u2013-] ")
_TURNING: Final = re.compile(
    r"\b(?:not|no|never|without|none|neither|nor|cannot|instead of|rather than|either|if|when|where|while|until)\b|n't\b"
    # "only" restricts in front of a place or at an end; "the only input" restricts nothing.
    r"|\bonly(?= (?:in|on|for|with|under|at|by|within)\b|\s*(?:$|[,.;)]))",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:but|except|unless|tbd|todo|to be decided|undecided|not decided|not yet|for now|later|probably|maybe|"
    r"perhaps|might|somehow|unclear|unknown|planned|eventually|minus|excluding|apart from|not settled|not final|"
    r"proposal|disputed)\b|~~|\?\?|\?$",
    re.IGNORECASE,
)
OPEN_TEXT: Final = re.compile(
    r"\b(?:tbd|todo|to be decided|undecided|not decided|somehow|unclear|unknown)\b|^[\s?.…—\u2013-]*$|\?\?|~~",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"(?<![\w.^/-])(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w^]|\.\d|[ ]*[%\u00d7*^⁻/]|,\d)"
)
_DIGIT: Final = re.compile(r"\d")
_BESIDE_NUMBERS: Final = frozenset(
    [
        "at",
        "most",
        "max",
        "abs",
        "rel",
        "ulp",
        "ulps",
        "absolute",
        "relative",
        "distance",
        "seeds",
        "runs",
        "samples",
    ]
)
_PROGRAM: Final = re.compile(r"[\w./-]+:[A-Za-z_][\w.]*")
_LETTER: Final = re.compile(r"([A-C])(?=\s*(?:$|[(:,.—\u2013-]))")
_EVERY: Final = re.compile(r"\bevery (\d+) ticks?\b", re.IGNORECASE)
_ALL: Final = re.compile(r"\b(?:full canonical state|all components)\b", re.IGNORECASE)


class Unclear(Exception):
    """An answer that does not say one thing; ``says_nothing`` where it does not speak of the value at all."""

    def __init__(self, why: str, *, says_nothing: bool = False) -> None:
        super().__init__(why)
        self.says_nothing = says_nothing


def shorten(value: object) -> str:
    """Return a value for a reason, not longer than a line."""
    said = value if isinstance(value, str) else repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."


def _join(answer: Answer) -> str:
    """Return all text of an answer, without its marks."""
    text = " ".join([*answer.texts, *answer.items])
    return " ".join(re.sub(r"[*_`]{1,3}(?=\W|$)|(?<!\w)[*_`]{1,3}", "", text).split())


def _lead(text: str) -> str:
    """Return the words before the first stop, which are the answer; an explanation follows them."""
    return _LEAD_END.split(text, maxsplit=1)[0]


def _refuse_doubt(text: str, turning: re.Pattern[str] | None = _TURNING) -> None:
    found = _OPEN.search(text) or (turning and turning.search(_lead(text)))
    if found:
        raise Unclear(f"{found[0]!r} leaves it open: {shorten(text)}")


def _find_values(text: str, values: Sequence[str], key: str = "") -> tuple[list[str], str]:
    """Return which of some closed values a text names, in its order, each once, and the text without their names."""
    phrases = {
        phrase if phrase.isupper() else phrase.replace("-", " "): value
        for value in values
        for phrase in (value, *WORDS.get(value, ()))
    }
    letters = LETTERS.get(key, {})
    letter = _LETTER.match(text)
    found = [letters[letter[1]]] if letter and letter[1] in letters else []
    # Capitals alone are letters of a list: "s" is no tier.
    longest = sorted(phrases, key=lambda each: (-len(each), each))
    either = "|".join(re.escape(e) if e.isupper() else f"(?i:{re.escape(e)})" for e in longest)
    pattern, plain = (
        re.compile(rf"(?<![\w'\u2019])(?:{either})(?=s?(?!\w))"),
        text.replace("-", " "),
    )
    found += [phrases.get(each) or phrases[each.lower()] for each in pattern.findall(plain)]
    return [*dict.fromkeys(found)], pattern.sub("", plain)


def read_word(text: str, values: Sequence[str], key: str) -> str:
    """Return the one of some closed values that a text says; ``key`` or a column's name has letters for them.

    Raises:
        Unclear: it says none or several, or leaves it open.
    """
    found, rest = _find_values(text, values, key)
    if not found:
        raise Unclear(f"it says none of {', '.join(values)}: {shorten(text)}", says_nothing=True)
    if len(found) > 1:
        raise Unclear(f"it says {' and '.join(found)}: {shorten(text)}")
    _refuse_doubt(rest)
    if not _find_values(_lead(text), values, key)[0] or re.search(r"\bor\b", _lead(rest)):
        raise Unclear(f"it says {found[0]} beside something else: {shorten(text)}")
    return found[0]


def read_flag(text: str) -> bool:
    """Return whether a text says yes.

    Raises:
        Unclear: it says neither yes nor no, or takes it back.
    """
    said = re.match(r"(?:(yes|true)|(no|false))(?=\s*(?:$|[,.;:(—\u2013-]))", text, re.IGNORECASE)
    if said is None:
        raise Unclear(f"it says neither yes nor no: {shorten(text)}", says_nothing=True)
    _refuse_doubt(text[said.end() :], _TURNING if said[1] else None)
    return bool(said[1])


def _read_one_number(text: str) -> str:
    """Return the number in the lead of an answer, if every digit in it belongs to it."""
    lead = re.split(
        r"[;:!?](?=\s|$)|\.(?=\s|$)| [—\u2013] ", text.replace("\u2212", "-"), maxsplit=1
    )[0]
    _refuse_doubt(text)
    found = _NUMBER.findall(lead)
    if not found or _DIGIT.search(_NUMBER.sub(" ", lead)):
        raise Unclear(f"it has no number that can only be read in one way: {shorten(text)}")
    beside = set(re.findall(r"[A-Za-z]+", _NUMBER.sub(" ", lead).lower())) - _BESIDE_NUMBERS
    if beside and len(found) == 1:
        raise Unclear(f"it says more than the number: {shorten(text)}")
    numbers: list[str] = [*dict.fromkeys(found)]
    if len(numbers) > 1:
        raise Unclear(f"it says {' and '.join(numbers)}: {shorten(text)}")
    return numbers[0]


def read_whole(text: str) -> int:
    """Return the one whole number that a text says.

    Raises:
        Unclear: it says another number of numbers.
    """
    said = _read_one_number(text)
    if not said.isdecimal():
        raise Unclear(f"{said} is no whole number")
    return int(said)


def _read_text(answer: Answer) -> str:
    if len(answer.texts) != 1 or answer.items or answer.tables or answer.has_code:
        raise Unclear("the answer has several parts, and the key holds one text")
    text = answer.texts[0]
    if found := OPEN_TEXT.search(text):
        raise Unclear(f"{found[0]!r} leaves it open: {shorten(text)}")
    return text


def _read_codes(answer: Answer) -> list[Scalar]:
    text = " ".join([*answer.texts, *answer.items])
    found = CODE.findall(text)
    if not found:
        raise Unclear(f"it names nothing in backticks: {shorten(text)}", says_nothing=True)
    _refuse_doubt(CODE.sub("", text))
    return [*dict.fromkeys(found)]


def _read_config(answer: Answer) -> list[Scalar]:
    found = _read_codes(answer)
    for each in found:
        if not re.fullmatch(r"[^=\s]+=.+", str(each)):
            raise Unclear(f"{shorten(each)} is no key=value")
    return found


def _read_items(answer: Answer) -> list[Scalar]:
    if not answer.items:
        raise Unclear("it is no list", says_nothing=True)
    for each in answer.items:
        if found := OPEN_TEXT.search(each):
            raise Unclear(f"{found[0]!r} leaves it open: {shorten(each)}")
    return [*answer.items]


def _make_code_reader(pattern: re.Pattern[str]) -> Callable[[Answer], str]:
    def read(answer: Answer) -> str:
        text = " ".join(answer.texts)
        named: list[str] = CODE.findall(text) or [text.strip()]
        found = [each for each in named if pattern.fullmatch(each)]
        if len(found) != 1:
            raise Unclear(f"it does not name one: {shorten(text)}")
        return found[0]

    return read


def _read_own_words(_: Answer) -> str:
    raise Unclear("twice words this sentence itself, once class and scope are decided")


def _read_cadence(answer: Answer) -> str:
    text = _join(answer)
    every = _EVERY.findall(text)
    words, _ = _find_values(_EVERY.sub(" ", text), ("tick", "decision", "episode", "none"))
    if len(every) + len(words) > 1:
        raise Unclear(f"it says several: {shorten(text)}")
    if every:
        _refuse_doubt(text)
        return f"every={every[0]}"
    return read_word(text, ("tick", "decision", "episode", "none"), "cadence")


def _read_projection(answer: Answer) -> list[Scalar]:
    text = _join(answer)
    if _ALL.search(text):
        _refuse_doubt(text)
        return ["*"]
    return _read_codes(answer)


def _read_threads(answer: Answer) -> int:
    caps = [
        *dict.fromkeys(
            re.findall(r"_NUM_THREADS`?\s*=\s*(\d+)", " ".join([*answer.texts, *answer.items]))
        )
    ]
    if len(caps) == 1:
        return int(caps[0])
    if caps:
        raise Unclear(f"it says {' and '.join(caps)}")
    return read_whole(_join(answer))


def _read_percent(answer: Answer) -> int:
    text = _join(answer)
    _refuse_doubt(text)
    found = re.fullmatch(r"(?:at most )?(\d+) ?(?:%|percent)\.?", text)
    if found is None:
        raise Unclear(f"it is no percentage alone: {shorten(text)}")
    return int(found[1])


def _read_version(answer: Answer) -> str:
    text = _join(answer)
    found = re.fullmatch(r"v?(\d+\.\d+\.\d+)", text)
    if found is None:
        raise Unclear(f"it is no version of three numbers: {shorten(text)}")
    return found[1]


_BY_KEY: Final[Mapping[str, Callable[[Answer], Value]]] = {
    "program": _make_code_reader(_PROGRAM),
    "summary": _make_code_reader(re.compile(r"[\w./-]+")),
    "vector": _make_code_reader(re.compile(r"\S+\.twice")),
    "database": _make_code_reader(re.compile(r"[\w./-]+")),
    "audit_encoding": _make_code_reader(re.compile(r"\S+")),
    "config": _read_config,
    "predicate": _read_own_words,
    "goals": _read_items,
    "out_of_scope": _read_items,
    "cadence": _read_cadence,
    "projection": _read_projection,
    "threads": _read_threads,
    "budget_percent": _read_percent,
    "version": _read_version,
}
"""Keys whose answers are not read by their type alone."""


def choose_reader(item: Item) -> Callable[[Answer], Value]:
    """Return the reader of a key that holds no table."""
    held = item.type
    if item.key in _BY_KEY:
        return _BY_KEY[item.key]
    words = held.words
    if isinstance(held.example, bool):
        return lambda answer: read_flag(_join(answer))
    if isinstance(held.example, int):
        return lambda answer: read_whole(_join(answer))
    if held.is_list and words:
        return lambda answer: _read_word_list(answer, words, item.key)
    if held.is_list:
        return _read_codes
    if words:
        return lambda answer: read_word(_join(answer), words, item.key)
    if held.accepts("1e-6") and not held.accepts("in words"):
        return lambda answer: _read_one_number(_join(answer))
    return _read_text


def _read_word_list(answer: Answer, values: Sequence[str], key: str) -> list[Scalar]:
    text = _join(answer)
    found, rest = _find_values(text, values)
    if not found:
        raise Unclear(f"it says none of {', '.join(values)}: {shorten(text)}", says_nothing=True)
    outside, _ = _find_values(CODE.sub(" ", " ".join([*answer.texts, *answer.items])), values)
    if outside and outside != found:
        raise Unclear(f"a name in backticks says more than the words: {shorten(text)}")
    _refuse_doubt(rest)
    # Places can be alternatives of one system; everything else is one or the other.
    turned = _TURNING.search(rest) or (key != "surface" and re.search(r"\bor\b", rest))
    if turned:
        raise Unclear(f"{turned[0]!r} leaves it open: {shorten(text)}")
    return [*found]
