"""Claims about the plan of a sweep: its seeds, its arms, its files, its manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import ConfigError, OutputExists, OutputUnwritable, UsageError
from twice.foundation.determinism_class import Predicate
from twice.foundation.seeds import Seed, derive_in
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.program import Program
from twice.recorder.setup import Setup
from twice.runs.sweep import MANIFEST, Sweep, SweepFolder, build_arms, parse_grid

SEED = Seed(7)


def plan(
    *pairs: str, seeds: int = 3, seed: Seed = SEED, root: str = "/x", env: Mapping[str, str] = {}, **changes: Any
) -> Sweep:  # fmt: skip
    setup = Setup(Program("function", "p.py", "main", root), seed, **changes)
    return Sweep(setup, Surroundings().with_variables(env), parse_grid(pairs), seeds)


@pytest.mark.parametrize(
    ("pair", "values"),
    [
        ("lr=1e-3,3e-4", [0.001, 0.0003]),
        ("n=5", [5]),
        ("optimizer=sgd, adam", ["sgd", "adam"]),
        ("mixed=1,adam,true", [1, "adam", True]),
        ('text="a,b","c"', ["a,b", "c"]),
        ("layers=[1, 2],[3]", [[1, 2], [3]]),
        ("empty=", [""]),
    ],
)
def test_values_stand_between_commas_and_are_typed_as_toml_types_them(
    pair: str, values: list[Any]
) -> None:
    found = parse_grid([pair])

    assert [*found.values()] == [values]
    assert [type(one) for one in next(iter(found.values()))] == [type(one) for one in values]


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        (["lr"], "is not a key and its values"),
        (["=1"], "is not a key and its values"),
        (["lr=1", "lr=2"], "names a key that was given before"),
        (["lr=1,1"], "names a value twice"),
        (["a=[1,2],adam"], "mixes words with lists"),
    ],
)
def test_what_is_no_grid_is_refused_with_the_pair(pairs: list[str], why: str) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        parse_grid(pairs)

    assert repr(pairs[-1]) in caught.value.happened


def test_an_arm_is_one_combination_and_the_first_key_changes_slowest() -> None:
    arms = build_arms(parse_grid(["lr=1e-3,3e-4", "opt=sgd,adam"]))

    assert [arm.label for arm in arms] == [
        "lr=0.001,opt=sgd", "lr=0.001,opt=adam", "lr=0.0003,opt=sgd", "lr=0.0003,opt=adam",
    ]  # fmt: skip
    assert arms[1].values == {"lr": 0.001, "opt": "adam"}


def test_the_arms_share_the_seeds_which_follow_from_the_number_of_the_seed_alone() -> None:
    few, many = plan(seeds=2), plan("lr=1,2,3", seeds=1000)

    assert [run.seed for run in few] == [derive_in(SEED, "sweep", at) for at in range(2)]
    assert [run.seed for run in many][:6] == [few[0].seed] * 3 + [few[1].seed] * 3
    assert [run.arm for run in many][:6] == [0, 1, 2, 0, 1, 2]


def test_a_run_has_its_seed_and_the_values_of_its_arm_beside_those_of_all() -> None:
    sweep = plan("lr=1,2", config={"lr": 0, "n": 4})

    setup = sweep.setup_of(sweep[3])

    assert setup.config == {"lr": 2, "n": 4}
    assert setup.seed == derive_in(SEED, "sweep", 1)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=120), min_size=1, max_size=5, unique=True))  # fmt: skip
def test_files_have_names_of_their_own_that_any_file_system_takes(words: list[str]) -> None:
    setup = Setup(Program("function", "p.py", "main", "/x"), SEED)
    names = [run.file for run in Sweep(setup, Surroundings(), {"word": words}, 2)]

    assert len({*names}) == len(names)
    assert all(len(name) < 120 and name.isascii() and "/" not in name for name in names)


@pytest.mark.parametrize(
    "make",
    [
        lambda: plan(seeds=0),
        lambda: plan("a=1,2", seeds=6_000_000),
        lambda: plan(predicate=Predicate.parse(["statistical"], "host")),
    ],
)
def test_a_plan_of_no_runs_or_too_many_or_of_samples_is_refused(make: Any) -> None:
    with pytest.raises(UsageError, match=r"runs\.|sample of runs"):
        make()


def test_the_manifest_names_everything_that_the_runs_follow_from(tmp_path: Path) -> None:
    sweep = plan("lr=1,2", seeds=2)
    with SweepFolder(tmp_path / "new") as folder:
        folder.begin(sweep)

    told = json.loads((tmp_path / "new" / MANIFEST).read_text())
    assert told["format"] == "twice.sweep/1"
    assert (told["seed"], told["seeds"], told["grid"]) == ("7", 2, {"lr": [1, 2]})
    assert told["arms"][1] == {"label": "lr=2", "values": {"lr": 2}}
    seed = str(derive_in(SEED, "sweep", 1).value)
    assert told["runs"][3] == {"file": "0001-lr=2.twice", "seed": seed, "arm": 1}


def test_the_same_sweep_goes_on_from_another_checkout_without_its_seed(tmp_path: Path) -> None:
    with SweepFolder(tmp_path) as folder:
        folder.begin(plan(seed=folder.choose_seed(None)))
    with SweepFolder(tmp_path) as folder:
        found = folder.choose_seed(None)
        folder.begin(plan(seed=found, root="/elsewhere"))

    assert json.loads((tmp_path / MANIFEST).read_text())["seed"] == str(found.value)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (plan(seeds=4), "says seeds 3, this command 4"),
        (plan("lr=1"), "says grid {}, this command {'lr': [1]}"),
        (plan(seed=Seed(8)), "says seed '7', this command '8'"),
        (plan(config={"n": 1}), "says setup_digest"),
        (plan(env={"MODE": "fast"}), "says setup_digest"),
    ],
)
def test_another_sweep_is_not_mixed_in(tmp_path: Path, other: Sweep, what: str) -> None:
    with SweepFolder(tmp_path) as folder:
        folder.begin(plan())
    with SweepFolder(tmp_path) as folder, pytest.raises(OutputExists) as caught:
        folder.begin(other)

    assert what in caught.value.happened


def test_a_manifest_that_was_not_written_whole_is_not_taken_for_this_sweep(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"format"')

    with SweepFolder(tmp_path) as folder, pytest.raises(OutputExists, match="another sweep"):
        folder.begin(plan())


def test_things_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".left.new").write_text("of a killed command")
    SweepFolder(tmp_path).close()
    (tmp_path / "thesis.tex").write_text("mine")

    with pytest.raises(OutputExists, match=r"no sweep: thesis\.tex is in it"):
        SweepFolder(tmp_path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(OutputUnwritable):
        SweepFolder(tmp_path / "file")


def test_one_process_at_a_time_works_on_a_folder(tmp_path: Path) -> None:
    with SweepFolder(tmp_path), pytest.raises(UsageError, match="cannot be locked"):
        SweepFolder(tmp_path)

    SweepFolder(tmp_path).close()
