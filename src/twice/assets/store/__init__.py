"""The hot store: assets with a sidecar beside each, an index by payload, and work units' checkpoints.

A store is a folder with ``assets.toml`` in it. Everything in it is for makers; nothing of it is for players.

Invariant: a file that is there is never overwritten or removed unless that was asked for in words.
"""
