"""Trying to prove a declaration wrong: the same call from the same state, in other surroundings.

``cases`` come from the declaration, a file or the schema (``generating``); ``factors`` is what is
perturbed; ``laboratory`` keeps the processes, ``trial`` is what one of them does; ``examining`` goes
from the rerun to the perturbed run to single factors, ``laws`` holds what else a declaration says.
``verification`` is the result as a value and ``certificates`` is how it is kept and read.

Not proof: what was not perturbed, and cases that were not tried, may differ.

Invariant: what is said of a tool is what was seen in its runs; it is never called deterministic.
"""
