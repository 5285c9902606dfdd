"""A deterministic world for ``asyncio``: one loop whose time is virtual and whose order follows from a strategy."""
