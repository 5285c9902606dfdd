"""Schedules of a simulated ``asyncio``: run one, search for one that fails, shrink it, and say why it does."""
