"""What passes a connection is blanked by its place, and from then on wherever it stands."""

from __future__ import annotations

import pytest

from twice.recorder.redaction.fields import judge
from twice.recorder.redaction.policy import Policy
from twice.recorder.redaction.redaction import Redaction

STARS = "*" * 99


def sent(text: str, redaction: Redaction | None = None) -> str:
    return (redaction or Redaction()).stream().sent(text.encode()).decode()


def received(text: str, redaction: Redaction | None = None) -> str:
    return (redaction or Redaction()).stream().received(text.encode()).decode()


@pytest.mark.parametrize(
    ("text", "blanked"),
    [
        ("Authorization: Bearer abc.def-1\r\n", "Authorization: Bearer *********\r\n"),
        ("authorization:tok-1\r\n", "authorization:*****\r\n"),
        ("Proxy-Authorization: Basic dTpw\r\n", "Proxy-Authorization: Basic ****\r\n"),
        (
            'Authorization: Digest username="me", response="6629"\r\n',
            f"Authorization: Digest {STARS[:30]}\r\n",
        ),
        ("X-Api-Key: k\r\nAccept: k\r\n", "X-Api-Key: *\r\nAccept: k\r\n"),
        ("X-Amz-Security-Token: t t\r\n", "X-Amz-Security-Token: ***\r\n"),
        ('Cookie: a=1; sid="q"\r\n', 'Cookie: a=*; sid="*"\r\n'),
        ("GET /?token=abc&q=cat HTTP/1.1\r\n", "GET /?token=***&q=cat HTTP/1.1\r\n"),
        ("GET /?X-Amz-Signature=0f&X-Amz-Date=1 H", "GET /?X-Amz-Signature=**&X-Amz-Date=1 H"),
        ("user=me&password=p%20w&go=1", "user=me&password=*****&go=1"),
        ('{"api_key": "a\\"b", "n": 1}', '{"api_key": "****", "n": 1}'),
        ('{"clientSecret":"x","tokens":["a"]}', '{"clientSecret":"*","tokens":["a"]}'),
        ('{"body": "{\\"password\\": \\"x\\"}"}', '{"body": "{\\"password\\": \\"*\\"}"}'),
        ("<password>x y</password>", "<password>***</password>"),
        ("postgres://me:pw@host/db", "postgres://me:**@host/db"),
        (
            'form-data; name="password"\r\n\r\nabc\r\n--x', 'form-data; name="password"\r\n\r\n***\r\n--x',
        ),
        ("WWW-Authenticate: Bearer realm=x\r\n", "WWW-Authenticate: Bearer realm=x\r\n"),
        ("Sec-WebSocket-Key: abc\r\n", "Sec-WebSocket-Key: abc\r\n"),
        ("the author of monkeys: passes a design", "the author of monkeys: passes a design"),
    ],
)  # fmt: skip
def test_a_secret_is_known_by_its_place(text: str, blanked: str) -> None:
    assert sent(text) == blanked


@pytest.mark.parametrize(
    ("text", "blanked"),
    [
        ("Set-Cookie: sid=abc; Path=/; HttpOnly\r\n", "Set-Cookie: sid=***; Path=/; HttpOnly\r\n"),
        ('{"access_token": "x"}', '{"access_token": "*"}'),
        ('{"token": "Hello", "key": "colour"}', '{"token": "Hello", "key": "colour"}'),
        ('{"token": "0123456789abcdef"}', '{"token": "****************"}'),
        ('{"usage": {"total_tokens": "12"}}', '{"usage": {"total_tokens": "12"}}'),
    ],
)
def test_what_the_program_is_given_is_blanked_where_it_can_only_be_a_secret(
    text: str, blanked: str
) -> None:
    assert received(text) == blanked


def test_what_was_found_by_its_place_is_blanked_elsewhere_and_in_other_forms() -> None:
    redaction = Redaction(Policy(off=("shapes",)))
    assert not redaction.active
    sent("Authorization: Basic bWU6b3BlbiBzZXNhbWU=\r\nX-Api-Key: short\r\n", redaction)
    assert redaction.active
    assert redaction.value("it said open sesame and bWU6b3BlbiBzZXNhbWU=", "x") == (
        f"it said {STARS[:11]} and {STARS[:20]}"
    )
    assert redaction.value("open+sesame, open%20sesame", "x") == f"{STARS[:11]}, {STARS[:13]}"
    assert redaction.value("short", "x") == "short"
    assert redaction.take() == [("headers", "sent", 2), ("headers", "x", 4)]
    assert redaction.take() == []


