"""A page on this machine that shows runs: what happened at each tick, where two runs part, and branches from there.

``server`` answers requests, ``viewed_runs`` reads records for them, ``levels`` counts what a timeline shows, and
``executions`` runs commands of twice where a person asks for one. The page itself lies in ``static``, built from
``frontend``.
"""
