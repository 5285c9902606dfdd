"""Trying to prove declarations wrong: one script of trials, carried out in one surroundings after the other.

``cases`` come from a file, the declaration or the schema. ``trial`` is one call and the point that is compared;
``processes`` carries all trials out, each in a fork; ``examination`` is the script of one case, from the rerun to
the factor that exposes it; ``report`` is the result, which sessions read; ``verify`` begins it all.

Not proof: what was not varied, and cases that were not tried, may differ.

Invariant: what is said of a tool is what was seen in its runs; it is never called deterministic.
"""
