"""Sheets as data, one sheet read, and what it still leaves open."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sheets_written import NOTHING, artifact

from twice.errors import TwiceError
from twice.specification.create import render_template
from twice.specification.errors import SheetRefused, SheetVersion
from twice.specification.front_matter import HeadEntry, Value, format_entry, parse_front_matter
from twice.specification.schema import (
    COMMON,
    SHEETS,
    UNKNOWN,
    Item,
    find_faults,
)
from twice.specification.sheet import deciding_text, decode, read_sheet
from twice.specification.tiers import REQUIRED, Situation, StateKind, Tier, Trait, find_required


@pytest.mark.parametrize("number", SHEETS)
def test_every_template_is_a_sheet_and_leaves_all_open(number: str) -> None:
    sheet = artifact(number)

    open_keys = {gap.key for gap in sheet.gaps(NOTHING)}

    assert sheet.number == number
    assert open_keys >= {
        item.key for item in sheet.schema.items if item.needed and item.needed.holds(NOTHING)
    }


def test_there_are_fifteen_sheets_and_each_has_its_tiers() -> None:
    assert list(SHEETS) == [*(f"{number:02}" for number in range(14)), "99"]
    assert REQUIRED.keys() == SHEETS.keys()
    for sheet in SHEETS.values():
        keys = [item.key for item in (*COMMON, *sheet.items)]
        assert len(keys) == len(set(keys)), sheet.number


# The tier table of the seed, written down once more.
@pytest.mark.parametrize(
    ("tier", "has", "sheets"),
    [
        ("XS", set(), "00 01 02 03 04 05 06 13 99"),
        ("S", set(Trait), "00 01 02 03 04 05 06 13 99"),
        ("M", set(), "00 01 02 03 04 05 06 12 13 99"),
        ("M", {Trait.CONCURRENCY}, "00 01 02 03 04 05 06 07 12 13 99"),
        (
            "M",
            {Trait.GPU, Trait.FLOATING_POINT, Trait.EXTERNAL_EFFECTS},
            "00 01 02 03 04 05 06 12 13 99",
        ),
        ("L", {Trait.FLOATING_POINT}, "00 01 02 03 04 05 06 08 12 13 99"),
        ("L", {Trait.GPU, Trait.EXTERNAL_EFFECTS}, "00 01 02 03 04 05 06 09 10 12 13 99"),
        ("L", {Trait.AUDIT_LOG}, "00 01 02 03 04 05 06 11 12 13 99"),
        ("XL", set(), "00 01 02 03 04 05 06 11 12 13 99"),
        ("XL", set(Trait), "00 01 02 03 04 05 06 07 08 09 10 11 12 13 99"),
    ],
)
def test_a_tier_needs_the_sheets_of_its_row(tier: str, has: set[Trait], sheets: str) -> None:
    situation = Situation(Tier(tier), "bit-exact", {trait: trait in has for trait in Trait})

    assert " ".join(find_required(situation)) == sheets


def test_what_is_not_known_of_a_system_counts_as_there() -> None:
    assert "07" in find_required(Situation(Tier.M, "bit-exact", {}))


@given(st.sampled_from(Tier), st.sampled_from(Tier))
def test_tiers_have_one_order_and_a_higher_one_needs_more(one: Tier, other: Tier) -> None:
    order = ["XS", "S", "M", "L", "XL"]

    assert (one < other, one <= other, one > other, one >= other) == (
        order.index(one) < order.index(other),
        order.index(one) <= order.index(other),
        order.index(one) > order.index(other),
        order.index(one) >= order.index(other),
    )
    low, high = sorted([one, other])
    traits = dict.fromkeys(Trait, True)
    assert set(find_required(Situation(low, "", traits))) <= set(
        find_required(Situation(high, "", traits))
    )


def test_a_memo_does_at_tier_xs_only() -> None:
    small, large = Situation(Tier.XS, "bit-exact", {}), Situation(Tier.S, "bit-exact", {})
    text = render_template(SHEETS["04"], "swarm", small, {"owner": "us"}, memo=True)
    memo = read_sheet(text, SHEETS["04"], "04.md")

    assert list(memo.gaps(small)) == []
    assert "status" in {gap.key for gap in memo.gaps(large)}


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("tier", '"XXL"', "tier is 'XXL'"),
        ("seed", "-1", "seed is -1"),
        ("goals", '"many"', "goals is 'many'"),
        ("version", '"1.0"', "version is '1.0'"),
        ("status", '"final"', "status is 'final'"),
        ("goal", '["x"]', "the key 'goal' is not one of sheet 00"),
        ("id", '"01"', "its id is '01', and its file's name begins with 00"),
    ],
)
def test_a_wrong_value_is_refused_with_file_line_and_remedy(
    key: str, value: str, what: str
) -> None:
    lines = artifact("00").source.split("\n")
    at = next((at for at, line in enumerate(lines) if line.startswith(f"{key}:")), 2)
    lines[at : at + (1 if lines[at].startswith(f"{key}:") else 0)] = [f"{key}: {value}"]

    with pytest.raises(SheetRefused) as caught:
        read_sheet("\n".join(lines), SHEETS["00"], "00-x.md")

    assert f"00-x.md:{at + 1}: {what}" in caught.value.happened
    if key == "goal":
        assert "Did you mean 'goals'?" in caught.value.expected


def test_rows_are_refused_by_the_line_of_their_column() -> None:
    rows = [{"name": trait.value, "here": True, "why": "it is"} for trait in Trait]
    text = artifact("00", {"traits": rows}).source.replace('name: "gpu"', 'name: "cpu"')
    line = text.split("\n").index('  - name: "cpu"') + 1

    with pytest.raises(SheetRefused, match=rf"00\.md:{line}: name in item 3 of traits is 'cpu'"):
        read_sheet(text, SHEETS["00"], "00.md")


def test_a_list_where_a_row_has_its_name_is_refused_by_its_line() -> None:
    rows = [{"name": trait.value, "here": True, "why": "it is"} for trait in Trait]
    text = artifact("00", {"traits": rows}).source.replace('name: "gpu"', 'name: ["gpu"]')

    with pytest.raises(SheetRefused, match=r"00\.md:\d+: name in item 3 of traits is \['gpu'\]"):
        read_sheet(text, SHEETS["00"], "00.md")


@pytest.mark.parametrize(
    ("number", "key", "value"),
    [
        ("13", "justification", "x"),
        ("13", "breach", " x "),
        ("12", "generators", "-"),
        ("01", "owner", "x"),
        ("00", "goals", ["a bug comes back", "x"]),
    ],
)
def test_a_text_of_one_letter_says_nothing(number: str, key: str, value: object) -> None:
    with pytest.raises(SheetRefused, match=rf"\d+: {key} is .*x|{key} is '-'") as caught:
        artifact(number, {key: value})

    assert "of at least two characters" in caught.value.expected


def test_a_name_may_be_one_letter() -> None:
    sheet = artifact("02", {"component": "c", "names": [{"stream": "a", "component": "b"}]})

    assert sheet.rows("names") == [{"stream": "a", "component": "b"}]


def test_a_later_form_says_which_version_to_install() -> None:
    text = artifact("01").source.replace("twice.sheet/1", "twice.sheet/9")

    with pytest.raises(SheetVersion, match=r"01\.md:2: .*twice\.sheet/9.*twice\.sheet/1"):
        read_sheet(text, SHEETS["01"], "01.md")


def test_a_sheet_under_the_name_that_its_form_had_before_makes_the_same_promise() -> None:
    sheet = artifact("01")
    text = sheet.source.replace("twice.sheet/1", "twice.spec/1")

    before = read_sheet(text, SHEETS["01"], "01.md")

    assert text != sheet.source
    assert before.digest() == sheet.digest()


@pytest.mark.parametrize("form", ["twice.spec/2", "sheet", "?x"])
def test_another_form_is_refused(form: str) -> None:
    text = artifact("01").source.replace("twice.sheet/1", form)

    with pytest.raises(TwiceError, match=r"01\.md:2: "):
        read_sheet(text, SHEETS["01"], "01.md")


def test_bytes_that_are_not_text_are_refused_with_their_line() -> None:
    with pytest.raises(SheetRefused, match=r"01\.md:2: byte 4 is 0xff"):
        decode(b"---\n\xff", "01.md")


def test_the_digest_is_of_what_decides() -> None:
    sheet = artifact("00", {"goals": ["bugs come back"]})
    same = (
        ("an owner", sheet.with_value("owner", "others")),
        ("a status", sheet.with_value("status", "accepted")),
        ("a version", sheet.with_value("version", "3.0.0")),
        ("a comment", reread(sheet.source.replace("---\n", "---\n# said\n", 1))),
        ("notes", reread(sheet.source.replace("decides nothing.", "decides nothing at all."))),
        ("blank lines", reread(sheet.source + "\n\n")),
        ("line ends", reread(sheet.source.replace("\n", "\r\n"))),
    )
    other = (
        ("a goal", sheet.with_value("goals", ["bugs are found"])),
        ("the text", reread(sheet.source.replace("# Scope and goals", "# Scope"))),
    )

    assert {what: each.digest() == sheet.digest() for what, each in same} == dict.fromkeys(
        dict(same), True
    )
    assert {what: each.digest() == sheet.digest() for what, each in other} == dict.fromkeys(
        dict(other), False
    )


def reread(text: str):
    return read_sheet(decode(text.encode(), "00.md"), SHEETS["00"], "00.md")


def test_accents_written_in_two_ways_are_one_text() -> None:
    composed, apart = (
        artifact("00", {"goals": ["caf\u00e9"]}),
        artifact("00", {"goals": ["cafe\u0301"]}),
    )

    assert composed.digest() == apart.digest()


def test_notes_end_where_the_next_heading_of_their_level_begins() -> None:
    text = "# A\nyes\n## Notes\nno\n### deeper\nno\n```\n## not a heading\n```\n## B\nyes\n"

    assert deciding_text(text) == "# A\nyes\n## B\nyes"


def test_question_marks_are_never_an_answer() -> None:
    sheet = artifact("00", {"tier": UNKNOWN, "goals": [UNKNOWN, "one"]})

    assert sheet.text("tier") == ""
    assert sheet.strings("goals") == ["one"]
    assert {"tier", "goals"} <= {gap.key for gap in sheet.gaps(NOTHING)}


@pytest.mark.parametrize(
    "item",
    [*COMMON, *(item for sheet in SHEETS.values() for item in sheet.items)],
    ids=lambda item: item.key,
)
def test_every_key_has_an_example_that_it_takes(item: Item) -> None:
    # A list that has to name every kind is shown by one of its items.
    every = {
        "traits": [{"name": each.value, "here": True, "why": "seen"} for each in Trait],
        "state": [{"kind": each.value, "answer": "absent", "how": "seen"} for each in StateKind],
    }

    assert list(find_faults(item, entry_of(item.key, every.get(item.key, item.example)))) == []
    if item.type.columns:
        of_any_length = replace(item, type=replace(item.type, accepts=lambda _: True))
        assert list(find_faults(of_any_length, entry_of(item.key, item.example))) == []


def entry_of(key: str, value: Value) -> HeadEntry:
    text = f"---\n{format_entry(key, value)}---\n"
    return parse_front_matter(text, "x.md")[0].entries[key]


@pytest.mark.parametrize("number", SHEETS)
def test_a_template_tells_every_word_that_a_key_takes(number: str) -> None:
    told = " ".join(
        line.removeprefix("#").strip()
        for line in render_template(SHEETS[number], "swarm", NOTHING, {}, every=True).split("\n")
        if line.startswith("#")
    )

    for item in SHEETS[number].items:
        assert item.says in told
        if item.type.is_closed:
            assert f"takes {item.type.expected} for example: {item.key}: " in told


def test_everything_wrong_in_a_sheet_is_told_at_once_with_its_lines() -> None:
    source = artifact("02").source
    for old, new in (
        ('surface: "?"', 'surface: ["keyboard"]'),
        ('derivation: "?"', "derivation: rule 1"),
        ('audit: "?"', 'audits: ["src"]'),
        ('names: "?"', 'names:\n  - stream: "a"\n  - stream: "a"\n    component: 3'),
    ):
        source = source.replace(f"\n{old}\n", f"\n{new}\n")

    with pytest.raises(SheetRefused) as caught:
        read_sheet(source, SHEETS["02"], "02.md")

    places = caught.value.fields["places"]
    lines = source.split("\n")
    assert [lines[each["line"] - 1] for each in places] == [  # type: ignore[attr-defined]
        'surface: ["keyboard"]', "derivation: rule 1", '  - stream: "a"', '  - stream: "a"',
        "    component: 3", 'audits: ["src"]',
    ]  # fmt: skip
    assert 'each one of "config", "flag", "environment"; for example ["config"]' in str(
        caught.value
    )
