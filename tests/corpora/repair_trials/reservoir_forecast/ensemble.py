"""Possible futures: blocks of the record, drawn anew for each member."""

import random
from concurrent.futures import ThreadPoolExecutor

from settings import Settings


def draw_inflows(inflows: list[float], settings: Settings, member: int) -> list[float]:
    """Return the inflows of one member, made of blocks of the record."""
    draw = random.Random(f"{settings.seed}/{settings.block}/{member}")
    drawn: list[float] = []
    while len(drawn) < settings.horizon:
        begin = draw.randrange(len(inflows) - settings.block)
        drawn.extend(inflows[begin : begin + settings.block])
    return drawn[: settings.horizon]


def run_member(inflows: list[float], settings: Settings, member: int) -> float:
    """Return the storage after the horizon."""
    storage = settings.start
    for inflow in draw_inflows(inflows, settings, member):
        storage = min(settings.capacity, max(0.0, storage + inflow - settings.release))
    return storage


def run_ensemble(inflows: list[float], settings: Settings) -> list[float]:
    """Return the storage of each member, in their order."""
    with ThreadPoolExecutor(4) as pool:
        members = range(settings.members)
        return list(pool.map(lambda member: run_member(inflows, settings, member), members))
