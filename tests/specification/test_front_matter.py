"""The head of a sheet: what is accepted means the same to every reader of YAML; the rest is refused."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from twice.specification import front_matter
from twice.specification.errors import SheetRefused
from twice.specification.front_matter import (
    FrontMatter,
    combine,
    format_entry,
    parse_front_matter,
    replace_entry,
)

TEXTS = st.text(max_size=8).filter(
    lambda text: not any("\ud800" <= each <= "\udfff" for each in text)
)
SCALARS = st.one_of(TEXTS, st.integers(-(10**17), 10**17), st.booleans())
WORDS_OF_YAML = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
KEYS = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True).filter(
    lambda key: key not in WORDS_OF_YAML
)
ROWS = st.dictionaries(
    KEYS, st.one_of(SCALARS, st.lists(SCALARS, max_size=3)), min_size=1, max_size=3
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=4), st.lists(ROWS, min_size=1, max_size=3))
HEADS = st.dictionaries(KEYS, VALUES, max_size=5)


def head_of(said: dict[str, object]) -> str:
    return (
        "---\n" + "".join(format_entry(key, value) for key, value in said.items()) + "---\nbelow\n"
    )


def read_head(text: str, name: str) -> FrontMatter:
    head, refused = parse_front_matter(text, name)
    if refused:
        raise combine(refused)
    return head


def read(text: str) -> dict[str, object]:
    return {key: entry.value for key, entry in read_head(text, "x.md").entries.items()}


@given(HEADS)
def test_what_is_written_is_read_back_by_us_and_by_other_readers_of_yaml(
    said: dict[str, object],
) -> None:
    text = head_of(said)

    assert read(text) == said
    assert (yaml.safe_load(text.split("---\n")[1]) or {}) == said


@given(st.text('ab: "\\#-[],01ntfue\n  \t', max_size=40))
def test_whatever_is_accepted_means_the_same_in_yaml(inside: str) -> None:
    text = f"---\n{inside}\n---\n"
    try:
        head = read_head(text, "x.md")
    except SheetRefused:
        return
    accepted = "\n".join(text.split("\n")[1 : head.end_line - 1])

    assert (yaml.safe_load(accepted) or {}) == read(text)


@given(HEADS, HEADS)
def test_saying_a_key_anew_touches_no_other_byte(
    said: dict[str, object], other: dict[str, object]
) -> None:
    text = head_of(said)
    for key, value in other.items():
        after = replace_entry(text, read_head(text, "x.md"), key, value)

        assert read(after) == {**said, key: value}
        assert after.split("\n---\n", 1)[1] == "below\n"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("class: bit-exact", "'bit-exact' is not a value that can be read without guessing"),
        ("class: 'bit-exact'", "is not a value"),
        ("contested: yes", "'yes' is not a value"),
        ("epsilon: 1e-6", "'1e-6' is not a value"),
        ("seed: 0x10", "'0x10' is not a value"),
        ("seed: 007", "'007' is not a value"),
        ("Class: 1", "is no key with a value"),
        ("\tclass: 1", "is no key with a value"),
        ("class:", "'class:' has no value"),
        ("names: [1, 2", "'names: [1, 2' cannot be read"),
        ('names: ["a" "b"]', "cannot be read"),
        ('names: ["a": "b"]', "is no name of a column"),
        ("names:\n  - 1\n  - a: 2", "'a: 2' is not a value"),
        ("names:\n   - 1\n  - 2", "cannot be read"),
        ("names:\n  - a: 1\n    a: 2", "'a' stands twice in one item"),
        ("class: &anchor 1", "is not a value"),
        ("class: !!python/object:os.system 1", "is not a value"),
        ("<<: 1", "is no key with a value"),
        ("class: 1\nclass: 2", "the key 'class' stands in line 2 already"),
        ('class: "\\ud83d\\ude00"', "ud83d"),  # libyaml refuses it before we do
        ("no: 1", "is no key with a value"),
        ('names: &a ["x"]', "is not a value"),
        ("names: [*a]", "cannot be read"),
        ('names: !!set ["x"]', "is not a value"),
        ('names: !!binary "x"', "is not a value"),
        ("names:\n  - {}", "is not a value"),
        ("names:\n  - !x {a: 1}", "is not a value"),
        ('names:\n  - ["x"]', "is not a value"),
        ("names:\n  - ? a\n    : 1\n  - [1]: 2", "is no name of a column"),
        ("names:\n  - a:\n      - b: 1", "is not a value"),
        ("names: " + "[" * 100_000, "is no key with a value"),
        ("names: " + "[" * 10_000, "nests too deep"),
        ("names:\n  " + "- " * 10_000 + "1", "nests too deep"),
        ("names:\n" + "\n".join(f"{' ' * at}- " for at in range(1, 5000)), "nests too deep"),
        ("names:\t1", "is no key with a value"),
        ("names: [1,\t2]", "holds a tab"),
        ("names:\n  - 1\t", "'  - 1\\t' holds a tab"),
        ("names: |\n  text", "is not a value"),
        ('names: "two\n  lines"', "is not a value"),
        ('names: "a\x00b"', "cannot be read"),
        ("...\nnames: 1", "is no key with a value"),
        ("%YAML 1.1\nnames: 1", "is no key with a value"),
    ],
)
@pytest.mark.parametrize("loader", dict.fromkeys([front_matter.LOADER, yaml.SafeLoader]))
def test_what_would_need_a_guess_is_refused_with_its_line(
    line: str, what: str, loader: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_matter, "LOADER", loader)
    with pytest.raises(SheetRefused, match=r"x\.md:\d+: ") as caught:
        read_head(f"---\n{line}\n---\n", "x.md")

    assert what in caught.value.happened
    assert caught.value.expected
    assert caught.value.remedy


@pytest.mark.parametrize(
    "text", ["", "# Title\n", "---\nclass: 1\n", "--- \n---\n", "\n---\n---\n"]
)
def test_a_file_without_a_head_is_refused(text: str) -> None:
    with pytest.raises(SheetRefused, match=r"x\.md:\d+: "):
        read_head(text, "x.md")


@pytest.mark.parametrize("line", ["names: [1, 2,]", "names:\n - 1\n - 2", "names: [1, # one\n  2]"])
def test_lists_are_laid_out_as_yaml_allows(line: str) -> None:
    text = f'---\n{line}\nother: "x"\n---\n'

    assert read(text) == {"names": [1, 2], "other": "x"}
    assert read(replace_entry(text, read_head(text, "x"), "names", [3]))["names"] == [3]


def test_comments_stay_where_they_are() -> None:
    text = '---\n# one\na: 1 # two\n\n# three\nb:\n  # four\n  - "x" # five\n---\n'

    assert read(text) == {"a": 1, "b": ["x"]}
    assert replace_entry(text, read_head(text, "x"), "a", 2).replace("a: 2", "a: 1 # two") == text
