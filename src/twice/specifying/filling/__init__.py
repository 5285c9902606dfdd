"""Sheets filled with what can be read: from a record, from this environment, from the code.

Lives here: where each value comes from. Deciding anything does not: what cannot be read stays "?".

Invariant: what somebody wrote is never replaced, and every value that is put in names its source.
"""
