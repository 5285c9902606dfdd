"""Find secrets by their name, and by their place: behind the name of a header, a field or an option.

The words of a name decide. Some are clear (``password``, ``client_secret``). Others have innocent meanings (``key``,
``token``), and where a replay would give the program the stars, the value must look like a credential as well.

Covered by place: header lines of HTTP (of a cookie its value alone, of ``Authorization`` what follows the scheme), fields
of a query or a form, parts of a multipart form, members of a JSON document whose value is text,
elements of XML, the password in a URL, and in a command what follows ``--password``.

Not covered: compressed bodies, HTTP/2 (its headers are packed), numbers and lists in JSON, secrets under a
name that does not say so, options that do not say what they hold (``-p secret``), secrets that a shell puts
together. Those are known by their value or by a pattern, or not at all.

Invariant: what is found depends on the places and on the letters of the names, not on their case, and blanking it keeps
the form of the text.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from string import ascii_letters, digits
from typing import Final, Literal, NamedTuple

ARGUMENTS, HEADERS, COOKIE = "arguments", "headers", "cookies"
FIELDS, JSON, URLS = "fields", "json", "urls"
PLACED = (HEADERS, COOKIE, FIELDS, JSON, URLS)
"""Rules that look at a place in what passes a connection."""

Judgement = Literal["clear", "likely", "no"]

_STEMS: Final = (
    b"token", b"pass", b"secret", b"key", b"cred", b"pwd", b"auth", b"cookie", b"bearer", b"sig",
    b"jwt", b"session",
)  # fmt: skip
"""Text is looked through for these first: one stands in every name in it that is a secret's, in small letters."""

_WORDS = (
    r"[A-Z0-9]*(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|SECRET|APIKEY|CREDENTIAL)S?"
    r"|KEYS?|(?<=_)PWD|PASS|AUTH|COOKIE|BEARER|SIGNATURE|DSN"
)
# In a message these are secrets, too; a variable PWD is a folder, and SIG a signal.
_MESSAGE_WORDS = r"|AUTHORIZATION|SIG|JWT|PWD|SESSION_?ID|CREDENTIALS?"
_IN_VARIABLE = re.compile(rf"(?:^|_)(?:{_WORDS})(?:_|$)")
_IN_MESSAGE = re.compile(rf"(?:^|_)(?:{_WORDS}{_MESSAGE_WORDS})(?:_|$)")
_CLEAR = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|BEARER|COOKIE|CREDENTIAL"
    r"|AUTHORIZATION|SIGNATURE|JWT|SESSION_?ID|(?:ACCESS|REFRESH|ID|AUTH|SESSION|SECURITY)_?TOKEN"
)
_INNOCENT = frozenset(
    {
        "SEC_WEB_SOCKET_KEY", "SEC_WEBSOCKET_KEY", "IDEMPOTENCY_KEY", "SURROGATE_KEY", "CACHE_KEY", "X_CACHE_KEY",
        "PUBLIC_KEY", "PRIMARY_KEY", "FOREIGN_KEY", "MAX_TOKENS", "PROMPT_TOKENS",
        "COMPLETION_TOKENS", "TOTAL_TOKENS",
    }
)  # fmt: skip
_JOINT = re.compile(rb"(?<=[a-z0-9])(?=[A-Z])")
_CREDENTIAL = re.compile(rb"(?=[^0-9]*[0-9])(?=[^A-\xff]*[A-\xff])[^\0- ]{16,}")
"""What can hardly be a word: 16 bytes or more, no space, letters and digits."""

