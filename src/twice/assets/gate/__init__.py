"""The gatekeeper: may these assets be handed over, as far as their logs and the store's records say?

Facts are collected first, checks judge them without looking at the disk, and the verdict is a value.
Inside, arrows run one way: ``report, run_values <- facts <- collector, checks <- gate``.

Invariant: a check is a pure function; equal facts give equal rows.
"""
