"""MANY RUNS: a folder, a sweep, a cluster. One command over many runs, done where there are processors for them.

Every verdict is that of the rooms below. No scheduler, store or database of its own stands here: jobs go to an
executor (``twice.worker.executor``), on this machine or on a Ray cluster that is there already.

Invariant: each run is counted once, whatever died on the way.
"""
