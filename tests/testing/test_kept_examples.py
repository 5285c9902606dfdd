"""Claims about counterexamples: kept, sorted, replayed first, refused when damaged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs import environ
from twice.errors import ExamplesDamaged, PropertyBroken
from twice.testing import examples, properties, strategies
from twice.testing.examples import Example, Kept
from twice.testing.property_search import ask

BROKEN = "tests/testing/tested_systems.py:hidden"


def found_in(folder: Path, **options: Any) -> str:
    config = strategies.config(ticks=st.integers(1, 4))
    with pytest.raises(PropertyBroken) as caught:
        properties.restore_idempotence(BROKEN, config=config, examples_in=folder, **options)
    return str(caught.value)


@pytest.mark.heavy
def test_a_counterexample_is_kept_and_replayed_first(tmp_path: Path) -> None:
    first = found_in(tmp_path, examples=10)
    (kept,) = examples.read(tmp_path)
    written = (tmp_path / examples.FILE).read_bytes()

    again = found_in(tmp_path, examples=1)

    assert (kept.property, kept.subject) == (
        "restore_idempotence",
        examples.subject_in(tmp_path, BROKEN),
    )
    assert kept.example.config == {"ticks": 2}
    assert "is kept in" in first
    assert "is one of those kept in" in again
    assert (tmp_path / examples.FILE).read_bytes() == written
    assert any((tmp_path / examples.FOUND).iterdir())


@pytest.mark.integration
def test_a_program_is_named_by_its_way_from_the_folder(tmp_path: Path) -> None:
    named = []
    for checkout in (tmp_path / "here", tmp_path / "there" / "deeper"):
        folder = checkout / "determinism-and-replay" / "examples"
        folder.mkdir(parents=True)
        named.append(examples.subject_in(folder, f"{checkout}/market.py:main"))

    assert named == ["../../market.py:main"] * 2
    assert examples.subject_in(tmp_path, "market.game:main") == "market.game:main"


@pytest.mark.integration
def test_a_kept_example_of_another_property_is_left_alone(tmp_path: Path) -> None:
    subject = examples.subject_in(tmp_path, BROKEN)
    examples.keep(tmp_path, Kept("seed_isolation", subject, Example({"ticks": 2}, 0, {"at": 1})))

    options = {"config": {"ticks": 2}, "seeds": 0, "examples": 1, "examples_in": tmp_path}
    _, answer = ask("snapshot_round_trip", BROKEN, **options)

    assert (answer.found, answer.judged) == (None, 1)
    assert [(number, kept.property) for _, number, kept in examples.passed_over(tmp_path)] == [
        (1, "seed_isolation")
    ]


@pytest.mark.integration
def test_a_kept_example_that_was_replayed_is_not_passed_over(tmp_path: Path) -> None:
    subject = examples.subject_in(tmp_path, BROKEN)
    examples.keep(
        tmp_path, Kept("replay_equivalence", subject, Example({"ticks": 2}, 0, {"at": 1}))
    )

    ask("replay_equivalence", BROKEN, {"ticks": 1}, 0, examples=1, examples_in=tmp_path)

    assert list(examples.passed_over(tmp_path)) == []


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        (Kept("sed_isolation", "market:main", Example({}, 0)), "'sed_isolation' is no property"),
        (Kept("seed_isolation", "gone.py:main", Example({}, 0)), "'gone.py:main' is not there"),
    ],
)
def test_a_line_that_nobody_can_ever_ask_for_is_refused(
    tmp_path: Path, kept: Kept, words: str
) -> None:
    examples.keep(tmp_path, kept)

    with pytest.raises(ExamplesDamaged, match=words) as caught:
        ask("replay_equivalence", BROKEN, {"ticks": 1}, 0, examples=1, examples_in=tmp_path)

    assert "Line 1 of" in caught.value.happened


@pytest.mark.heavy
def test_the_database_has_the_same_keys_in_every_process(tmp_path: Path) -> None:
    config = {"ticks": 2}
    code = (
        "import sys\nfrom twice.testing import properties\n"
        f"try: properties.restore_idempotence({BROKEN!r}, config={config!r}, seeds=3, examples=8,"
        " examples_in=sys.argv[1])\nexcept AssertionError: pass\n"
    )
    names = []
    for number, hash_seed in enumerate(("0", "5")):
        folder = tmp_path / str(number)
        subprocess.run(
            [sys.executable, "-c", code, str(folder)],
            env={**environ(), "PYTHONHASHSEED": hash_seed, "CI": ""},
            check=True,
        )
        names.append(sorted(path.name for path in (folder / examples.FOUND).iterdir()))
        names[-1].append((folder / examples.FILE).read_text("utf-8"))

    assert names[0] == names[1]


@pytest.mark.integration
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
    examples.keep(tmp_path, Kept("seed_isolation", BROKEN, Example({"ticks": 2}, 7, {"at": 1})))
    path = tmp_path / examples.FILE
    path.write_bytes(damage(path.read_text("utf-8")).encode("utf-8", "surrogatepass"))

    with pytest.raises(ExamplesDamaged, match=words):
        properties.replay_equivalence(BROKEN, config={"ticks": 1}, examples_in=tmp_path)


@pytest.mark.integration
@given(
    st.lists(
        st.builds(
            Kept,
            st.sampled_from(properties.NAMES),
            st.text(max_size=5),
            st.builds(
                Example,
                st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3)),
                st.integers(0, 2**256 - 1),
                st.fixed_dictionaries({"at": st.integers(0, 255)}),
            ),
        ),
        max_size=6,
    )
)
def test_what_is_kept_is_read_back_sorted_and_once(tmp_path_factory: Any, kept: list[Kept]) -> None:
    folder = tmp_path_factory.mktemp("kept")
    for each in kept:
        examples.keep(folder, each)
        assert not examples.keep(folder, each)

    lines = [each.line() for each in examples.read(folder)]

    assert lines == sorted({each.line() for each in kept})
    assert all(json.loads(line)["format"] == examples.FORMAT for line in lines)
    assert [path.name for path in folder.iterdir()] in ([], [examples.FILE])
