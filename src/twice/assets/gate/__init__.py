"""The gatekeeper: may these assets be handed over, as far as their logs say?

Facts are gathered first, rules judge them without looking at the disk, and the verdict is a value.
Inside, arrows run one way: ``row <- facts <- rules, gathering <- gate <- report``.

Invariant: a rule is a pure function; equal facts give equal rows.
"""