_NAME_MAX = 64
_NAME_BYTES = f"{ascii_letters}{digits}-_.[]".encode()
_NAME_END = re.compile(rb"[A-Za-z0-9_.\[\]-]{0,64}")
_HEADER = re.compile(rb"[ \t]*:[ \t]*(?P<value>[^\r\n]*)(?P<end>[\r\n])?")
_JSON = re.compile(rb'"\s*:\s*"(?P<value>(?:[^"\\]|\\[\s\S])*)(?P<end>")?')
_JSON_IN_JSON = re.compile(rb'\\"\s*:\s*\\"(?P<value>[^"\\]*)(?P<end>\\")?')
_FIELD = re.compile(rb"=(?P<value>[^&\s\"'<>#;,)]*)(?P<end>[&\s\"'<>#;,)])?")
_PART = re.compile(rb'"[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n(?P<value>[\s\S]*?)(?P<end>\r\n--)')
_ELEMENT = re.compile(rb"(?:\s[^<>]*)?>(?P<value>[^<]*)(?P<end><)?")
_OPENING = re.compile(rb"<(?:[A-Za-z_][\w.-]{0,40}:)?\Z")
_URL = re.compile(rb"://[^/\s:@\"'<>]{0,64}:(?P<value>[^/\s@\"'<>]+)@")
_SCHEME = re.compile(rb"[A-Za-z0-9-]+[ \t]+(?=\S)")
_COOKIE_VALUE = re.compile(rb'=[ \t]*"?([^;,"\s]*)')
_OPTION = re.compile(
    rb"(?:^|(?<=\s))--?(?P<name>[A-Za-z][\w-]*)[ \t]+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'-]\S*))"
)
_UNTIL_LINE = re.compile(rb"[\r\n]")
_UNTIL_QUOTE = re.compile(rb'["]')


def is_secret(name: str) -> bool:
    """Return whether a variable's name marks its value as secret (``API_KEY``, ``DB_PASSWORD``).

    Judged by the words of the name: ``PYTHON_KEYRING`` is not a key, ``GITHUBTOKEN`` is a token.
    """
    return _IN_VARIABLE.search(name.upper()) is not None


@lru_cache(maxsize=4096)
def judge(name: bytes) -> Judgement:
    """Judge whether a name in a message is a secret's: clearly, likely (its value must look so too), or not."""
    words = _JOINT.sub(b"_", name).decode("latin-1")
    plain = re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_").upper()
    if plain in _INNOCENT or not _IN_MESSAGE.search(plain):
        return "no"
    return "clear" if _CLEAR.search(plain) else "likely"


def is_secret_value(name: bytes, value: bytes, *, given: bool) -> bool:
    """Return whether a value behind a name is a secret.

    Args:
        name: what stands before the value.
        value: what may be the secret.
        given: whether the program is given the value, and a replay would give it blanked: a name with innocent
            meanings counts only where the value looks like a credential.
    """
    judgement = judge(name)
    if judgement == "likely" and given:
        return _CREDENTIAL.fullmatch(value) is not None
    return judgement != "no"


class PlacedSecret(NamedTuple):
    """One secret by its place: first byte, byte after the last, rule.

    Attributes:
        until: pattern of what ends it, when it goes on behind the data that there is; else None.
    """

    begin: int
    end: int
    rule: str
    until: re.Pattern[bytes] | None = None

    def values(self, data: bytes) -> Iterator[bytes]:
        """Yield the values to look for elsewhere."""
        value = data[self.begin : self.end]
        yield value
        before = data[max(0, self.begin - 6) : self.begin].lower()
        if self.rule == HEADERS and before == b"basic ":
            with suppress(ValueError):
                yield b64decode(value, validate=True).partition(b":")[2]


def find_fields(data: bytes, *, given: bool, line_start: bool = True) -> Iterator[PlacedSecret]:
    """Find secrets in text, by the names before them; ``given`` as for ``is_secret_value``."""
    if not any(sign in data for sign in (b":", b"=", b">")):
        return  # nothing stands behind a name
    small = data.lower()
    seen = -1
    for at in _find_stems(small):
        if at < seen:
            continue  # another stem of a name that was looked at
        before = data[max(0, at - _NAME_MAX) : at]
        begin = at - (len(before) - len(before.rstrip(_NAME_BYTES)))
        after = _NAME_END.match(data, at)
        seen = end = after.end() if after else at
        name = data[begin:end]
        if len(name) > _NAME_MAX or judge(name) == "no":
            continue
        for one in _find_behind(data, small, begin, end, line_start=line_start):
            value = data[one.begin : one.end]
            if value.strip() and is_secret_value(name, value, given=given):
                yield one
    if b"://" in data and b"@" in data:
        for match in _URL.finditer(data):
            yield PlacedSecret(*match.span("value"), URLS)


