"""Rounds in which every canal moves water once."""

from network import Network

STILL = 1e-9
"""A round that moves less than this is the last one."""


def settle(network: Network, rounds: int, limit: float) -> float:
    """Run rounds until the water is still, and return the volume moved."""
    moved = 0.0
    for _ in range(rounds):
        in_round = 0.0
        for canal in network.canals:
            in_round += canal.equalize(limit)
        moved += in_round
        if in_round < STILL:
            break
    return moved
