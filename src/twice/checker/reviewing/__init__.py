"""The review: what findings and audits say together, channel by channel, and what to do first.

``judgement`` says what kind of gap a finding is and what it risks, ``patterns`` what several findings
make together, ``unknowns`` what reading cannot tell, ``sequence`` in which order to mend. ``review``
puts them into one value, ``markdown`` writes it.

Invariant: pure: the same findings, audits and specification give the same review.
"""
