"""Looking for shapes costs time in proportion to the text, also for hostile text; proved by counting, not by a clock.

What is proved, from the parsed expressions: a try that fails cannot look far again and again. A run without an
upper limit is possessive, and either nothing after it can fail, or it stops at a byte that every later try has to
pass before its own run, or no stem can stand inside of it.

What is not proved: how long one look takes. ``benchmarks/secret_shapes.py`` measures that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_kinds import planted

from twice.recorder.redaction.redaction import Redaction
from twice.recorder.redaction.shapes import SHAPES, Shape, find_shapes

CHOICES_MAX = 1_100
"""Most ways to divide the bytes of one try among runs that have an upper limit."""

BYTES = frozenset(range(256))
WORD = frozenset(byte for byte in BYTES if re.match(rb"[A-Za-z0-9_]", bytes([byte])))
CATEGORIES = {
    op.CATEGORY_DIGIT: rb"\d", op.CATEGORY_NOT_DIGIT: rb"\D", op.CATEGORY_SPACE: rb"\s",
    op.CATEGORY_NOT_SPACE: rb"\S", op.CATEGORY_WORD: rb"\w", op.CATEGORY_NOT_WORD: rb"\W",
}  # fmt: skip
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
ONE_BYTE = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN, op.RANGE, op.CATEGORY)
Node = tuple[Any, Any]
Nodes = Sequence[Node]


@dataclass(frozen=True)
class Run:
    """A run without an upper limit.

    Attributes:
        is_possessive: whether it never gives bytes back.
        alphabet: bytes that it takes.
        before: what a try has passed when it comes here.
        is_settled: whether what it took is found: nothing after it can fail, and it belongs to the secret.
    """

    is_possessive: bool
    alphabet: frozenset[int]
    before: Nodes
    is_settled: bool


def bytes_of(node: Node) -> frozenset[int]:
    """Return the bytes that one node matches, in capital and small letters."""
    kind, value = node
    if kind is op.LITERAL:
        return frozenset(b"%c%c" % (bytes([value]).lower(), bytes([value]).upper()))
    if kind is op.NOT_LITERAL:
        return BYTES - bytes_of((op.LITERAL, value))
    if kind is op.RANGE:
        return frozenset().union(
            *(bytes_of((op.LITERAL, one)) for one in range(value[0], value[1] + 1))
        )
    if kind is op.CATEGORY:
        return frozenset(byte for byte in BYTES if re.match(CATEGORIES[value], bytes([byte])))
    if kind is op.IN:
        listed = [item for item in value if item[0] is not op.NEGATE]
        found = frozenset().union(*map(bytes_of, listed))
        return found if len(listed) == len(value) else BYTES - found
    assert kind is op.ANY, f"no byte set for {kind}"
    return BYTES - {0x0A}


def parts(node: Node) -> list[Nodes]:
    """Return the sequences inside of a node: one, or the alternatives of a branch."""
    kind, value = node
    if kind is op.BRANCH:
        return list(value[1])
    if kind in REPEATS:
        return [value[2]]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    return [value[-1]] if kind is op.SUBPATTERN else [value] if kind is op.ATOMIC_GROUP else []


def alphabet(nodes: Nodes) -> frozenset[int]:
    """Return every byte that a sequence may take."""
    found: frozenset[int] = frozenset()
    for node in nodes:
        if node[0] in ONE_BYTE:
            found |= bytes_of(node)
        elif node[0] not in (op.ASSERT, op.ASSERT_NOT):
            found = found.union(*map(alphabet, parts(node)))
    return found


def passes_another(nodes: Nodes, taken: frozenset[int]) -> bool:
    """Return whether every way through a sequence takes a byte that a run does not."""
    for kind, value in nodes:
        if kind in ONE_BYTE:
            found = bytes_of((kind, value)).isdisjoint(taken)
        elif kind in (op.ASSERT, op.ASSERT_NOT, op.AT) or (kind in REPEATS and value[0] == 0):
            found = False
        else:
            found = all(passes_another(part, taken) for part in parts((kind, value)))
        if found:
            return True
    return False


def may_fail(node: Node) -> bool:
    """Return whether a node can fail: it needs at least one byte, or it looks around."""
    kind, value = node
    if kind in REPEATS:
        return bool(value[0]) and any(map(may_fail, value[2]))
    if kind in (op.SUBPATTERN, op.ATOMIC_GROUP):
        return any(map(may_fail, parts(node)[0]))
    return kind is not op.BRANCH or all(any(map(may_fail, part)) for part in parts(node))


def unlimited(
    nodes: Nodes, before: Nodes = (), *, can_fail: bool = False, is_secret: bool = True
) -> Iterator[Run]:
    """Return every run without an upper limit, at any depth.

    Args:
        nodes: a sequence of an expression.
        before: what precedes it.
        can_fail: whether what follows it can fail.
        is_secret: whether what it matches is found.
    """
    for number, node in enumerate(nodes):
        passed = [*before, *nodes[:number]]
        later = can_fail or any(map(may_fail, nodes[number + 1 :]))
        inside = is_secret
        kind, value = node
        if kind in REPEATS:
            if value[1] is op.MAXREPEAT:
                is_possessive = kind is op.POSSESSIVE_REPEAT
                yield Run(is_possessive, alphabet(value[2]), passed, is_secret and not later)
            later = later or value[0] > 1
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            later = True
        elif kind is op.SUBPATTERN and value[0] is not None:
            inside = True
        for part in parts(node):
            yield from unlimited(part, passed, can_fail=later, is_secret=inside)


def choices(nodes: Nodes) -> int:
    """Return in how many ways runs with an upper limit that give bytes back can divide the same bytes."""
    count = 1
    for node in nodes:
        kind, value = node
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT) and value[1] is not op.MAXREPEAT:
            count *= value[1] - value[0] + 1
        inner = [choices(part) for part in parts(node)]
        count *= max(inner, default=1)
    return count


def faults(shape: Shape) -> list[str]:
    """Return why trying a shape at many stems could cost more than linear time."""
    tree = _parser.parse(shape.expression, re.IGNORECASE if shape.ignores_case else 0)
    found = []
    for run in unlimited(tree, is_secret=tree.state.groups == 1):
        if not run.is_possessive:
            found.append("a run without an upper limit gives bytes back")
        no_stem_inside = shape.starts_word and run.alphabet <= WORD
        is_passed = no_stem_inside or passes_another(run.before, run.alphabet)
        if not run.is_settled and not is_passed:
            found.append("a failed run may be looked through again from a later stem")
    if any(unlimited(_parser.parse(shape.lead))):
        found.append("the lead has no upper limit")
    if choices(tree) > CHOICES_MAX:
        found.append(f"{choices(tree)} ways to divide the same bytes")
    return found


def blank(text: bytes) -> bytes:
    """Return the text after one look, with stars in place of what was found."""
    changed = bytearray(text)
    for begin, end, _ in find_shapes(text):
        changed[begin:end] = b"*" * (end - begin)
    return bytes(changed)


def test_a_failed_try_of_no_shape_can_look_far_again_and_again() -> None:
    assert {shape.kind: faults(shape) for shape in SHAPES if faults(shape)} == {}


@pytest.mark.parametrize(
    "expression",
    [
        rb"eyJ[A-Za-z0-9_-]{6,}+\.[a-z]+",  # gives bytes back; the header holds other stems
        rb"eyJ(?=[a-z-]*+\d)[a-z0-9-]{6}",  # a lookahead over other stems
        rb"mqtt[\s\S]*+\0[a-z]{4}",
        rb"x'[^']*'",
        rb"x(?:a+b?)+",
        rb"x(?:[a-z]*+\d|y)?z",
        rb"(x)[a-z]*+",  # what the run takes is no part of the secret
        rb"x.{0,99}y.{0,99}z",
        rb"(?:x=|y)[a-z]++=",  # behind y nothing stops the run
    ],
)
def test_an_expression_that_breaks_the_rule_is_reported(expression: bytes) -> None:
    assert faults(Shape("planted", (b"x",), expression)) != []


def test_a_lead_without_an_upper_limit_is_reported() -> None:
    assert faults(Shape("planted", (b":x",), rb"\d{1,9}:x", lead=rb"\d+", back=9)) != []


@pytest.mark.parametrize(
    "expression",
    [rb"key=([a-z]{6,}+)", rb"key='([^']++)'", rb"(?:x=|y=)[a-z]++=", rb"x(?:[a-z]{9,}+\n?)++"],
)
def test_an_expression_that_keeps_the_rule_is_not_reported(expression: bytes) -> None:
    assert faults(Shape("planted", (b"key",), expression)) == []


def test_no_stem_is_tried_inside_of_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    (github,) = (shape for shape in SHAPES if shape.kind == "GitHub fine-grained token")
    match = github.match
    monkeypatch.setitem(
        github.__dict__, "match", lambda data, at: (tried.append(at), match(data, at))[1]
    )

    text = b" " + b"github_pat_" * 1000

    assert list(find_shapes(text)) == [(1, len(text), github.kind)]
    assert tried == [1]


LONG = "aB3x" * 20_000
"""Longer than any token, key or password of a service."""

LONG_TEXTS = [
    ("ghp_@@", ""), ("github_pat_@@", ""), ("glpat-@@", ""), ("npm_@@", ""), ("sk-proj-@@", ""), ("hvs.@@", ""),
    ("xoxb-@@", ""), ("AccountKey=@@", "AccountKey="), ("ya29.@@", ""), ("SG.@@.@@", ""), ("eyJ@@.@@.@@", ""),
    ("x-eyJ@@-@@.@@.@@", "x-"), ("aaaaaaaaaaaaaa.atlasv1.@@", ""), ("otpauth://totp/x?secret=" + "ABCD" * 9_000, "otpauth://totp/x?secret="),
    ("$6$@@", "$6$"), ("password=@@", "password="), ("--password @@", "--password "), ("--token   =@@", "--token   ="),
    ("Authorization: Bearer @@", "Authorization: Bearer "), ("?sig=@@", "?sig="), ("AUTH PLAIN @@", "AUTH PLAIN "),
    ("PASS @@\r\n", "PASS \r\n"), ("AUTH me @@\r\n", "AUTH me \r\n"), ("PASSWORD '@@'", "PASSWORD ''"),
    ("db:5432:shop:me:@@\n", "db:5432:shop:me:\n"), ("redis://:@@@host", "redis://:@host"),
    ("-----BEGIN PRIVATE KEY-----@@-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----"),
    ("Private-Lines: 900\n" + (LONG[:64] + "\n") * 900 + "Private-MAC: 0", "Private-Lines: 900\nPrivate-MAC: 0"),
    ("\0\4MQTT\4\xc2\0\x3c\0\4name\0\2me\0\x7f@@", "\0\4MQTT\4\xc2\0\x3c\0\4name\0\2me\0\x7f"),
    ("p\0\0\0\xff@@\0", "p\0\0\0\xff\0"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rest"), LONG_TEXTS, ids=range(len(LONG_TEXTS)))
def test_a_value_longer_than_any_known_one_is_blanked_as_a_whole(text: str, rest: str) -> None:
    whole = text.replace("@@", LONG).encode("latin-1")

    blanked = blank(whole)

    assert len(blanked) == len(whole)
    assert blanked.replace(b"*", b"") == rest.encode("latin-1")


@pytest.mark.parametrize(
    "text",
    [
        "host:9999:*:me:@@\n", "host:9999:shop:*:@@\n", "*:5432:*:*:@@\n", "notes:1234:host:6432:shop:me:@@\n",
        "host:*:shop:me:@@\n",
    ],
)  # fmt: skip
def test_a_star_in_pgpass_is_a_field_like_any_other(text: str) -> None:
    assert Redaction().value(text.replace("@@", "pw-1x"), "test") == text.replace("@@", "*****")


SECRETS = [one.secret.encode("latin-1") for one in planted()]
ENDING_IN_A_HYPHEN = [
    b"AIza" + b"a" * 34 + b"-", b"12345678:AA" + b"a" * 32 + b"-", b"MTk4" + b"a" * 20 + b".aaaaaa." + b"a" * 26 + b"-",
]  # fmt: skip


def looks(text: bytes) -> int:
    """Return how many looks find something, where each is given what the one before left."""
    for count in range(len(text)):
        blanked = blank(text)
        if blanked == text:
            return count
        text = blanked
    return len(text)


@pytest.mark.parametrize(
    "token", [b"sqp_" + b"0" * 40, b"12345678:AA" + b"a" * 34, *ENDING_IN_A_HYPHEN]
)
def test_tokens_in_a_row_are_found_in_one_look(token: bytes) -> None:
    assert looks(b"<" + token * 50 + b">") == 1


@given(
    st.lists(
        st.sampled_from([*SECRETS, *ENDING_IN_A_HYPHEN, b"-", b"_", b":", b"1", b" "]),
        min_size=1,
        max_size=5,
    )
)
def test_the_number_of_looks_does_not_grow_with_the_text(unit: list[bytes]) -> None:
    assert looks(b"".join(unit) * 20) <= 4
