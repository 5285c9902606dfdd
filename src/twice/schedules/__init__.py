"""Schedules of a simulated ``asyncio``: run one, search for one that fails, shrink it, and say why it does.

With ``always``, ``eventually`` and ``sometimes`` a program demands something of every order of its steps. ``fault`` is a point at
which a search may let something fail, ``host`` a part of the program that it may crash.
"""

from twice.simulation.hosts import host
from twice.simulation.properties import always, eventually, fault, sometimes

__all__ = ["always", "eventually", "fault", "host", "sometimes"]
