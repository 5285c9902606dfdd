"""Laws of redaction: lengths stay, blanking twice changes nothing, and no known value is left."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.encoding import decode, encode
from twice.recorder.redaction.mask import LEARN_MIN, Mask, list_forms
from twice.recorder.redaction.redaction import Redaction

LETTERS = "ab*é\n"
VALUES = st.text(LETTERS, min_size=LEARN_MIN, max_size=12).map(str.encode) | st.binary(
    min_size=LEARN_MIN, max_size=20
)
SECRETS = st.lists(VALUES, min_size=1, max_size=4)
PIECES = st.lists(
    st.text(LETTERS + '"\\=&: ', max_size=12).map(str.encode) | st.binary(max_size=6) | VALUES,
    max_size=8,
)


def knowing(secrets: list[bytes]) -> tuple[Mask, list[bytes]]:
    mask = Mask()
    return mask, [secret for secret in secrets if mask.learn(secret, "test")]


@given(SECRETS, PIECES)
def test_a_mask_keeps_the_length_leaves_no_value_and_is_done_after_one_pass(
    secrets: list[bytes], pieces: list[bytes]
) -> None:
    mask, known = knowing(secrets)
    for join in (b"", secrets[0], b" "):
        data = join.join([*pieces, *secrets])
        once, spans = mask.data(data)
        assert len(once) == len(data)
        assert mask.data(once) == (once, [])
        assert not [value for value in known if value in once]
        assert all(new in (old, 0x2A) for old, new in zip(data, once, strict=True))
        assert bool(spans) == (once != data)


@given(SECRETS, PIECES)
def test_no_form_of_a_known_value_is_left(secrets: list[bytes], pieces: list[bytes]) -> None:
    mask, known = knowing(secrets)
    for value in known:
        for form in list_forms(value):
            if len(form.replace(b"*", b"")) >= LEARN_MIN:
                assert form not in mask.data(b"".join([*pieces, form, *pieces]))[0]


@given(SECRETS, st.lists(st.text(LETTERS, max_size=8), max_size=6))
def test_blanked_text_is_text_and_its_canonical_form_is_as_long(
    secrets: list[bytes], pieces: list[str]
) -> None:
    redaction = Redaction()
    for secret in secrets:
        redaction.learn(secret, "test")
    told = [secret.decode("utf-8", "replace") for secret in secrets]
    value = ("é".join([*pieces, *told]), b"|".join(secrets), {"key": [*told, 1.5, None]})
    masked = redaction.value(value, "here")
    assert len(encode(masked)) == len(encode(value))
    assert decode(encode(masked)) == masked
    assert redaction.value(masked, "here") == masked


@given(
    st.lists(
        st.lists(st.sampled_from(["{}", "{}", "key ", "\n", " ", "é"]), max_size=6), max_size=5
    ),
    st.text("ABCDEF0123456789", min_size=LEARN_MIN, max_size=20),
)
def test_a_replay_that_is_given_stars_writes_what_was_recorded(
    pieces: list[list[str]], secret: str
) -> None:
    texts = ["".join(piece) for piece in pieces]
    written = []
    for known, value in (({"SHOP_KEY": secret}, secret), ({}, "*" * len(secret))):
        redaction = Redaction(None, known)
        flow = redaction.file("output")
        written.append([flow.next(text.format(*[value] * 9).encode()) for text in texts])
        written.append([redaction.value(text.format(*[value] * 9), "x").encode() for text in texts])
    assert written[0] == written[1] == written[2] == written[3]
    assert secret.encode() not in b"".join(written[0])


WORDS = st.text("abcdef0123456789-", min_size=1, max_size=24)
LINES = st.tuples(
    st.sampled_from(["Authorization", "X-Api-Key", "Cookie", "Set-Cookie", "Accept", "X-Token"]),
    st.sampled_from(["", "Bearer ", "sid=", "a=b; sid="]),
    WORDS,
).map(lambda line: f"{line[0]}: {line[1]}{line[2]}\r\n")
MEMBERS = st.dictionaries(
    st.sampled_from(["password", "token", "name", "accessToken", "key", "monkey"]), WORDS
)
MESSAGES = st.tuples(WORDS, st.lists(LINES, max_size=4).map("".join), MEMBERS.map(json.dumps)).map(
    lambda one: f"POST /a?api_key={one[0]}&q=1 HTTP/1.1\r\n{one[1]}\r\n{one[2]}".encode()
)


@given(st.lists(MESSAGES | st.binary(max_size=20), max_size=4), st.booleans())
def test_what_passes_a_connection_keeps_its_length_and_is_done_after_one_pass(
    pieces: list[bytes], received: bool
) -> None:
    redaction = Redaction()

    def passed(pieces: list[bytes]) -> list[bytes]:
        stream = redaction.stream()
        return [stream.received(one) if received else stream.sent(one) for one in pieces]

    once = passed(pieces)
    assert list(map(len, once)) == list(map(len, pieces))
    known = passed(pieces)  # what came late is known by now
    assert passed(known) == known


REQUEST = (
    b"POST /v1?api_key=ABCDEF123456&q=1 HTTP/1.1\r\nAuthorization: Bearer tok-12345678\r\n"
    b"Cookie: session=abcdefgh; theme=dark1234\r\nX-Api-Key: zzzzzzz9\r\n\r\n"
    b'{"user": "me", "password": "p\\"q1234", "n": 5}'
)
INSIDE = (b"ABCDEF123456", b"tok-12345678", b"abcdefgh", b"dark1234", b"zzzzzzz9", b'p\\"q1234')


@given(st.lists(st.integers(0, len(REQUEST)), max_size=4).map(sorted))
def test_however_a_request_is_cut_no_secret_passes_whole(cuts: list[int]) -> None:
    stream = Redaction().stream()
    bounds = [0, *cuts, len(REQUEST)]
    passed = b"".join(stream.sent(REQUEST[begin:end]) for begin, end in pairwise(bounds))
    assert len(passed) == len(REQUEST)
    assert not [value for value in INSIDE if value in passed]
    assert b'"user": "me"' in passed
    assert passed.startswith(b"POST /v1?api_key=")