def test_a_long_header_in_many_pieces_is_blanked_to_its_end() -> None:
    redaction = Redaction()
    stream = redaction.stream()
    pieces = [
        b"GET / HTTP/1.1\r\nAuthorization: Bear",
        b"er abc",
        b"d" * 900,
        b"efg\r\nHost: a\r\n",
    ]
    passed = b"".join(map(stream.sent, pieces))
    stars = b"*" * len("Bearer abc" + "d" * 900 + "efg")
    assert passed == b"GET / HTTP/1.1\r\nAuthorization: " + stars + b"\r\nHost: a\r\n"
    assert redaction.value("abc" + "d" * 900 + "efg", "x") == "*" * 906


def test_a_known_value_is_found_in_binary_data_and_places_are_not_looked_for() -> None:
    redaction = Redaction(None, {"DB_PASSWORD": "hunter2!"})
    data = b"\0\x03user\0hunter2!\0Authorization: x\r\n"
    assert redaction.stream().sent(data) == b"\0\x03user\0********\0Authorization: x\r\n"


def test_rules_can_be_switched_off() -> None:
    text = "Cookie: sid=cookies\r\nX-Api-Key: abcdefg\r\n"
    redaction = Redaction(Policy(off=("cookies",)))
    assert sent(text, redaction) == "Cookie: sid=cookies\r\nX-Api-Key: *******\r\n"
    everything = ("headers", "cookies", "fields", "json", "urls", "variables", "shapes")
    redaction = Redaction(Policy(off=everything), {"A_KEY": "abcdefg"})
    assert sent(text, redaction) == text
    assert not redaction.active


def test_a_pattern_is_blanked_everywhere_and_of_groups_what_they_hold() -> None:
    redaction = Redaction(Policy(patterns=("sk-[a-z0-9]{8,}", "ssn=(\\d{3}-\\d{2})")))
    assert sent("x sk-abcdefgh1 ssn=123-45.", redaction) == "x ************ ssn=******."
    assert redaction.value({"a": ["sk-abcdefgh1"]}, "x") == {"a": ["************"]}
    assert redaction.value("größe sk-abcdefgh1", "x") == "größe ************"


@pytest.mark.parametrize(
    ("name", "judgement"),
    [
        ("password", "clear"), ("X-Api-Key", "clear"), ("apiKey", "clear"), ("accessToken", "clear"),
        ("client_secret", "clear"), ("Set-Cookie", "clear"), ("token", "likely"), ("key", "likely"),
        ("sig", "likely"), ("monkey", "no"), ("total_tokens", "no"), ("author", "no"),
        ("keyboard", "no"), ("WWW-Authenticate", "no"), ("passage", "no"), ("design", "no"),
    ],
)  # fmt: skip
def test_names_are_judged_by_their_words(name: str, judgement: str) -> None:
    assert judge(name.encode()) == judgement


@pytest.mark.parametrize(
    ("command", "blanked"),
    [
        (("tool", "--password", "hunter2"), ("tool", "--password", "*******")),
        (("tool", "--password=hunter2", b"-v"), ("tool", "--password=*******", b"-v")),
        (("tool", "--token", "--verbose", "word"), ("tool", "--token", "--verbose", "word")),
        (("curl", "-H", "X-Api-Key: abc"), ("curl", "-H", "X-Api-Key: ***")),
        (("tool", "-p", "hunter2"), ("tool", "-p", "hunter2")),
        ("tool --token 'a b' --n 1", "tool --token '***' --n 1"),
        (b'tool --api-key "x" https://me:pw@h/', b'tool --api-key "*" https://me:**@h/'),
        ((), ()),
        ((1, "--password", "hunter2"), (1, "--password", "hunter2")),
    ],
)
def test_a_command_keeps_its_words_and_loses_its_secrets(command: object, blanked: object) -> None:
    assert Redaction(Policy(off=("shapes",))).command(command) == blanked


def test_an_argument_behind_an_innocent_name_is_kept_unless_it_looks_like_a_credential() -> None:
    redaction = Redaction(Policy(off=("shapes",)))
    words = ["--key", "colour", "--key", "0123456789abcdef", "--password", "x"]

    assert redaction.arguments(words, "arguments") == [
        "--key", "colour", "--key", "*" * 16, "--password", "*",
    ]  # fmt: skip
    assert redaction.take() == [("arguments", "arguments", 2)]
    assert redaction.value("see 0123456789abcdef", "x") == f"see {'*' * 16}"


def test_a_text_that_was_clean_is_searched_again_for_what_is_learned_later() -> None:
    redaction, text = Redaction(), "as kX83hd7-qpL tells"
    assert redaction.value([text], "test") == [text]
    assert redaction.value([text], "test") == [text]

    received('{"password": "kX83hd7-qpL"}', redaction)

    assert redaction.value([text], "test") == ["as *********** tells"]
    assert redaction.value(("other",), "test") == ("other",)
