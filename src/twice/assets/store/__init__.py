"""The hot store: assets with a sidecar beside each, an index by payload, and work units' checkpoints.

Invariant: a file that is there is never overwritten or removed unless that was asked for in words.
"""
