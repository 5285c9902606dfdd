"""Ten kinds of published programs, tried as their authors would: recorded, verified, and the first lines read.

Each keeps the habits of its field: how it seeds, what it prints, which files it leaves. What a verdict says
wrongly of one of them is expected to fail here, with its reason; ``docs/internals/ten-setups.md`` has the table.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from realprograms import needs, record

import twice
from twice.replayer.verification import Verification

pytestmark = [pytest.mark.heavy, pytest.mark.fresh]  # forks share addresses

SETUPS = Path(__file__).parent / "setups"


@dataclass(frozen=True)
class Setup:
    """A program and what a reader must learn from the first lines of its verdict.

    Attributes:
        program: its file.
        libraries: what it imports.
        printed: a text that it prints.
        generators: the process-wide generators that it draws from.
        first: how the first lines begin, one each; nothing is said of most programs.
    """

    program: str
    libraries: tuple[str, ...]
    printed: str
    generators: str = ""
    first: tuple[str, ...] = ()


LISTED = (
    Setup("mesa_schelling.py", ("mesa", "pandas"), "happy  population"),
    Setup("simpy_bank.py", ("simpy",), "3.8595 Customer00: Finished", "global/random"),
    Setup("pettingzoo_ttt.py", ("pettingzoo", "pygame"), "player_1 plays"),
    Setup("pandas_pipeline.py", ("pandas", "pyarrow"), "to audit", "global/numpy"),
    Setup("lockstep_game.py", (), "in sync after 60 turns: True", "", ("2 threads ran beside",)),
    Setup("torch_training.py", ("torch",), "Test set: Accuracy", "global/torch"),
    Setup("optuna_study.py", ("optuna",), "Best trial:", "global/numpy"),
)


def verify(folder: Path, setup: Setup, *arguments: object, repeat: int = 1) -> Verification:
    """Record a program in a folder and verify it once."""
    needs(*setup.libraries)
    recorded = record(folder, str(SETUPS / setup.program), *arguments)
    assert recorded.exit_code == 0
    assert setup.printed in recorded.output
    return twice.verify(recorded.path, repeat=repeat)


def write_orders(path: Path) -> None:
    """Write orders of three shops, some without one."""
    dice = random.Random(0)
    rows = [
        f"{number},2026-{dice.randint(1, 6):02}-{dice.randint(1, 28):02},"
        f"{dice.choice(['Delft', 'Gent', 'Lille', ''])},{dice.randint(100, 999) / 100},{dice.randint(1, 9)}"
        for number in range(300)
    ]
    path.write_text("\n".join(["order,date,shop,price,quantity", *rows]) + "\n")


@pytest.mark.parametrize("setup", LISTED, ids=lambda each: each.program)
def test_it_replays_and_its_first_lines_are_true(setup: Setup, tmp_path: Path) -> None:
    write_orders(tmp_path / "orders.csv")
    found = verify(tmp_path, setup)

    assert found.result == "PASS", found.to_markdown()
    first = [line for line in found.headline if "in an order that is not recorded" in line]
    assert len(first) == len(found.headline) == len(setup.first), found.headline
    assert all(line.startswith(begin) for line, begin in zip(first, setup.first, strict=True))
    drawn = [line for line in found.caveats if line.startswith("global generators were drawn from")]
    assert [line.partition("(")[2].partition(")")[0] for line in drawn] == (
        [setup.generators] if setup.generators else []
    )


def test_peers_in_lockstep_agree_under_other_orders(tmp_path: Path) -> None:
    setup = Setup("lockstep_game.py", (), "in sync after 60 turns: True")
    found = verify(tmp_path, setup, repeat=3)

    assert found.result == "PASS", found.to_markdown()
    assert any(line.startswith("3 replays agree") for line in found.headline)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Verification:
    setup = Setup("cleanrl_ppo.py", ("gymnasium", "torch"), "episodic_return=")
    return verify(tmp_path_factory.mktemp("trained"), setup, "--total-timesteps", "512")


def test_training_in_one_file_replays_step_by_step(trained: Verification) -> None:
    assert trained.result == "PASS", trained.to_markdown()
    assert trained.headline == []
    assert any("144 steps of gymnasium, torch.optim" in line for line in trained.caveats)


def test_a_generator_that_was_seeded_only_may_not_have_been_drawn_from(
    trained: Verification,
) -> None:
    (told,) = (line for line in trained.caveats if "global/random" in line)
    assert "or only seeded anew" in told


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Verification:
    setup = Setup("asyncio_service.py", (), "3 workers took")
    return verify(tmp_path_factory.mktemp("served"), setup)


def test_a_service_replays(served: Verification) -> None:
    assert served.result == "PASS", served.to_markdown()


def test_nothing_is_said_of_processes_where_there_are_none(served: Verification) -> None:
    assert not any("processes" in line for line in served.headline), served.headline


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Verification:
    libraries = ("gymnasium", "torch", "stable_baselines3")
    setup = Setup("sb3_ppo.py", libraries, "mean_reward=")
    return verify(tmp_path_factory.mktemp("saved"), setup)


def test_training_with_a_library_parts_in_the_saved_model_alone(saved: Verification) -> None:
    """The library writes texts of functions, with their addresses, into the file."""
    assert saved.result == "FAIL", saved.to_markdown()
    assert saved.counts["failed"] == 1
    assert "ppo_cartpole.zip" in saved.to_markdown()


def test_a_verdict_proposes_an_option_for_a_file_with_addresses(saved: Verification) -> None:
    assert saved.suggestions(), saved.to_markdown()