def find_in_words(words: Sequence[bytes], *, given: bool) -> Iterator[list[PlacedSecret]]:
    """Yield the secrets in each word of a command; ``given`` as for ``is_secret_value``."""
    option = b""
    for word in words:
        if option and not word.startswith(b"-") and is_secret_value(option, word, given=given):
            yield [PlacedSecret(0, len(word), ARGUMENTS)]
        else:
            yield [*find_fields(word, given=given)]
        option = word.lstrip(b"-") if word.startswith(b"-") and b"=" not in word else b""


def find_in_line(line: bytes) -> Iterator[PlacedSecret]:
    """Find the secrets of a command in one line, as a shell reads it."""
    yield from find_fields(line, given=False)
    for match in _OPTION.finditer(line):
        assert match.lastindex is not None, "an option is followed by one of three kinds of value"
        if is_secret_value(match["name"], match[match.lastindex], given=False):
            yield PlacedSecret(*match.span(match.lastindex), ARGUMENTS)


def remove_scheme(value: bytes) -> bytes:
    """Return the part of ``Authorization``'s value behind the scheme."""
    scheme = _SCHEME.match(value)
    return value[scheme.end() :] if scheme else value


def _find_stems(small: bytes) -> list[int]:
    found: list[int] = []
    for stem in _STEMS:  # one search for each is faster than one expression for all
        at = small.find(stem)
        while at >= 0:
            found.append(at)
            at = small.find(stem, at + len(stem))
    return sorted(found)


def _find_behind(
    data: bytes, small: bytes, begin: int, end: int, *, line_start: bool
) -> Iterator[PlacedSecret]:
    """Find the values behind a name, by the character that separates them."""
    follows = data[end : end + 1]
    before = data[begin - 1 : begin] if begin else b""
    if not follows:
        return
    if follows in b": \t" and (before == b"\n" or (not begin and line_start)):
        if (match := _HEADER.match(data, end)) is not None:
            yield from _find_in_header(data, small[begin:end], match)
    elif follows == b"=":
        if before == b"" or before in b"?&; \t\r\n\"'(,":
            match = _FIELD.match(data, end)
            assert match is not None, "an equals sign stands there"
            yield PlacedSecret(*match.span("value"), FIELDS)
    elif follows in b"> \r\n\t" and _OPENING.search(data, max(0, begin - 44), begin):
        if (match := _ELEMENT.match(data, end)) is not None:
            yield PlacedSecret(*match.span("value"), FIELDS)
    elif follows in b'"\\':
        if (match := _JSON.match(data, end) or _JSON_IN_JSON.match(data, end)) is not None:
            until = None if match["end"] else _UNTIL_QUOTE
            yield PlacedSecret(*match.span("value"), JSON, until)
        elif small[max(0, begin - 6) : begin] == b'name="' and (match := _PART.match(data, end)):
            yield PlacedSecret(*match.span("value"), FIELDS)


def _find_in_header(data: bytes, name: bytes, match: re.Match[bytes]) -> Iterator[PlacedSecret]:
    begin, end = match.span("value")
    until = None if match["end"] else _UNTIL_LINE
    if name in {b"cookie", b"set-cookie"}:
        # Names and attributes stay: a program that is given the line goes on reading it.
        for pair in _COOKIE_VALUE.finditer(data, begin, end):
            yield PlacedSecret(*pair.span(1), COOKIE, until if pair.end(1) == end else None)
            if name == b"set-cookie":
                return  # its attributes follow
        return
    end -= len(data[begin:end]) - len(data[begin:end].rstrip())
    scheme = _SCHEME.match(data, begin, end) if name.endswith(b"authorization") else None
    yield PlacedSecret(scheme.end() if scheme else begin, end, HEADERS, until)
