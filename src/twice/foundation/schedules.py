"""Who plays whom and who gets what, derived from a recorded seed like everything else.

A place in a schedule is the order of derived seeds: no generator is drawn from, and nobody's place
depends on when they were asked.

Invariant: the same seed and the same names give the same schedule, in whatever order they came.
"""

from __future__ import annotations

from collections.abc import Sequence

from twice.errors import SeedNameRefused
from twice.foundation.seeds import RULE, Seed, arm_seed, league_seed


def assigned_arm(
    experiment: Seed, unit: str | int, arms: Sequence[str], *, rule: int = RULE
) -> str:
    """Give the arm of a unit: the one whose derived seed for that unit is the smallest.

    Adding an arm moves only the units that it takes; removing one moves only its own.

    Args:
        experiment: the experiment's recorded seed.
        unit: a user, an episode: a name or an index.
        arms: names of the arms, at least one, each once.
        rule: the derivation rule that the record names.

    Raises:
        SeedNameRefused: E-SEED-002, for no arms, an arm named twice, or an unusable name.

    Source: rendezvous hashing, Thaler and Ravishankar, IEEE/ACM Trans. Netw. 6 (1998) 1.
    """
    _check_names(arms, "arms")
    return min(arms, key=lambda arm: arm_seed(experiment, arm, unit, rule=rule).value)


def pairings(
    league: Seed, round_: int, players: Sequence[str], *, rule: int = RULE
) -> list[tuple[str, str]]:
    """Pair the players of one round; with an odd number the last of the order sits out.

    Args:
        league: the league's recorded seed.
        round_: number of the round, 0 or more.
        players: names of the players, at least two, each once, in any order.
        rule: the derivation rule that the record names.

    Returns:
        Pairs in playing order; who is named first is part of the schedule.

    Raises:
        SeedNameRefused: E-SEED-002, for fewer than two players, or a name twice or unusable.
    """
    _check_names(players, "players")
    if len(players) < 2:
        raise _refused(players, "players")
    order = sorted(players, key=lambda player: league_seed(league, round_, player, rule=rule).value)
    return list(zip(order[::2], order[1::2], strict=False))


def _check_names(names: Sequence[str], what: str) -> None:
    if isinstance(names, str) or not names or len({*names}) != len(names):
        raise _refused(names, what)


def _refused(names: object, what: str) -> SeedNameRefused:
    return SeedNameRefused(
        f"The {what} {names!r} cannot be scheduled.",
        f"A schedule takes a list of {what}, each named once; a round takes two players or more.",
        "Give each a name of its own, such as ['control', 'treated'].",
        names=names,
    )
