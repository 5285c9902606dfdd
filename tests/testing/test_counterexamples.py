"""Claims about counterexamples: kept, sorted, replayed first, refused when damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twice.errors import ExamplesDamaged, PropertyBroken
from twice.testing import counterexamples, properties, strategies
from twice.testing.counterexamples import Example, KeptExample, subject_in
from twice.testing.property_search import PropertySearch

BROKEN = "tests/testing/tested_systems.py:hidden"


def keep_one(folder: Path, name: str) -> KeptExample:
    kept = KeptExample(name, subject_in(folder, BROKEN), Example({"ticks": 2}, 7, {"at": 1}))
    counterexamples.keep(folder, kept)
    return kept


def found_in(folder: Path, examples: int) -> str:
    config = strategies.config(ticks=st.integers(1, 4))
    with pytest.raises(PropertyBroken) as caught:
        properties.restore_idempotence(
            BROKEN, config=config, seeds=0, examples_in=folder, examples=examples
        )
    return str(caught.value)


@pytest.mark.heavy
def test_a_counterexample_is_kept_and_replayed_first(tmp_path: Path) -> None:
    first = found_in(tmp_path, examples=10)
    (kept,) = counterexamples.read(tmp_path)
    written = (tmp_path / counterexamples.FILE).read_bytes()

    again = found_in(tmp_path, examples=1)

    assert (kept.property, kept.subject) == ("restore_idempotence", subject_in(tmp_path, BROKEN))
    assert kept.example.config == {"ticks": 2}
    assert "is kept in" in first
    assert "is one of those kept in" in again
    assert (tmp_path / counterexamples.FILE).read_bytes() == written
    assert [path.name for path in tmp_path.iterdir()] == [counterexamples.FILE]


def test_a_program_is_named_by_its_way_from_the_folder(tmp_path: Path) -> None:
    named = []
    for checkout in (tmp_path / "here", tmp_path / "there" / "deeper"):
        folder = checkout / "determinism-and-replay" / "examples"
        folder.mkdir(parents=True)
        named.append(subject_in(folder, f"{checkout}/market.py:main"))

    assert named == ["../../market.py:main"] * 2
    assert subject_in(tmp_path, "market.game:main") == "market.game:main"


@pytest.mark.integration
def test_kept_examples_of_the_property_alone_are_replayed(tmp_path: Path) -> None:
    keep_one(tmp_path, "replay_equivalence")
    keep_one(tmp_path, "seed_isolation")

    answer = PropertySearch(
        "replay_equivalence", BROKEN, {"ticks": 1}, 0, examples=1, examples_in=tmp_path
    ).run()

    assert (answer.found, answer.judged) == (None, 2)
    assert counterexamples.replayed[tmp_path.resolve()] == {1}


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        (
            KeptExample("sed_isolation", "market:main", Example({}, 0)),
            "'sed_isolation' is no property",
        ),
        (
            KeptExample("seed_isolation", "gone.py:main", Example({}, 0)),
            "'gone.py:main' is not there",
        ),
    ],
)
def test_a_line_that_nobody_can_ever_ask_for_is_refused(
    tmp_path: Path, kept: KeptExample, words: str
) -> None:
    counterexamples.keep(tmp_path, kept)

    with pytest.raises(ExamplesDamaged, match=words) as caught:
        counterexamples.read(tmp_path)

    assert "Line 1 of" in caught.value.happened


def test_a_damaged_file_ends_a_property(tmp_path: Path) -> None:
    (tmp_path / counterexamples.FILE).write_text("{}\n", encoding="utf-8")

    with pytest.raises(ExamplesDamaged, match="KeyError"):
        properties.replay_equivalence(BROKEN, config={"ticks": 1}, examples_in=tmp_path)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text[:-20], "has no end"),
        (lambda text: text.replace('"config"', '"confg"'), "config is None"),
        (lambda text: text.replace("twice.counterexample/1", "twice.counterexample/9"), "format"),
        (lambda text: text.replace('"seed": "', '"seed": "-'), "out of range"),
        (lambda text: text + "{}\n", "KeyError"),
        (lambda text: text + "\n", "JSONDecodeError"),
        (lambda text: "[]\n" + text, "TypeError"),
        (lambda text: text + "\ud800\n", "cannot be read"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path: Path, damage: Any, words: str) -> None:
    keep_one(tmp_path, "seed_isolation")
    path = tmp_path / counterexamples.FILE
    path.write_bytes(damage(path.read_text("utf-8")).encode("utf-8", "surrogatepass"))

    with pytest.raises(ExamplesDamaged, match=words):
        counterexamples.read(tmp_path)


@settings(max_examples=20)
@given(
    st.lists(
        st.builds(
            KeptExample,
            st.sampled_from(properties.NAMES),
            st.text(max_size=5).filter(lambda text: ".py" not in text),
            st.builds(
                Example,
                st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3)),
                st.integers(0, 2**256 - 1),
                st.fixed_dictionaries({"at": st.integers(0, 255)}),
            ),
        ),
        max_size=4,
    )
)
def test_what_is_kept_is_read_back_sorted_and_once(
    tmp_path_factory: Any, kept: list[KeptExample]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "kept"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for each in kept:
        counterexamples.keep(folder, each)
        assert not counterexamples.keep(folder, each)

    lines = [each.line() for each in counterexamples.read(folder)]

    assert lines == sorted({each.line() for each in kept})
    assert all(json.loads(line)["format"] == counterexamples.FORMAT for line in lines)
    assert [path.name for path in folder.iterdir()] in ([], [counterexamples.FILE])
