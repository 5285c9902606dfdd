"""Schedules of a simulated ``asyncio``: run one, search for one that fails, shrink it, and say why it does.

With these three words a program demands something of every order of its steps.
"""

from twice.simulation.properties import always, eventually, sometimes

__all__ = ["always", "eventually", "sometimes"]
