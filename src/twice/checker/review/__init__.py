"""The review: what findings and audits say together, channel by channel, and what to do first.

``risks`` says what findings risk, alone and together, and what to mend first. ``review`` puts them, the audit
and the specification into one value, ``document`` and ``markdown`` write it.

Invariant: pure: the same findings, audit and specification give the same review.
"""
