"""How each kind of payload is turned into a digest: pixels, samples, packets. ``assets.payload`` chooses.

Invariant: what is hashed begins with the method's own words, so that no two methods meet.
"""
