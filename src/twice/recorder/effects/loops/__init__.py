"""The event loop of a recorded run: what it sees of the world in each of its rounds, and what passes its sockets.

A loop of ``asyncio`` takes from the world which descriptors are ready, which callbacks came from other threads, which
signals, and what its clock says; what its sockets answer is the rest. With these the order of every callback follows.
"""
