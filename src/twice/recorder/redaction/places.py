"""Secrets known by their place: what follows a header's or a field's name in text.

Covered: header lines of HTTP (of a cookie its value alone, of ``Authorization`` what follows the scheme), fields
of a query or a form, parts of a multipart form, members of a JSON document whose value is text,
elements of XML, the password in a URL.

Not covered: compressed bodies, HTTP/2 (its headers are packed), numbers and lists in JSON, secrets under a
name that does not say so. Those are known by their value or by a pattern, or not at all.

Invariant: what is found depends on the names and on the places, and blanking it keeps the form of the text.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from typing import NamedTuple

from twice.recorder.redaction.names import COOKIES, STEMS, judged, looks_like_credential

HEADERS, COOKIE, FIELDS, JSON, URLS = "headers", "cookies", "fields", "json", "urls"

NAME_MAX = 64
_NAME_BYTES = bytes(
    byte for byte in range(256) if chr(byte).isascii() and (chr(byte).isalnum() or byte in b"-_.[]")
)
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


class Found(NamedTuple):
    """One secret by its place.

    Attributes:
        begin: its first byte.
        end: the byte after its last.
        rule: which rule found it.
        until: pattern of what ends it, when it goes on behind the data that there is; else None.
    """

    begin: int
    end: int
    rule: str
    until: re.Pattern[bytes] | None = None


_UNTIL_LINE = re.compile(rb"[\r\n]")
_UNTIL_QUOTE = re.compile(rb'["]')


def places(data: bytes, *, given: bool, line_start: bool = True) -> Iterator[Found]:
    """Find secrets in text, by the names before them.

    Args:
        data: what passes a connection.
        given: whether the program is given it, and a replay would give it blanked: a name with
            innocent meanings counts only where the value looks like a credential.
        line_start: whether the data begin a line.
    """
    if b":" not in data and b"=" not in data and b">" not in data:
        return  # nothing stands behind a name
    small = data.lower()
    seen = -1
    for at in _stems(small):
        if at < seen:
            continue  # another stem of a name that was looked at
        begin = _name_begin(data, at)
        after = _NAME_END.match(data, at)
        seen = end = after.end() if after else at
        name = data[begin:end]
        judgement = judged(name)
        if judgement == "no" or len(name) > NAME_MAX:
            continue
        for one in _behind(data, small, begin, end, line_start=line_start):
            value = data[one.begin : one.end]
            if value.strip() and (
                judgement == "clear" or not given or looks_like_credential(value)
            ):
                yield one
    if b"://" in data and b"@" in data:
        for match in _URL.finditer(data):
            yield Found(*match.span("value"), URLS)


def also_known(data: bytes, found: Found) -> Iterator[bytes]:
    """Yield values to look for elsewhere, given one that was found by its place."""
    value = data[found.begin : found.end]
    yield value
    if found.rule == HEADERS and data[max(0, found.begin - 6) : found.begin].lower() == b"basic ":
        try:
            yield b64decode(value, validate=True).partition(b":")[2]
        except (Base64Error, ValueError):
            return


def without_scheme(value: bytes) -> bytes:
    """Return the part of ``Authorization``'s value behind the scheme."""
    scheme = _SCHEME.match(value)
    return value[scheme.end() :] if scheme else value


def _stems(small: bytes) -> list[int]:
    found: list[int] = []
    for stem in STEMS:
        at = small.find(stem)
        while at >= 0:
            found.append(at)
            at = small.find(stem, at + len(stem))
    found.sort()
    return found


def _name_begin(data: bytes, at: int) -> int:
    before = data[max(0, at - NAME_MAX) : at]
    return at - (len(before) - len(before.rstrip(_NAME_BYTES)))


def _behind(
    data: bytes, small: bytes, begin: int, end: int, *, line_start: bool
) -> Iterator[Found]:
    """Find the values behind a name, by the character that separates them."""
    follows = data[end : end + 1]
    before = data[begin - 1 : begin] if begin else b""
    if follows in b": \t" and follows and (before == b"\n" or (not begin and line_start)):
        if (match := _HEADER.match(data, end)) is not None:
            yield from _in_header(data, small[begin:end], match)
    elif follows == b"=":
        if before == b"" or before in b"?&; \t\r\n\"'(,":
            match = _FIELD.match(data, end)
            assert match is not None, "an equals sign stands there"
            yield Found(*match.span("value"), FIELDS)
    elif follows in b"> \r\n\t" and follows and _OPENING.search(data, max(0, begin - 44), begin):
        if (match := _ELEMENT.match(data, end)) is not None:
            yield Found(*match.span("value"), FIELDS)
    elif follows in b'"\\' and follows:
        match = _JSON.match(data, end) or _JSON_IN_JSON.match(data, end)
        if match is not None:
            until = None if match["end"] else _UNTIL_QUOTE
            yield Found(*match.span("value"), JSON, until)
        elif small[max(0, begin - 6) : begin] == b'name="':
            match = _PART.match(data, end)
            if match is not None:
                yield Found(*match.span("value"), FIELDS)


def _in_header(data: bytes, name: bytes, match: re.Match[bytes]) -> Iterator[Found]:
    begin, end = match.span("value")
    until = None if match["end"] else _UNTIL_LINE
    if name in COOKIES:
        # Names and attributes stay: a program that is given the line goes on reading it.
        only_first = name == b"set-cookie"
        for pair in _COOKIE_VALUE.finditer(data, begin, end):
            open_ = until if pair.end(1) == end else None
            yield Found(*pair.span(1), COOKIE, open_)
            if only_first:
                return
        return
    end -= len(data[begin:end]) - len(data[begin:end].rstrip())
    scheme = _SCHEME.match(data, begin, end) if name.endswith(b"authorization") else None
    yield Found(scheme.end() if scheme else begin, end, HEADERS, until)
